import { describe, expect, test } from '@jest/globals';
import type { VolumeMount } from '../../../kubernetes/api/schema/container.ts';
import { containerDetails } from '../../../kubernetes/status/containerDetails.ts';

const spec = { name: 'a', image: 'a:1' };
const made = { image: 'docker.io/library/a:1', imageRef: 'docker.io/library/a@sha256:ab' };

describe('the details of a container', () => {
  test('are those of the spec before it is created', () => {
    expect(containerDetails(spec)).toEqual({ image: 'a:1', imageID: '' });
    expect(containerDetails({ ...spec, volumeMounts: [{ name: 'v', mountPath: '/v' }] })).toMatchObject({
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
    });
  });

  test('are the image and user of the runtime once it is created', () => {
    const user = { uid: 1000, gid: 3000, supplementalGroups: [3000, 4000] };
    expect(containerDetails(spec, { ...made, user })).toEqual({
      image: 'docker.io/library/a:1',
      imageID: 'docker.io/library/a@sha256:ab',
      user: { linux: user },
    });
  });

  test('have the image name of the spec if the runtime has none', () => {
    expect(containerDetails(spec, { image: '', imageRef: 'sha256:ab' })).toEqual({
      image: 'a:1',
      imageID: 'sha256:ab',
    });
  });

  test.each<[VolumeMount['recursiveReadOnly'], boolean, string]>([
    [undefined, false, 'Disabled'],
    ['Disabled', true, 'Disabled'],
    ['Enabled', true, 'Enabled'],
    ['IfPossible', true, 'Enabled'],
    ['IfPossible', false, 'Disabled'],
  ])(
    'show a read-only mount with recursiveReadOnly %s, recursive at the runtime: %s, as %s',
    (wanted, recursiveReadOnly, reported) => {
      const mount = { name: 'v', mountPath: '/v', readOnly: true, ...(wanted ? { recursiveReadOnly: wanted } : {}) };
      const mounts = { '/v': { recursiveReadOnly } };
      expect(containerDetails({ ...spec, volumeMounts: [mount] }, { ...made, mounts }).volumeMounts).toEqual([
        { name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: reported },
      ]);
    },
  );
});
