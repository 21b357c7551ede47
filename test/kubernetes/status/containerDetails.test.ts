import { describe, expect, test } from '@jest/globals';
import type { VolumeMount } from '../../../kubernetes/api/schema/container.ts';
import { containerDetails } from '../../../kubernetes/status/containerDetails.ts';

const spec = { name: 'a', image: 'a:1' };
const made = { image: 'docker.io/library/a:1', imageRef: 'docker.io/library/a@sha256:ab' };

describe('what a status says of a container', () => {
  test('before it was made is what its spec says', () => {
    expect(containerDetails(spec)).toEqual({ image: 'a:1', imageID: '' });
    expect(containerDetails({ ...spec, volumeMounts: [{ name: 'v', mountPath: '/v' }] })).toMatchObject({
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
    });
  });

  test('once it was made is its image, user and stop signal as the runtime has them', () => {
    const user = { uid: 1000, gid: 3000, supplementalGroups: [3000, 4000] };
    expect(containerDetails(spec, { ...made, user, stopSignal: 'SIGUSR1' })).toEqual({
      image: 'docker.io/library/a:1',
      imageID: 'docker.io/library/a@sha256:ab',
      user: { linux: user },
      stopSignal: 'SIGUSR1',
    });
  });

  test('an image that the runtime does not name is named as the spec names it', () => {
    expect(containerDetails(spec, { image: '', imageRef: 'sha256:ab' })).toEqual({
      image: 'a:1',
      imageID: 'sha256:ab',
    });
  });

  test('of a mount that shows an image is which', () => {
    const mounts = { '/model': { image: 'models/one@sha256:cd' } };
    expect(
      containerDetails({ ...spec, volumeMounts: [{ name: 'm', mountPath: '/model' }] }, { ...made, mounts }),
    ).toMatchObject({
      volumeMounts: [{ name: 'm', mountPath: '/model', volumeStatus: { image: { imageRef: 'models/one@sha256:cd' } } }],
    });
  });

  test.each<[VolumeMount['recursiveReadOnly'], boolean, string]>([
    [undefined, false, 'Disabled'],
    ['Disabled', true, 'Disabled'],
    ['Enabled', true, 'Enabled'],
    ['IfPossible', true, 'Enabled'],
    ['IfPossible', false, 'Disabled'],
  ])('of a read-only mount with recursiveReadOnly %s, made so: %s, is %s', (wanted, recursiveReadOnly, told) => {
    const mount = { name: 'v', mountPath: '/v', readOnly: true, ...(wanted ? { recursiveReadOnly: wanted } : {}) };
    const mounts = { '/v': { recursiveReadOnly } };
    expect(containerDetails({ ...spec, volumeMounts: [mount] }, { ...made, mounts }).volumeMounts).toEqual([
      { name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: told },
    ]);
  });
});
