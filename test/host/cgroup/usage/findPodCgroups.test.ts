/** Pods and containers are recognized by their cgroup names, in the formats of both cgroup drivers. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findPodCgroups } from '../../../../host/cgroup/usage/findPodCgroups.ts';
import { v1Hierarchies, v2Hierarchies } from './cgroupFixtures.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-found-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const [SANDBOX, MAIN] = ['0a'.repeat(32), '1b'.repeat(32)];
const UID = '9dc0e9d6-6d94-4a32-8f0a-3d3ea0a3b0a5';
const make = (...path: string[]) => mkdir(join(root, ...path), { recursive: true });

test('finds directories of classes, pods and containers', async () => {
  const pod = `own/kubepods/burstable/pod${UID}`;
  await make('cpu', pod, SANDBOX);
  await make('cpu', pod, MAIN);
  await make('cpu', pod, 'not-a-container');
  await make('cpu', 'own/kubepods/podguaranteed');
  await writeFile(join(root, 'cpu', pod, 'cpu.shares'), '2');
  const location = { cgroupRoot: '/own', cgroupDriver: 'cgroupfs' } as const;
  expect(findPodCgroups({ location, hierarchies: v1Hierarchies(root) })).toEqual({
    shared: ['own/kubepods', 'own/kubepods/burstable'],
    pods: [
      { uid: 'guaranteed', path: 'own/kubepods/podguaranteed', containers: [] },
      { uid: UID, path: pod, containers: [SANDBOX, MAIN].map((id) => ({ id, path: `${pod}/${id}` })) },
    ],
  });
});

test('finds systemd slices and scopes, below the root or in a slice', async () => {
  const slice = `kubepods-besteffort-pod${UID.replaceAll('-', '_')}.slice`;
  const path = `kubepods.slice/kubepods-besteffort.slice/${slice}`;
  await make(path, `cri-containerd-${MAIN}.scope`);
  await make(`own.slice/own-${path.replaceAll('/kubepods', '/own-kubepods')}`);
  const location = { cgroupRoot: '', cgroupDriver: 'systemd' } as const;
  const hierarchies = v2Hierarchies(root);
  const containers = [{ id: MAIN, path: `${path}/cri-containerd-${MAIN}.scope` }];
  expect(findPodCgroups({ location, hierarchies }).pods).toEqual([{ uid: UID, path, containers }]);
  const own = findPodCgroups({ location: { ...location, cgroupRoot: '/own.slice' }, hierarchies });
  expect(own.pods).toMatchObject([{ uid: UID, containers: [] }]);
});

test('finds nothing without cgroups or hierarchies', () => {
  const location = { cgroupRoot: '', cgroupDriver: 'cgroupfs' } as const;
  for (const hierarchies of [v1Hierarchies(root), []]) {
    expect(findPodCgroups({ location, hierarchies })).toEqual({ shared: [], pods: [] });
  }
});
