import { expect, test } from '@jest/globals';
import { PodReader } from '../../../../actors/cluster/pods/podReader.ts';
import type { KubeObject } from '../../../../kubeclient/reflector.ts';

const object = (version: number, more: object = {}, uid = 'uid-1'): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: uid, namespace: 'shop', uid, resourceVersion: String(version) },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'busybox:1' }] },
  ...more,
});

/** Returns a reader, and a function that reads objects with it. */
function reading() {
  let now = 0;
  const reader = new PodReader({ now: () => now });
  return (...objects: readonly KubeObject[]) => {
    now += 1_000;
    return reader.read(objects);
  };
}

test('a deleted pod has its deletion timestamp and its previous spec', () => {
  const read = reading();
  const [before] = read(object(1)).set.pods;
  const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  const deleted = object(2);
  const [after] = read({ ...deleted, metadata: { ...deleted.metadata, ...deletion } }).set.pods;
  expect(after?.metadata).toMatchObject(deletion);
  expect(after?.spec).toBe(before?.spec);
});

test('a pod is prepared over several turns of the event loop, and is not parsed again', async () => {
  let turns = 0;
  const acquire = async () => {
    turns += 1;
  };
  const reader = new PodReader({ now: () => 0, turns: { acquire } });
  const prepared = object(1);
  await reader.prepare(prepared);
  expect(turns).toBe(4);
  // The reader would see the changed spec if it parsed the object again.
  Object.assign(prepared, { spec: {} });
  expect(reader.read([prepared]).set.pods[0]?.spec.containers).toHaveLength(1);
});

test('pods are not prepared in simulated time', () => {
  expect(new PodReader({ now: () => 0 }).prepare(object(1))).toBeUndefined();
});

const SEEN = 'kubernetes.io/config.seen';

test('an unchanged object yields the same pod, and a changed status yields a pod with the same spec', () => {
  const read = reading();
  const [first, other] = [object(1), object(1, {}, 'uid-2')];
  const before = read(first, other).set.pods;
  const after = read(object(2, { status: { phase: 'Failed' } }), other).set.pods;
  expect(after[0]).toMatchObject({ metadata: { resourceVersion: '2' }, status: { phase: 'Failed' } });
  expect(after[0]?.spec).toBe(before[0]?.spec);
  expect(after[1]).toBe(before[1]);
});

test('a status change that does not concern the node leaves the pod unchanged; conditions of others and a terminal phase are passed on', () => {
  const read = reading();
  const condition = (type: string, status: string) => ({ type, status });
  const own = { phase: 'Running', podIP: '10.0.0.1', conditions: [condition('Ready', 'True')] };
  const read1 = (version: number, status: object) => read(object(version, { status })).set.pods[0];
  const [first] = read(object(1)).set.pods;
  expect(read1(2, own)).toBe(first);
  const others = { ...own, conditions: [condition('Ready', 'True'), condition('example.com/gate', 'True')] };
  const gated = read1(3, others);
  expect(gated?.status?.conditions).toHaveLength(2);
  expect(read1(4, { ...others, podIP: '10.0.0.2' })).toBe(gated);
  expect(read1(5, own)).not.toBe(gated);
  const ended = read1(6, { ...own, phase: 'Failed' });
  expect(ended?.status?.phase).toBe('Failed');
  expect(read1(7, { ...own, phase: 'Failed', reason: 'Evicted' })?.status?.reason).toBe('Evicted');
});

test('an object with a changed spec is parsed again, and its first-seen time is preserved', () => {
  const read = reading();
  const [before] = read(object(1)).set.pods;
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'busybox:2' }] };
  const [after] = read(object(2, { spec })).set.pods;
  expect(after?.spec.containers[0]?.image).toBe('busybox:2');
  expect(after?.metadata.annotations?.[SEEN]).toBe(before?.metadata.annotations?.[SEEN]);
});

test('a pod that returns after being absent or replaced gets a new first-seen time', () => {
  const read = reading();
  const seen = [[object(1)], [], [object(2)], [object(1, {}, 'uid-2')], [object(3)]].map(
    (objects) => read(...objects).set.pods[0]?.metadata.annotations?.[SEEN],
  );
  expect(new Set([seen[0], seen[2], seen[4]]).size).toBe(3);
});

test('a problem with an object is reported for that object alone, until it is fixed', () => {
  const read = reading();
  const wrong = object(1, { spec: { nodeName: 'node-1', containers: [] } });
  const { set } = read(wrong, object(1, {}, 'uid-2'));
  expect(set.pods.map(({ metadata }) => metadata.uid)).toEqual(['uid-2']);
  expect(set.problems.map(({ pod }) => pod)).toEqual(['shop/uid-1']);
  expect(read({ ...wrong, metadata: { ...wrong.metadata, resourceVersion: '2' } }).set.problems).toHaveLength(1);
  expect(read(object(3)).set).toMatchObject({ problems: [], pods: [{ metadata: { uid: 'uid-1' } }] });
});

test('a mirror pod is not a pod to run', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'hash' };
  const mirror = object(1);
  const { set, mirrors } = reading()({ ...mirror, metadata: { ...mirror.metadata, annotations } });
  expect(set.pods).toEqual([]);
  expect(mirrors).toMatchObject([{ uid: 'uid-1', hash: 'hash' }]);
});
