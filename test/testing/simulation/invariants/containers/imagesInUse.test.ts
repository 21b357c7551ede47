import { expect, test } from '@jest/globals';
import type { SimulatedContainer } from '../../../../../cri/simulated/objects/views.ts';
import { imagesInUse } from '../../../../../testing/simulation/invariants/containers/imagesInUse.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';

type Container = Pick<
  SimulatedContainer,
  'id' | 'namespace' | 'podName' | 'containerName' | 'imageId' | 'mounts' | 'createdAt'
>;

const main: Container = {
  id: 'a',
  namespace: 'default',
  podName: 'web',
  containerName: 'main',
  imageId: 'sha256:1',
  mounts: [],
  createdAt: 0,
};

/** Returns the violations when an agent that listed all images at 10 ms removes image `sha256:1`. */
function violationsOf(
  containers: readonly Container[],
  {
    own = containers,
    hidden = [],
    pinned = false,
  }: { own?: readonly Container[]; hidden?: string[]; pinned?: boolean } = {},
) {
  const broken: string[] = [];
  const host = {
    clock: { now: () => 10 },
    containers: () => own,
    runtime: { containers: () => containers, images: { listed: () => [{ id: 'sha256:1', pinned }] } },
    runtimeFaults: { wasHidden: (id: string) => hidden.includes(id) },
  };
  // The invariant accesses nothing else of the simulation.
  const hooks = imagesInUse.follow({ host } as unknown as Watched, (message) => void broken.push(message));
  hooks.onCall?.({ target: 'runtime', name: 'listImages', about: '', writes: false });
  hooks.onCall?.({ target: 'runtime', name: 'removeImage', about: 'sha256:1', writes: true });
  return broken;
}

const IN_USE = 'image sha256:1 is removed while main of default/web uses it';

test('a removed image is neither used by a container nor mounted', () => {
  expect(violationsOf([{ ...main, imageId: 'sha256:2' }])).toEqual([]);
  expect(violationsOf([main])).toEqual([IN_USE]);
  const mounts = [{ image: { image: 'sha256:1' } }] as unknown as Container['mounts'];
  expect(violationsOf([{ ...main, imageId: 'sha256:2', mounts }])).toEqual([IN_USE]);
});

test('a removed image is not pinned', () => {
  expect(violationsOf([], { pinned: true })).toEqual(['the pinned image sha256:1 is removed']);
});

test('an agent need not know foreign containers that are newer than its last list or in no list', () => {
  expect(violationsOf([{ ...main, createdAt: 20 }], { own: [] })).toEqual([]);
  expect(violationsOf([{ ...main, createdAt: 20 }])).toEqual([IN_USE]);
  expect(violationsOf([main], { hidden: ['a'] })).toEqual([]);
});
