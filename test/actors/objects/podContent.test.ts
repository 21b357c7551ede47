import { expect, test } from '@jest/globals';
import { podContent } from '../../../actors/objects/podContent.ts';
import { diskServices } from '../../../actors/services/disk/diskServices.ts';
import { createOwnership } from '../../../actors/store/ownership.ts';
import { hostMounter as mounter } from '../../../volume/mount/hostMounter.ts';
import { node } from '../../cri/nodeAndPod.ts';
import { cluster } from '../../fakes/cluster.ts';
import { SettableClock } from '../../fakes/settableClock.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { inFolder, makerIn } from '../../volume/onDisk.ts';

const { signal } = new AbortController();
const NOT_SUPPORTED = 'not supported in static kubelet mode';
const ca = { name: 'ca', path: 'ca.pem' };

function content(hasTrustBundles?: boolean) {
  const clock = new SettableClock();
  const { client, pods, transport, ask } = cluster(clock);
  const parts = { client, pods, ...(hasTrustBundles === undefined ? {} : { hasTrustBundles }) };
  return { ...podContent(parts, { clock, jitter: () => 0, onError: () => {} }), transport, pods, ask };
}

test('trust bundles are requested only if the feature gate is enabled', async () => {
  for (const isOn of [undefined, false]) {
    const { trustBundles, transport } = content(isOn);
    await expect(trustBundles.get(aPod(), ca, { signal })).rejects.toThrow(NOT_SUPPORTED);
    expect(transport.requests).toEqual([]);
  }
  const { trustBundles, transport } = content(true);
  await expect(trustBundles.get(aPod(), ca, { signal })).rejects.toThrow(NOT_SUPPORTED);
  expect(transport.requests.map(({ path }) => path)).toEqual([
    '/apis/certificates.k8s.io/v1beta1',
    '/apis/certificates.k8s.io/v1alpha1',
  ]);
});

test('cached content of a pod is dropped when its data is removed', async () => {
  const { tokens, trustBundles, podCaches } = content();
  expect(podCaches).toEqual([tokens, trustBundles]);
  const forgotten: string[] = [];
  await inFolder(async (folder, layout) => {
    const ownership = createOwnership({ layout, ownMark: makerIn(layout), podLogsDir: folder, owner: 'us' });
    const unasked = () => Promise.reject(new Error('nobody asks'));
    const { removePodData } = diskServices({
      cri: { listPodSandbox: unasked },
      node: () => node(),
      clock: new SettableClock(),
      layout,
      mounter,
      ownership,
      variableObjects: { forget: () => {} },
      podCaches: [{ forget: (uid) => void forgotten.push(uid) }],
    });
    await removePodData({ pod: aPod({}, { uid: 'u-1' }) }, { signal });
  });
  expect(forgotten).toEqual(['u-1']);
});
