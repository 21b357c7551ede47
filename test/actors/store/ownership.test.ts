/**
 * An agent removes nothing from disk but what it has created itself: across restarts, with versions without marks, and
 * beside directories of other agents.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import { createNode } from '../../../actors/node/createNode.ts';
import { isOwnCgroup, isSafeToKill } from '../../../actors/services/disk/ownCgroup.ts';
import { openNodeStore } from '../../../actors/store/durableFacts.ts';
import { createOwnerMark, findPodsOnDisk, listOwnedUids } from '../../../actors/store/leftOnDisk.ts';
import { createOwnership } from '../../../actors/store/ownership.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { OWNER_ANNOTATION } from '../../../cri/config/labels.ts';
import { ListPodSandboxResponse } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { createLayout } from '../../../host/pods/layout.ts';
import { MARK_FILE, readOwner, removedPath, writeMark } from '../../../host/pods/podMark.ts';
import { adoptPod, claimPodDirectory } from '../../../host/pods/takePodDirectory.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { podWith } from '../../fakes/pods.ts';
import { withRoot } from '../../volume/onDisk.ts';

const run = promisify(execFile);

const web = podWith('web');
const { uid } = web.metadata;

const layoutIn = (node: SimulatedNode) => createLayout(node.facts);
const standing = (node: SimulatedNode, directory: string) =>
  readOwner(hostFiles, directory, createOwnerMark(node.facts)).kind;
const noFacts = { allocations: new Map(), containerEnds: new Map(), statuses: new Map(), probes: new Map() };

/** Creates a volume with a file where another agent would have it. */
async function layTheirs(node: SimulatedNode, { metadata }: Pod): Promise<string> {
  const file = join(layoutIn(node).volumeDir(metadata.uid, 'kubernetes.io/empty-dir', 'data'), 'file');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'theirs');
  return file;
}

/** Kills the agent, and leaves what an agent without ownership marks would leave. */
async function withoutMarks(node: SimulatedNode): Promise<void> {
  node.killAgent();
  const layout = layoutIn(node);
  for (const directory of [layout.podDir(uid), layout.podLogDir(web.metadata)]) await rm(join(directory, MARK_FILE));
}

describe('a pod directory from before ownership marks', () => {
  test('is marked when the agent starts and a durable fact names the pod', async () => {
    const node = await simulatedNode({ pods: [web] });
    await node.advance('5s');
    await withoutMarks(node);
    await node.startAgent();
    const layout = layoutIn(node);
    expect(standing(node, layout.podDir(uid))).toBe('ours');
    expect(standing(node, layout.podLogDir(web.metadata))).toBe('ours');
  });

  test('is removed with its pod if a durable fact names the pod or, without a fact, a sandbox does', async () => {
    for (const keepsFacts of [true, false]) {
      const node = await simulatedNode({ pods: [web] });
      await node.advance('5s');
      await withoutMarks(node);
      if (!keepsFacts) await rm(node.path('root/statelet'), { recursive: true });
      node.remove('web');
      await node.startAgent();
      await node.advance('60s');
      expect(node.runtime.contents().sandboxes).toEqual([]);
      expect(await readdir(node.path('root/pods'))).toEqual([]);
      expect(await readdir(node.path('logs/pods'))).toEqual([]);
    }
  });
});

test('C23: logs and links of a pod without other remains are removed, and those of other agents stay', async () => {
  const node = await simulatedNode({ pods: [web] });
  await node.advance('5s');
  node.killAgent();
  node.remove('web');
  node.runtime.restart({ keepContainers: false, forget: () => true });
  await rm(node.path('root'), { recursive: true });
  const { root: _, ...others } = createOwnerMark(node.facts);
  const theirs = { uid: 'theirs', namespace: 'default', name: 'web' };
  const layout = layoutIn(node);
  await mkdir(layout.podLogDir(theirs));
  await writeMark(layout.podLogDir(theirs), { layout, maker: { root: '/elsewhere', ...others }, pod: theirs });
  expect(await readdir(layout.logLinksDir)).toHaveLength(1);
  await node.startAgent();
  await node.advance('90s');
  expect(await readdir(node.path('logs/pods'))).toEqual(['default_web_theirs']);
  expect(await readdir(layout.logLinksDir)).toEqual([]);
});

describe('a directory of another agent', () => {
  test('stays when the agent starts, collects garbage and stops', async () => {
    const node = await simulatedNode({ pods: [web] });
    const file = await layTheirs(node, podWith('theirs'));
    await node.restartAgent();
    await node.advance('3m');
    expect(await readFile(file, 'utf8')).toBe('theirs');
    expect(node.agent.overview().foreign).toMatchObject([{ uid: podWith('theirs').metadata.uid }]);
  });

  test('stays when its pod was wanted here, rejected and removed', async () => {
    const node = await simulatedNode({ config: { capacity: { cpuMillis: 1, memoryBytes: 1, pods: 0 } } });
    const file = await layTheirs(node, web);
    node.apply(web);
    await node.advance('5s');
    expect(node.pod('web')).toMatchObject({ phase: 'Failed', reason: 'OutOfpods' });
    node.remove('web');
    await node.advance('10s');
    expect(node.has('web')).toBe(false);
    await node.restartAgent();
    await node.advance('90s');
    expect(await readFile(file, 'utf8')).toBe('theirs');
    expect(await readdir(dirname(dirname(dirname(dirname(file)))))).toEqual(['volumes']);
  });

  test('is adopted with its contents when its pod runs here, and removed with the pod', async () => {
    const node = await simulatedNode({ pods: [web] });
    await node.advance('5s');
    node.killAgent();
    await rm(layoutIn(node).podDir(uid), { recursive: true });
    const file = await layTheirs(node, web);
    await node.startAgent();
    await node.advance('5s');
    expect(await readFile(file, 'utf8')).toBe('theirs');
    expect(standing(node, layoutIn(node).podDir(uid))).toBe('ours');
    node.remove('web');
    await node.advance('60s');
    expect(await readdir(node.path('root/pods'))).toEqual([]);
  });

  test('leaves a wanted pod with the same UID waiting, with the reason, as long as that pod has never run here', async () => {
    const node = await simulatedNode();
    const file = await layTheirs(node, web);
    node.apply(web);
    await node.advance('30s');
    expect(await readFile(file, 'utf8')).toBe('theirs');
    expect(node.pod('web').phase).toBe('Pending');
    expect(node.agent.explain('web')?.answer).toContain("it does not have this agent's mark");
    node.remove('web');
    await node.advance('60s');
    expect(await readFile(file, 'utf8')).toBe('theirs');
  });

  test('that its owner copied here with all marks stays, and counts as foreign', async () => {
    const node = await simulatedNode({ pods: [web] });
    await node.advance('5s');
    node.killAgent();
    await rename(node.path('root'), node.path('moved'));
    const moved = { ...node.facts, rootDir: node.path('moved') };
    const found = await findPodsOnDisk(moved, { ...noFacts, allocations: new Map([[uid, {}]]) } as never);
    expect(found).toMatchObject({ left: [], foreign: [{ uid, why: expect.stringContaining(node.facts.rootDir) }] });
  });
});

test('the cgroup of a pod is not killed while another agent has a sandbox with the same UID, unless that was adopted', async () => {
  const node = await simulatedNode();
  const [layout, ownMark] = [layoutIn(node), createOwnerMark(node.facts)];
  const { podLogsDir, owner } = node.facts;
  const ownership = createOwnership({ layout, ownMark, podLogsDir, owner });
  const { namespace, name } = web.metadata;
  const of = { podUid: uid, namespace, podName: name, attempt: 0, state: 'ready' as const, createdAt: 0 };
  const [ours, theirs] = [
    { ...of, id: 'ours', owner },
    { ...of, id: 'theirs', owner: '/other/root@node-9' },
  ];
  const shown = (...sandboxes: (typeof ours)[]) =>
    ownership.observe([{ uid, namespace, name, sandboxes, containers: [] }]);
  const isCgroupOurs = () => isOwnCgroup(ownership, { pod: web, ran: ['ours'] });
  shown(ours, theirs);
  expect(await isCgroupOurs()).toBe(false);
  shown(ours);
  expect(await isCgroupOurs()).toBe(true);
  shown(theirs);
  await mkdir(layout.podDir(uid), { recursive: true });
  await adoptPod({ layout, maker: ownMark, pod: web.metadata, isTakenOver: true });
  expect(await isCgroupOurs()).toBe(true);
});

test('the runtime is queried again for the owner of a pod cgroup that still has processes', async () => {
  const node = await simulatedNode();
  const [layout, ownMark] = [layoutIn(node), createOwnerMark(node.facts)];
  const { podLogsDir, owner } = node.facts;
  const ownership = createOwnership({ layout, ownMark, podLogsDir, owner });
  const { namespace, name } = web.metadata;
  const labelSelectors: unknown[] = [];
  const isAlone = (holds: boolean, mark: string) => {
    const listPodSandbox: Cri['listPodSandbox'] = async (request) => {
      labelSelectors.push(request.filter?.labelSelector);
      const labels = {
        'io.kubernetes.pod.uid': uid,
        'io.kubernetes.pod.namespace': namespace,
        'io.kubernetes.pod.name': name,
      };
      const metadata = { uid, namespace, name, attempt: 0 };
      const annotations = { [OWNER_ANNOTATION]: mark };
      return ListPodSandboxResponse.create({ items: [{ id: 'another', metadata, labels, annotations }] });
    };
    const cgroups = { mayBeShared: async () => holds };
    const signal = AbortSignal.timeout(10_000);
    return isSafeToKill({ cri: { listPodSandbox }, ownership, cgroups }, { pod: web, ran: ['ours'] }, { signal });
  };
  expect(await isAlone(false, '/other/root@node-9')).toBe(true);
  expect(labelSelectors).toEqual([]);
  expect(await isAlone(true, owner)).toBe(true);
  expect(await isAlone(true, '/other/root@node-9')).toBe(false);
  expect(labelSelectors).toEqual([{ 'io.kubernetes.pod.uid': uid }, { 'io.kubernetes.pod.uid': uid }]);
});

test('a directory whose owner cannot be read fails to be removed, and is not left behind as foreign', async () => {
  const node = await simulatedNode({ pods: [web] });
  await node.advance('5s');
  const unreadable = () => {
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  };
  const layout = createLayout(node.facts, { ...hostFiles, readFileSync: unreadable });
  const { podLogsDir, owner } = node.facts;
  const ownership = createOwnership({ layout, ownMark: createOwnerMark(node.facts), podLogsDir, owner });
  await expect(isOwnCgroup(ownership, { pod: web, ran: [] })).rejects.toThrow('EIO');
});

describe('a pod directory below the root directory', () => {
  test('from a different runtime is rejected before anything is changed', async () => {
    const node = await simulatedNode();
    const layout = layoutIn(node);
    const maker = { ...createOwnerMark(node.facts), runtime: 'unix:///run/crio/crio.sock' };
    await claimPodDirectory({ layout, maker, pod: web.metadata });
    const onContainerd = { ...node.facts, runtimeEndpoint: 'unix:///run/containerd/containerd.sock' };
    const refused = `${node.facts.rootDir} contains 1 pod of the runtime unix:///run/crio/crio.sock, but this agent is configured to use unix:///run/containerd/containerd.sock: use the previous runtime or a different root directory`;
    await expect(findPodsOnDisk(onContainerd, noFacts)).rejects.toMatchObject({
      reason: 'RuntimeChanged',
      message: refused,
    });
    await writeMark(layout.podDir(uid), { layout, maker: { ...maker, runtime: 'simulated' }, pod: web.metadata });
    expect((await findPodsOnDisk(onContainerd, noFacts)).left).toHaveLength(1);
  });

  test('from a different runtime causes the node to close its store again', async () => {
    const node = await simulatedNode();
    const maker = { ...createOwnerMark(node.facts), runtime: 'unix:///run/crio/crio.sock' };
    await claimPodDirectory({ layout: layoutIn(node), maker, pod: web.metadata });
    const { nodeName, rootDir, capacity } = node.facts;
    const close = jest.fn(async () => {});
    const openStore: typeof openNodeStore = async (...where) => {
      const { store, durable } = await openNodeStore(...where);
      return { store: { ...store, close }, durable };
    };
    const config = { nodeName, rootDir, capacity, runtimeEndpoint: 'unix:///run/containerd/containerd.sock' };
    const made = createNode(config, { cri: inProcessCri(node.runtime), clock: node.clock, openStore });
    await expect(made).rejects.toMatchObject({ reason: 'RuntimeChanged' });
    expect(close).toHaveBeenCalledTimes(1);
  });

  test('gets its namespace and name from its log directory, even if the UID contains an underscore', async () => {
    const node = await simulatedNode();
    await mkdir(node.path('root/pods/a_b_c'), { recursive: true });
    await mkdir(node.path('logs/pods/shop_cart_a_b_c'), { recursive: true });
    const { left, foreign } = await findPodsOnDisk(node.facts, noFacts);
    expect([left, foreign]).toMatchObject([[], [{ uid: 'a_b_c', namespace: 'shop', name: 'cart' }]]);
  });

  test('may have logs of any pod if the log directory is unreadable, and of none if it is missing', async () => {
    const node = await simulatedNode();
    await mkdir(node.path('logs/pods/default_web_a'), { recursive: true });
    const logged = async (code?: string) => {
      const readdir: typeof hostFiles.readdir = (path) =>
        code !== undefined && path === node.facts.podLogsDir
          ? Promise.reject(Object.assign(new Error(code), { code }))
          : hostFiles.readdir(path);
      const files = { ...hostFiles, readdir };
      return (await findPodsOnDisk(node.facts, noFacts, { files })).logged;
    };
    expect(await logged()).toEqual(['a']);
    expect(await logged('EIO')).toBe('unknown');
    expect(await logged('ENOENT')).toEqual([]);
  });

  test('is owned if a durable fact names it, however the file of the fact is named', async () => {
    const node = await simulatedNode();
    const odd = 'Mirror_OF.x'.repeat(30);
    const { store } = await openNodeStore(node.path('root'));
    await store.write('probes', odd, []);
    const known = await listOwnedUids(node.path('root'));
    expect([known.has(odd), known.has('other')]).toEqual([true, false]);
  });

  test('is not attributed to another agent if the directory of facts is unreadable', async () => {
    const node = await simulatedNode();
    await mkdir(node.path('root/statelet'), { recursive: true });
    await rm(node.path('root/statelet/probes'), { recursive: true, force: true });
    await symlink('probes', node.path('root/statelet/probes'));
    await expect(listOwnedUids(node.path('root'))).rejects.toThrow('ELOOP');
  });

  withRoot('is all that is there, also when something half removed cannot be deleted; that is told', async () => {
    const node = await simulatedNode();
    const half = removedPath(node.path('root/pods/stuck'), createOwnerMark(node.facts));
    const mounted = join(half, 'mounted');
    await mkdir(mounted, { recursive: true });
    await run('mount', ['-t', 'tmpfs', 'tmpfs', mounted]);
    try {
      await layTheirs(node, podWith('theirs'));
      await node.advance('65s');
      expect(node.agent.overview().foreign).toMatchObject([{ uid: podWith('theirs').metadata.uid }]);
      const garbage = node.agent.explainNode().node.children.find(({ name }) => name === 'garbage');
      const message = `not deleting ${half}: still mounted: ${mounted}`;
      expect(garbage?.lastFailure).toMatchObject({ reason: 'FailedUnmount', message });
    } finally {
      await run('umount', [mounted]);
    }
  });

  test('known only from a probe fact loses that fact when the pod is cleaned up', async () => {
    const node = await simulatedNode();
    await writeFile(node.path('root/statelet/probes/lost.json'), '{"key":"lost","value":[]}\n');
    await node.restartAgent();
    await node.advance('60s');
    expect(await readdir(node.path('root/statelet/probes'))).toEqual([]);
  });
});
