import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { garbageServices } from '../../../../actors/services/disk/garbageServices.ts';
import { createOwnership } from '../../../../actors/store/ownership.ts';
import { NodeFailure } from '../../../../base/failure.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import type { Layout } from '../../../../host/pods/layout.ts';
import { MARK_FILE } from '../../../../host/pods/podMark.ts';
import { claimPodDirectory } from '../../../../host/pods/takePodDirectory.ts';
import type { ForeignPod } from '../../../../kubernetes/lifecycle/observed.ts';
import { inFolder, makerIn, signal } from '../../../volume/onDisk.ts';

const gone = new NodeFailure('NotFound', 'not found');
const refused = new NodeFailure('RuntimeError', 'it is busy');

interface Disk {
  readonly folder: string;
  readonly layout: Layout;
}

/** Returns the services on a runtime that fails for the IDs in `failures`, and the IDs that have been removed. */
function garbage({ folder, layout }: Disk, failures: Readonly<Record<string, NodeFailure>> = {}) {
  const removed: string[] = [];
  const remove = async (id: string) => {
    if (failures[id]) throw failures[id];
    removed.push(id);
    return {};
  };
  const cri: Pick<Cri, 'removeContainer' | 'removePodSandbox'> = {
    removeContainer: ({ containerId }) => remove(containerId),
    removePodSandbox: ({ podSandboxId }) => remove(podSandboxId),
  };
  const podLogsDir = join(folder, 'log', 'pods');
  const ownership = createOwnership({ layout, ownMark: makerIn(layout), podLogsDir, owner: 'us' });
  // The services use no other calls.
  const services = garbageServices({
    cri: cri as Cri,
    clock: { now: () => 0 },
    layout,
    ownership,
    isEvidence: () => false,
  });
  const dead = (id: string) => ({
    pod: { namespace: 'default', name: 'web', uid: 'u1' },
    container: 'main',
    id,
    attempt: 0,
    isLatest: true,
  });
  return {
    removed,
    survey: (activePodUids: string[], foreign: readonly ForeignPod[] = []) =>
      services.surveyDisk({ activePodUids, foreign }, { signal }),
    remove: (containers: string[], sandboxes: string[]) =>
      services.removeGarbage({ containers: containers.map(dead), sandboxes }, { signal }),
  };
}

test('dead containers and old sandboxes are removed, and already removed ones are no failure', async () => {
  await inFolder(async (folder, layout) => {
    const { remove, removed } = garbage({ folder, layout }, { 'c-gone': gone, 's-gone': gone });
    await expect(remove(['c-gone', 'c'], ['s-gone', 's'])).resolves.toBeNull();
    expect(removed.sort()).toEqual(['c', 's']);
  });
});

test.each(['c-busy', 's-busy'])(
  'if %s cannot be removed, the other containers and sandboxes are removed anyway, and the failure is reported',
  async (busy) => {
    await inFolder(async (folder, layout) => {
      const { remove, removed } = garbage({ folder, layout }, { [busy]: refused });
      await expect(remove(['c-busy', 'c'], ['s-busy', 's'])).rejects.toBe(refused);
      expect(removed).toEqual(expect.arrayContaining(['c', 's']));
    });
  },
);

test('files of unknown pods are leftovers if they carry the mark of this agent, and foreign otherwise', async () => {
  await inFolder(async (folder, layout) => {
    const maker = makerIn(layout);
    const pod = (uid: string) => ({ uid, namespace: 'default', name: `name-${uid}` });
    for (const uid of ['known', 'left_over']) await claimPodDirectory({ layout, maker, pod: pod(uid) });
    await mkdir(join(layout.podsDir, 'theirs'));
    await mkdir(join(folder, 'log', 'pods', 'kube-system_etcd_theirs'));
    const theirs = {
      uid: 'theirs',
      namespace: 'kube-system',
      name: 'etcd',
      sandboxes: [],
      directory: layout.podDir('theirs'),
      why: "it does not have this agent's mark",
    };
    const left = [{ ...pod('left_over'), isMarked: true }];
    const { survey } = garbage({ folder, layout });
    expect(await survey(['known'])).toEqual({ left, foreign: [theirs], removedUids: [] });
    // Known pods are not reported again, but removed and changed ones are.
    expect(await survey(['known'], [theirs])).toEqual({ left, foreign: [], removedUids: [] });
    const known = [
      { ...theirs, why: 'of before' },
      { ...theirs, uid: 'removed' },
    ];
    expect(await survey(['known'], known)).toEqual({ left, foreign: [theirs], removedUids: ['removed'] });
  });
});

test('logs of this agent without a pod directory, as after a power failure, are leftovers, and foreign logs are not', async () => {
  await inFolder(async (folder, layout) => {
    const maker = makerIn(layout);
    const pod = (uid: string) => ({ uid, namespace: 'default', name: 'web' });
    for (const uid of ['known', 'ours', 'cut-off']) {
      await claimPodDirectory({ layout, maker, pod: pod(uid) });
      await rm(layout.podDir(uid), { recursive: true });
    }
    await writeFile(join(layout.podLogDir(pod('cut-off')), MARK_FILE), '');
    await claimPodDirectory({ layout, maker: { ...maker, root: '/elsewhere' }, pod: pod('theirs') });
    await rm(layout.podDir('theirs'), { recursive: true });
    for (const odd of ['default_web_unmarked', 'default_web', 'x', '_', 'a b_c_d', '__']) {
      await mkdir(join(folder, 'log', 'pods', odd));
    }
    const { survey } = garbage({ folder, layout });
    const { left, foreign } = await survey(['known']);
    expect([...left].sort((a, b) => a.uid.localeCompare(b.uid))).toEqual([pod('cut-off'), pod('ours')]);
    expect(foreign).toEqual([]);
  });
});
