/** The objects that pods get from an API server, and the faults of those objects and requests. */
import { expect, test } from '@jest/globals';
import type { ApiObject } from '../../../../testing/simulation/cluster/apiObject.ts';
import { API_PART_FAULTS, API_PARTS, type ApiPartFault } from '../../../../testing/simulation/cluster/apiPartFaults.ts';
import { volumeFiles } from '../../../../testing/simulation/invariants/volumes/volumeFiles.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { clusterNode, MINUTE, SECOND } from './clusterNode.ts';

const TOKEN = { path: 'token', expirationSeconds: 600 };
const SOURCES = [
  { configMap: { name: 'config', items: [{ key: 'a', path: 'config' }] } },
  { secret: { name: 'secret', items: [{ key: 'a', path: 'secret' }] } },
  { clusterTrustBundle: { name: 'anchors', path: 'anchors' } },
  { serviceAccountToken: TOKEN },
];
const mounts = [{ name: 'all', mountPath: '/all' }];
const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'config', key: 'a' } } }];
const web = manifest('web', {
  containers: [container('main', { volumeMounts: mounts, env })],
  volumes: [{ name: 'all', projected: { sources: SOURCES } }],
});

const objects = (a: string): ApiObject[] => [
  { of: 'ConfigMap', name: 'config', data: { a } },
  { of: 'Secret', name: 'secret', data: { a } },
  { of: 'ClusterTrustBundle', name: 'anchors', data: { a } },
];

/** Creates a node with a pod that uses objects of every kind. */
async function story() {
  const made = await clusterNode();
  const { node, host, pod } = made;
  const putAll = (a: string) => {
    for (const object of objects(a)) node.perform({ kind: 'putObject', object });
  };
  const breakAll = (how: ApiPartFault, forMs: number) => {
    for (const part of API_PARTS) node.perform({ kind: 'apiPart', part, how, forMs });
  };
  const shown = () => {
    const texts = volumeFiles(host, `/simulated/lib/pods/${pod('web')?.uid}/volumes/kubernetes.io~projected/all`);
    const anchors = Buffer.from(texts.get('anchors')?.split('\n')[1] ?? '', 'base64').toString();
    return [texts.get('config'), texts.get('secret'), anchors];
  };
  const token = () =>
    volumeFiles(host, `/simulated/lib/pods/${pod('web')?.uid}/volumes/kubernetes.io~projected/all`).get('token');
  return { ...made, putAll, breakAll, shown, token };
}

test('a pod waits for missing objects, and exposes existing ones', async () => {
  const { node, putAll, shown, pod, runs } = await story();
  node.perform({ kind: 'createPod', pod: web });
  await node.advance(MINUTE);
  expect(pod('web')).toMatchObject({ phase: 'Pending' });
  putAll('1');
  await node.advance(2 * MINUTE);
  expect(pod('web')).toMatchObject({ phase: 'Running' });
  expect(shown()).toEqual(['1', '1', '1']);
  putAll('2');
  await node.advance(10 * SECOND);
  expect(shown()).toEqual(['2', '2', '2']);
  expect(runs('web').map(({ attempt }) => attempt)).toEqual([0]);
  expect(await node.settle(MINUTE)).toBe(true);
  node.kill();
});

test.each(API_PART_FAULTS)(
  'a pod continues unchanged while all requests for its objects have the fault %s, and catches up afterwards',
  async (how) => {
    const { node, putAll, breakAll, shown, token, runs } = await story();
    putAll('1');
    node.perform({ kind: 'createPod', pod: web });
    await node.advance(20 * SECOND);
    const first = token();
    expect(shown()).toEqual(['1', '1', '1']);
    breakAll(how, 9 * MINUTE);
    await node.advance(SECOND);
    putAll('2');
    await node.advance(9 * MINUTE - 2 * SECOND);
    expect(runs('web')).toMatchObject([{ attempt: 0, state: 'running' }]);
    await node.advance(2 * MINUTE);
    expect(shown()).toEqual(['2', '2', '2']);
    expect(token()).not.toBe(first);
    expect(runs('web')).toMatchObject([{ attempt: 0, state: 'running' }]);
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  },
);

test('a fault of one resource affects only that resource', async () => {
  const { node, putAll, shown } = await story();
  putAll('1');
  node.perform({ kind: 'createPod', pod: web });
  await node.advance(20 * SECOND);
  node.perform({ kind: 'apiPart', part: 'secrets', how: 'silent', forMs: 5 * MINUTE });
  putAll('2');
  await node.advance(10 * SECOND);
  expect(shown()).toEqual(['2', '1', '2']);
  node.endFaults();
  await node.advance(10 * SECOND);
  expect(shown()).toEqual(['2', '2', '2']);
  node.kill();
});
