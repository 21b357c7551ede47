import { describe, expect, test } from '@jest/globals';
import { readApiPod, withReusedSpec } from '../../../../kubernetes/api/pods/apiPod.ts';

const SEEN = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const metadata = { name: 'web', namespace: 'shop', uid: 'uid-1', resourceVersion: '7', annotations: { note: 'kept' } };
const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'busybox:1' }] };
const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec };

function podOf(from: unknown) {
  const read = readApiPod(from, SEEN);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.pod;
}

describe('a pod of an API server', () => {
  test('has the UID of the server, and annotations with its source and timestamp', () => {
    expect(podOf(object).metadata).toMatchObject({
      name: 'web',
      namespace: 'shop',
      uid: 'uid-1',
      annotations: {
        note: 'kept',
        'kubernetes.io/config.seen': '2026-01-01T12:00:00.250Z',
        'kubernetes.io/config.source': 'api',
      },
    });
  });

  test('cannot set the source annotation itself', () => {
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'h' };
    expect(podOf({ ...object, metadata: { ...metadata, annotations } }).metadata.annotations).toMatchObject({
      'kubernetes.io/config.source': 'api',
    });
  });

  test('is defaulted, because a server of another version may leave out defaults', () => {
    expect(podOf(object).spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'main', imagePullPolicy: 'IfNotPresent' }],
    });
  });

  test('is accepted without a kind in a list', () => {
    const { kind: _kind, apiVersion: _version, ...listed } = object;
    expect(podOf(listed)).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } });
  });

  test('has the status of the server, or none', () => {
    const gate = { type: 'example.com/gate', status: 'True', lastProbeTime: null };
    const status = { phase: 'Running', conditions: [gate] };
    expect(podOf({ ...object, status }).status).toEqual(status);
    expect(podOf(object)).not.toHaveProperty('status');
  });

  test('is read without fields that only the server needs and without fields of newer versions', () => {
    const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }];
    const pod = podOf({
      ...object,
      metadata: { ...metadata, managedFields },
      spec: { ...spec, timeTravel: true, containers: [{ ...spec.containers[0], warp: 9 }] },
    });
    expect(pod.metadata).not.toHaveProperty('managedFields');
    expect(pod.spec).not.toHaveProperty('timeTravel');
    expect(pod.spec.containers[0]).not.toHaveProperty('warp');
  });
});

describe('problems of a pod that the node cannot run', () => {
  const problemsOf = (from: unknown) => {
    const read = readApiPod(from, SEEN);
    return 'problems' in read ? read.problems.map(({ path }) => path) : [];
  };

  test('an unknown kind of volume', () => {
    expect(problemsOf({ ...object, spec: { ...spec, volumes: [{ name: 'v', holographic: {} }] } })).toEqual([
      expect.stringContaining('volumes'),
    ]);
  });

  test('a violation of a rule that the node relies on', () => {
    const twice = { ...spec, containers: [spec.containers[0], spec.containers[0]] };
    expect(problemsOf({ ...object, spec: twice })).toEqual([expect.stringContaining('containers[1].name')]);
  });

  test('an object that is not a pod', () => {
    for (const odd of [null, 'web', { ...object, kind: 'Node' }]) expect(problemsOf(odd)).toHaveLength(1);
    expect(problemsOf({ kind: 'Pod', apiVersion: 'v1', metadata: null, spec }).length).toBeGreaterThan(0);
  });
});

describe('a new version of an object', () => {
  const later = (more: object, own: object = {}) => ({
    ...object,
    metadata: { ...metadata, resourceVersion: '8', managedFields: [{ manager: 'node' }], ...own },
    ...more,
  });
  const known = { object, pod: podOf(object) };

  test('reuses the previous pod if only the status has changed', () => {
    const status = { phase: 'Running', conditions: [{ type: 'example.com/gate', status: 'True' }] };
    const read = withReusedSpec(known, later({ status }));
    expect(read).toEqual(podOf(later({ status })));
    expect(read?.spec).toBe(known.pod.spec);
    expect(withReusedSpec({ object: later({ status }), pod: podOf(later({ status })) }, later({}))).toEqual(
      podOf(later({})),
    );
  });

  test('reuses the volumes and containers of a pod that is deleted, and of one whose deletion was lost', () => {
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30, generation: 2 };
    const [deleted, current] = [later({}, deletion), later({})];
    const read = withReusedSpec(known, deleted);
    expect(read).toEqual(podOf(deleted));
    expect(read?.metadata).toMatchObject(deletion);
    expect(read?.spec).toBe(known.pod.spec);
    expect(withReusedSpec({ object: deleted, pod: podOf(deleted) }, current)).toEqual(podOf(current));
  });

  test('is read again after any other change', () => {
    expect(withReusedSpec(known, later({ spec: { ...spec, nodeName: 'other' } }))).toBeUndefined();
    expect(withReusedSpec(known, later({}, { labels: { app: 'web' } }))).toBeUndefined();
    expect(withReusedSpec(known, later({}, { deletionTimestamp: 'now' }))).toBeUndefined();
    expect(withReusedSpec(known, undefined)).toBeUndefined();
  });
});
