import { describe, expect, test } from '@jest/globals';
import { PATHS, PRESENT_IMAGE } from '../../../../testing/simulation/host/host.ts';
import { MANIFEST_URL } from '../../../../testing/simulation/host/manifestSources.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { type CallTarget, HOST_TARGETS } from '../../../../testing/simulation/run/gate.ts';
import { type Simulation, simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { perform } from '../../../../testing/simulation/stories/perform.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { storyOfAnySize } from '../../../../testing/simulation/stories/random/randomStory.ts';
import type { Action } from '../../../../testing/simulation/stories/story.ts';

const SECOND = 1_000;
const WEB = 'default/web-node-1';
const web = manifest('web', { containers: [container('main'), container('helper')] });

/** Creates a node on which a pod runs. */
async function runningNode(): Promise<Simulation> {
  const node = await simulateNode({ seed: 1, invariants });
  perform(node, { kind: 'apply', pod: web });
  await node.advance(5 * SECOND);
  return node;
}

const phases = (node: Simulation) => node.pods().map(({ status }) => status?.phase);
const uids = (node: Simulation) => node.pods().map(({ metadata }) => metadata.uid);

test('a partially written manifest changes nothing until it is complete', async () => {
  const node = await runningNode();
  const [uid] = uids(node);
  const changed = { ...web, metadata: { ...web.metadata, labels: { changed: 'yes' } } };
  perform(node, { kind: 'writeInParts', pod: changed, share: 0.5, restMs: 3 * SECOND });
  await node.advance(2 * SECOND);
  expect(uids(node)).toEqual([uid]);
  await node.advance(20 * SECOND);
  expect(node.pods().map(({ metadata }) => metadata.labels)).toEqual([{ changed: 'yes' }]);
  node.kill();
});

test.each(['empty', 'cut', 'noise', 'refused'] as const)(
  'a pod whose manifest is %s for minutes continues unchanged, under the next agent and after the manifest is restored',
  async (how) => {
    const node = await runningNode();
    const before = node.host.running().map(({ id }) => id);
    const [uid] = uids(node);
    perform(node, { kind: 'spoil', pod: WEB, how, forMs: 200 * SECOND });
    const text = () => node.host.files.readFileSync(`${PATHS.manifests}/web.json`);
    for (const isNew of [false, true]) {
      if (isNew) node.kill();
      await node.startAgent();
      await node.advance(60 * SECOND);
      expect(() => JSON.parse(text()).spec.containers[0].name).toThrow();
      expect(node.host.running().map(({ id }) => id)).toEqual(before);
      expect(uids(node)).toEqual([uid]);
    }
    await node.advance(120 * SECOND);
    expect(JSON.parse(text())).toEqual(web);
    expect(node.host.running().map(({ id }) => id)).toEqual(before);
    node.kill();
  },
);

test('a spoiled manifest is restored when faults end, unless its pod was removed', async () => {
  const node = await runningNode();
  perform(node, { kind: 'spoil', pod: WEB, how: 'cut', forMs: 200 * SECOND });
  node.endFaults();
  expect(JSON.parse(node.host.files.readFileSync(`${PATHS.manifests}/web.json`))).toEqual(web);
  perform(node, { kind: 'spoil', pod: WEB, how: 'cut', forMs: 10 * SECOND });
  perform(node, { kind: 'remove', pod: WEB });
  await node.advance(30 * SECOND);
  expect(node.host.files.readdirSync(PATHS.manifests)).toEqual([]);
  expect(phases(node)).toEqual([]);
  node.kill();
});

test('garbage is not written into the file of a manifest', async () => {
  const node = await runningNode();
  perform(node, { kind: 'renameManifest', pod: WEB, file: 'a b.json' });
  perform(node, { kind: 'scribble', file: 'a b.json', text: '{' });
  expect(JSON.parse(node.host.files.readFileSync(`${PATHS.manifests}/a b.json`))).toEqual(web);
  node.kill();
});

test('pods are removed with the manifest directory, and return with it', async () => {
  const node = await runningNode();
  perform(node, { kind: 'manifestsGone', forMs: 60 * SECOND });
  await node.advance(50 * SECOND);
  expect(phases(node)).toEqual([]);
  await node.advance(60 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  node.kill();
});

test('only one of two files with the same pod runs, until both are removed', async () => {
  const node = await runningNode();
  perform(node, { kind: 'copyManifest', pod: WEB, file: 'again.json' });
  await node.advance(5 * SECOND);
  expect(phases(node).sort()).toEqual(['Pending', 'Running']);
  perform(node, { kind: 'remove', pod: WEB });
  await node.advance(30 * SECOND);
  expect(phases(node)).toEqual([]);
  node.kill();
});

test('a manifest under a new file name is a different pod', async () => {
  const node = await runningNode();
  const before = uids(node);
  perform(node, { kind: 'renameManifest', pod: WEB, file: 'renamed.json' });
  await node.advance(30 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  expect(uids(node)).not.toEqual(before);
  node.kill();
});

test.each(['volumes/kubernetes.io~csi/theirs', 'theirs', 'volumes/kubernetes.io~empty-dir/scratch/theirs'])(
  'a foreign mount in the directory of a removed pod remains until it is unmounted: %s',
  async (at) => {
    const node = await simulateNode({ seed: 1, invariants });
    const volumes = [{ name: 'scratch', emptyDir: {} }];
    const containers = [container('main', { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] })];
    perform(node, { kind: 'apply', pod: manifest('web', { containers, volumes }) });
    await node.advance(5 * SECOND);
    perform(node, { kind: 'mountForeign', which: 0, at, forMs: 100 * SECOND });
    const path = node.host.disk.mounts.map((each) => each.path).find((each) => each.endsWith('/theirs')) ?? '';
    expect(node.host.isForeign(path)).toBe(true);
    node.remove('web');
    for (const isNew of [false, true]) {
      if (isNew) node.kill();
      await node.startAgent();
      await node.advance(40 * SECOND);
      node.check();
      expect(node.host.running()).toHaveLength(0);
      expect(node.host.files.readFileSync(`${path}/in-memory`)).toBe('theirs');
    }
    await node.settle(180 * SECOND);
    expect(node.host.podRemains()).toEqual([]);
    node.kill();
  },
);

test('a foreign mount that is unmounted or emptied violates an invariant', async () => {
  const mounted = async () => {
    const node = await runningNode();
    perform(node, { kind: 'mountForeign', which: 0, at: 'theirs', forMs: 100 * SECOND });
    const path = node.host.disk.mounts.map((each) => each.path).find((each) => each.endsWith('/theirs')) ?? '';
    return { node, path };
  };
  const [taken, emptied] = [await mounted(), await mounted()];
  taken.node.host.disk.unmount(taken.path);
  expect(() => taken.node.check()).toThrow(/invariant 5.*theirs is no longer mounted/);
  emptied.node.host.disk.unlink(`${emptied.path}/in-memory`);
  expect(() => emptied.node.check()).toThrow(/invariant 5.*theirs was emptied/);
  for (const { node } of [taken, emptied]) node.kill();
});

test('a pod that a URL lists under a new name is a different pod', async () => {
  const config = { manifestUrl: { url: MANIFEST_URL, headers: [], everyMs: 5 * SECOND } };
  const node = await simulateNode({ seed: 1, invariants, config });
  perform(node, { kind: 'apply', pod: web, by: 'url' });
  await node.advance(15 * SECOND);
  const before = uids(node);
  perform(node, { kind: 'renameListed', pod: WEB, name: 'renamed' });
  await node.advance(40 * SECOND);
  expect(node.pods().map(({ metadata }) => metadata.name)).toEqual(['renamed-node-1']);
  expect(phases(node)).toEqual(['Running']);
  expect(uids(node)).not.toEqual(before);
  node.check();
  node.kill();
});

describe('probes over TLS', () => {
  const probed = (scheme: string, port: number) => {
    const readinessProbe = { httpGet: { scheme, path: '/', port }, periodSeconds: 1 };
    return manifest('web', { containers: [container('main', { readinessProbe })] });
  };
  const isReady = (node: Simulation) => node.pods()[0]?.status?.containerStatuses?.[0]?.ready;

  test.each([
    ['a server with TLS', 'HTTPS', 8443, [true, true]],
    ['a server that becomes unhealthy', 'HTTPS', 8444, [true, false]],
    ['a server without TLS', 'HTTPS', 8080, [false, false]],
    ['a TLS server that is probed without TLS', 'HTTP', 8443, [false, false]],
  ] as const)('%s', async (_, scheme, port, expected) => {
    const node = await simulateNode({ seed: 1, invariants });
    perform(node, { kind: 'apply', pod: probed(scheme, port) });
    await node.advance(15 * SECOND);
    const first = isReady(node);
    await node.advance(20 * SECOND);
    expect([first, isReady(node)]).toEqual(expected);
    node.kill();
  });
});

test.each(HOST_TARGETS)('some or all calls to %s fail for a while, but no other calls', async (target) => {
  const { host } = await simulateNode({ seed: 1 });
  const faults = (name: CallTarget, count = 100) =>
    Array.from({ length: count }, () => host.faultOf({ target: name, name: 'mkdir', about: '/a', writes: true }));
  host.failCalls(target, 0.5, 10 * SECOND);
  const met = faults(target).filter((fault) => fault !== undefined);
  expect(met.length).toBeGreaterThan(30);
  expect(met.length).toBeLessThan(70);
  expect(new Set(met.map(({ kind }) => kind))).toEqual(new Set(['fail', 'lostReply']));
  for (const other of HOST_TARGETS.filter((each) => each !== target))
    expect(faults(other, 10)).toEqual(Array(10).fill(undefined));
  host.failCalls(target, 1, 10 * SECOND);
  expect(faults(target)).not.toContain(undefined);
  host.recover();
  expect(faults(target)).toEqual(Array(100).fill(undefined));
});

test('a pod starts when its runtime responds again after all calls have failed', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  perform(node, { kind: 'flaky', target: 'runtime', share: 1, forMs: 20 * SECOND });
  perform(node, { kind: 'apply', pod: web });
  await node.advance(15 * SECOND);
  expect(phases(node)).not.toContain('Running');
  await node.advance(60 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  node.kill();
});

test('a lost image that must not be pulled is present again when the faults have ended', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  perform(node, { kind: 'loseImage', image: PRESENT_IMAGE });
  perform(node, {
    kind: 'apply',
    pod: manifest('web', { containers: [container('main', { imagePullPolicy: 'Never' })] }),
  });
  await node.advance(15 * SECOND);
  const reason = node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  expect([phases(node), reason]).toEqual([['Pending'], 'ErrImageNeverPull']);
  node.endFaults();
  await node.advance(15 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  node.kill();
});

describe('faults of a container, the runtime or the disk', () => {
  const restarts = (node: Simulation) => node.pods()[0]?.status?.containerStatuses?.map((each) => each.restartCount);

  test.each<readonly [string, Action, readonly number[]]>([
    ['a container is killed for want of memory', { kind: 'oom', which: 0, child: false }, [0, 1]],
    ['one of its children is', { kind: 'oom', which: 0, child: true }, [0, 0]],
    ['the system is out of memory', { kind: 'systemOom', which: 0 }, [0, 1]],
    ['its runtime stands still', { kind: 'stall', forMs: 20 * SECOND }, [0, 0]],
    ['lists are stale', { kind: 'lists', show: 'stale', forMs: 20 * SECOND }, [0, 0]],
    ['lists come in another order', { kind: 'lists', show: 'shuffled', forMs: 20 * SECOND }, [0, 0]],
    ['the network is down', { kind: 'networkDown', forMs: 20 * SECOND }, [0, 0]],
    ['there are no more addresses', { kind: 'noAddresses', forMs: 20 * SECOND }, [0, 0]],
    ['the disk is full', { kind: 'disk', fault: 'full', forMs: 20 * SECOND }, [0, 0]],
    ['the disk is read-only', { kind: 'disk', fault: 'readOnly', forMs: 20 * SECOND }, [0, 0]],
    ['the disk fails', { kind: 'disk', fault: 'failing', forMs: 20 * SECOND }, [0, 0]],
    ['no more files can be opened on the host', { kind: 'disk', fault: 'tableFull', forMs: 20 * SECOND }, [0, 0]],
    ['no more files can be opened', { kind: 'disk', fault: 'noDescriptors', forMs: 20 * SECOND }, [0, 0]],
  ])('%s', async (_, action, expected) => {
    const node = await runningNode();
    perform(node, action);
    await node.advance(60 * SECOND);
    node.check();
    expect(phases(node)).toEqual(['Running']);
    expect(restarts(node)?.toSorted()).toEqual(expected);
    node.kill();
  });

  test('a runtime that has lost its pods gets new ones', async () => {
    const node = await runningNode();
    const before = node.host.containers().map(({ id }) => id);
    perform(node, { kind: 'runtimeDown', downMs: SECOND, keepContainers: true, forgets: 1 });
    await node.advance(60 * SECOND);
    expect(phases(node)).toEqual(['Running']);
    const now = node.host.containers();
    expect(now).toHaveLength(2);
    expect(now.filter(({ id }) => before.includes(id))).toEqual([]);
    node.kill();
  });
});

test('an agent leaves its pods to the next one when it stops, unless it drains', async () => {
  const node = await runningNode();
  const before = node.host.containers().map(({ id }) => id);
  perform(node, { kind: 'stopAgent', drains: false, downMs: 5 * SECOND });
  await node.advance(SECOND);
  expect(node.host.containers().map(({ id }) => id)).toEqual(before);
  await node.advance(20 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  perform(node, { kind: 'stopAgent', drains: true, downMs: 20 * SECOND });
  await node.advance(15 * SECOND);
  expect(node.host.containers()).toEqual([]);
  await node.advance(30 * SECOND);
  expect(phases(node)).toEqual(['Running']);
  node.kill();
});

test('a change of a pod from a URL is applied to the list of the URL, and to no file', async () => {
  const config = { manifestUrl: { url: MANIFEST_URL, headers: [], everyMs: 5 * SECOND } };
  const node = await simulateNode({ seed: 1, invariants, config });
  perform(node, { kind: 'apply', pod: web, by: 'url' });
  await node.advance(15 * SECOND);
  const [main] = web.spec.containers;
  if (main === undefined) throw new Error('it has no container');
  const edited = { ...web, spec: { ...web.spec, containers: [{ ...main, image: 'registry.local/other:1' }] } };
  perform(node, { kind: 'apply', pod: edited });
  await node.settle(60 * SECOND);
  const images = node.host.containers().map(({ imageName }) => imageName);
  expect(images).toEqual(['registry.local/other:1']);
  expect(() => perform(node, { kind: 'writeInParts', pod: web, share: 0.5, restMs: SECOND })).toThrow(
    new TypeError(`${WEB}: a URL lists it, its manifest is in no file`),
  );
  node.kill();
});

test('a URL provides pods, and none of its faults changes them', async () => {
  const apply = { kind: 'apply', pod: web, by: 'url' } as const;
  const faults = ['refused', 'silent', 'hanging', 'half', 'garbage', 'failing', 'slow'] as const;
  const ailing = faults.map((fault, index) => ({
    at: (index + 1) * 30 * SECOND,
    action: { kind: 'url', fault, forMs: 30 * SECOND } as const,
  }));
  const actions = [{ at: 0, action: apply }, ...ailing];
  const { violation } = await play({ seed: 1, actions, faults: [], lastsMs: 270 * SECOND }, { invariants });
  expect(violation).toBeUndefined();
});

test('all random actions can be performed', async () => {
  const drawn = Array.from({ length: 60 }, (_, seed) => storyOfAnySize(seed)).flatMap(({ actions }) =>
    actions.map(({ action }) => action),
  );
  const kinds = new Set(drawn.map(({ kind }) => kind));
  expect(kinds.size).toBeGreaterThan(20);
  const node = await simulateNode({ seed: 1 });
  for (const kind of kinds)
    for (const action of drawn.filter((each) => each.kind === kind).slice(0, 2)) perform(node, action);
  await node.advance(60 * SECOND);
  node.kill();
});
