/** The static pods of a node in a cluster, and their mirror pods at the API server. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { boundPod, type JoinedNode, joinedNode, PODS } from '../../../fakes/joinedNode.ts';
import { IMAGE } from '../../../fakes/pods.ts';

const WEB = `${PODS}/web-node-1`;
const HASH = 'kubernetes.io/config.hash';
const MIRROR = 'kubernetes.io/config.mirror';

interface Seen {
  readonly metadata: { readonly uid: string; readonly annotations: Readonly<Record<string, string>> };
}

const staticPod = (env: string, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace },
  spec: { containers: [{ name: 'main', image: IMAGE, env: [{ name: 'VERSION', value: env }] }] },
});

async function withStatic() {
  const joined = await joinedNode();
  const { node, ask, transport } = joined;
  const file = path.join(node.manifestDir, 'web.json');
  return {
    ...joined,
    seen: async (url = WEB) => (await ask('GET', url)) as unknown as Seen,
    put: async (manifest: object) => {
      await mkdir(node.manifestDir, { recursive: true });
      await writeFile(file, JSON.stringify(manifest));
    },
    drop: () => rm(file),
    /** Returns the requests about pods since the last call, without watches. */
    asked: () =>
      transport.requests
        .splice(0)
        .filter(({ path: url, isWatch }) => url.includes('/pods') && !isWatch)
        .map(({ method, path: url }) => `${method} ${url.replace(/^.*\/pods/, 'pods')}`),
  };
}

test('C31: a static pod has a mirror pod with its status, owned by the node', async () => {
  const { node, put, seen, asked } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  const mirror = await seen();
  expect(mirror).toMatchObject({
    metadata: {
      annotations: { 'kubernetes.io/config.source': 'file' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', controller: true }],
    },
    spec: { nodeName: 'node-1' },
    status: { phase: 'Running', containerStatuses: [{ ready: true }] },
  });
  expect(mirror.metadata.annotations[MIRROR]).toBe(mirror.metadata.annotations[HASH]);
  // The node creates the mirror pod without reading it first, as the kubelet does.
  expect(asked()[0]).toBe('POST pods');
  expect(node.errors).toEqual([]);
});

test('C31: a deleted mirror pod is recreated while its static pod continues to run', async () => {
  const { node, put, seen, ask, asked } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  const { uid } = (await seen()).metadata;
  asked();
  await ask('DELETE', WEB);
  await node.advance('1s');
  const again = await seen();
  expect(again.metadata.uid).not.toBe(uid);
  expect(again).toMatchObject({ status: { phase: 'Running', containerStatuses: [{ ready: true }] } });
  expect(asked()).toEqual(['DELETE pods/web-node-1', 'POST pods', 'PATCH pods/web-node-1/status']);
  await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
  await node.advance('1s');
  expect((await seen()).metadata.uid).not.toBe(again.metadata.uid);
  expect([node.calls('runPodSandbox').length, node.calls('stopContainer')]).toEqual([1, []]);
});

test('C31: a changed manifest gets a new mirror pod after the old pod has terminated', async () => {
  const { node, put, seen } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  const { uid, annotations } = (await seen()).metadata;
  await put(staticPod('2'));
  await node.advance('60s');
  const now = await seen();
  expect(now.metadata.uid).not.toBe(uid);
  expect(now.metadata.annotations[HASH]).not.toBe(annotations[HASH]);
  expect(now).toMatchObject({ status: { phase: 'Running', containerStatuses: [{ ready: true }] } });
  expect(node.errors).toEqual([]);
});

test('C31: a removed static pod terminates, and its mirror pod reports that until it is deleted', async () => {
  const { node, put, drop, seen, asked } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  asked();
  await drop();
  await node.advance('60s');
  await expect(seen()).rejects.toThrow('404');
  const requests = asked();
  expect(requests.filter((each) => each.startsWith('DELETE'))).toEqual(['DELETE pods/web-node-1']);
  const lastPatch = requests.lastIndexOf('PATCH pods/web-node-1/status');
  expect([lastPatch >= 0, lastPatch < requests.indexOf('DELETE pods/web-node-1')]).toEqual([true, true]);
  expect(await node.leftovers()).toEqual([]);
});

test('C31: a pod marked as a mirror never runs, and is deleted if it belongs to no static pod', async () => {
  const { node, ask } = await withStatic();
  await ask('POST', PODS, {
    ...boundPod('fake'),
    metadata: { name: 'fake', annotations: { [MIRROR]: 'constructor' } },
  });
  await node.advance('2s');
  expect(node.calls('runPodSandbox')).toEqual([]);
  await expect(ask('GET', `${PODS}/fake`)).rejects.toThrow('404');
});

test('C31: a rejected mirror pod does not affect its static pod, and is created once the server permits it', async () => {
  const { node, put, seen, ask } = await withStatic();
  await put(staticPod('1', 'later'));
  await node.advance('40s');
  expect(node.calls('runPodSandbox').length).toBe(1);
  await ask('POST', '/api/v1/namespaces', { metadata: { name: 'later' } });
  await node.advance('60s');
  expect(await seen('/api/v1/namespaces/later/pods/web-node-1')).toMatchObject({ status: { phase: 'Running' } });
  expect(node.calls('runPodSandbox').length).toBe(1);
});

test('C31: a pod of the cluster retains its name when a mirror pod needs the same one, and both pods run', async () => {
  const { node, put, seen, ask } = await withStatic();
  await ask('POST', PODS, boundPod('web-node-1'));
  await node.advance('2s');
  await put(staticPod('1'));
  await node.advance('90s');
  expect((await seen()).metadata.annotations).toBeUndefined();
  expect(node.calls('runPodSandbox').length).toBe(2);
  await ask('DELETE', WEB);
  await node.advance('120s');
  expect((await seen()).metadata.annotations[MIRROR]).toBeDefined();
});

test('C31: a static pod starts without the API server, and gets its mirror pod once the server is up', async () => {
  const { node, put, seen, transport } = await withStatic();
  Object.assign(transport, { isAway: true });
  transport.cut();
  await put(staticPod('1'));
  await node.advance('10m');
  expect(node.calls('startContainer').length).toBe(1);
  Object.assign(transport, { isAway: false });
  await node.advance('60s');
  expect(await seen()).toMatchObject({ status: { phase: 'Running' } });
});

test('C31: a restarted agent leaves the mirror pod and the static pod unchanged', async () => {
  const { node, put, seen } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  const { uid } = (await seen()).metadata;
  node.killAgent();
  await node.restartAgent();
  await node.advance('60s');
  expect((await seen()).metadata.uid).toBe(uid);
  expect(node.calls('runPodSandbox').length).toBe(1);
});

test('C31: the mirror pod of a manifest that was removed while the agent was down is deleted with the running pod', async () => {
  const { node, put, drop, seen }: Awaited<ReturnType<typeof withStatic>> & Pick<JoinedNode, 'node'> =
    await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  node.killAgent();
  await drop();
  await node.restartAgent();
  await node.advance('60s');
  await expect(seen()).rejects.toThrow('404');
  expect(await node.leftovers()).toEqual([]);
});

/** The ways in which a pod can terminate for good. */
const ENDS = {
  'by itself': { restartPolicy: 'Never' },
  'of a deadline, though its containers may run again': { activeDeadlineSeconds: 2 },
};

test.each(Object.entries(ENDS))(
  'C31: a static pod that starts again with the same UID has a new mirror pod (first run ended %s)',
  async (_, spec) => {
    const { node, put, seen, transport } = await withStatic();
    await put({ ...staticPod('1'), spec: { ...staticPod('1').spec, ...spec } });
    await node.advance('21s');
    const { uid } = (await seen()).metadata;
    if ('restartPolicy' in spec) node.runtime.exitContainer(node.containerId('web-node-1'), 1);
    await node.advance('40s');
    expect(await seen()).toMatchObject({ status: { phase: 'Failed' } });
    // The node terminates its pods while the API server is down, so it cannot learn that the mirror pod is obsolete.
    Object.assign(transport, { isAway: true });
    transport.cut();
    const drained = node.agent.drain();
    await node.advance('20s');
    await drained;
    await node.restartAgent();
    await node.advance('1s');
    Object.assign(transport, { isAway: false });
    await node.advance('2m');
    expect((await seen()).metadata.uid).not.toBe(uid);
    const { phase } = node.pod('web-node-1');
    expect(await seen()).toMatchObject({ status: { phase } });
  },
);

test('C31: no mirror pod is created without a Node, and a replaced Node owns the next one', async () => {
  const { node, put, seen, ask, asked } = await withStatic();
  await put(staticPod('1'));
  await node.advance('25s');
  await ask('DELETE', '/api/v1/nodes/node-1');
  await node.advance('1s');
  await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
  asked();
  await node.advance('5m');
  expect(asked().filter((each) => each.startsWith('POST'))).toEqual([]);
  const { metadata } = await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
  await node.advance('1s');
  expect(await seen()).toMatchObject({ metadata: { ownerReferences: [{ uid: uidIn(metadata) }] } });
  expect(node.calls('runPodSandbox').length).toBe(1);
});

const uidIn = (metadata: unknown): unknown => (metadata as { uid: string }).uid;
