import { describe, expect, test } from '@jest/globals';
import { readApiPod, withOtherStatus } from '../../../kubernetes/api/apiPod.ts';

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
  test('is told by the server’s own UID, and where and when it was seen', () => {
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

  test('that says itself where it comes from is not believed', () => {
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'h' };
    expect(podOf({ ...object, metadata: { ...metadata, annotations } }).metadata.annotations).toMatchObject({
      'kubernetes.io/config.source': 'api',
    });
  });

  test('has defaults, as a server of another version may leave some out', () => {
    expect(podOf(object).spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'main', imagePullPolicy: 'IfNotPresent' }],
    });
  });

  test('in a list bears no kind, and is a pod', () => {
    const { kind: _kind, apiVersion: _version, ...listed } = object;
    expect(podOf(listed)).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } });
  });

  test('keeps the status that the server has of it, and has none of its own', () => {
    const gate = { type: 'example.com/gate', status: 'True', lastProbeTime: null };
    const status = { phase: 'Running', conditions: [gate] };
    expect(podOf({ ...object, status }).status).toEqual(status);
    expect(podOf(object)).not.toHaveProperty('status');
  });

  test('is read without what is only for the server, and without fields of a time to come', () => {
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

describe('what the node cannot run is a problem', () => {
  const problemsOf = (from: unknown) => {
    const read = readApiPod(from, SEEN);
    return 'problems' in read ? read.problems.map(({ path }) => path) : [];
  };

  test('as a volume of a kind that it does not know', () => {
    expect(problemsOf({ ...object, spec: { ...spec, volumes: [{ name: 'v', holographic: {} }] } })).toEqual([
      expect.stringContaining('volumes'),
    ]);
  });

  test('as a pod that breaks a rule which the node relies on', () => {
    const twice = { ...spec, containers: [spec.containers[0], spec.containers[0]] };
    expect(problemsOf({ ...object, spec: twice })).toEqual([expect.stringContaining('containers[1].name')]);
  });

  test('as something that is no pod', () => {
    for (const odd of [null, 'web', { ...object, kind: 'Node' }]) expect(problemsOf(odd)).toHaveLength(1);
    expect(problemsOf({ kind: 'Pod', apiVersion: 'v1', metadata: null, spec }).length).toBeGreaterThan(0);
  });
});

describe('a later version of an object', () => {
  const later = (more: object, own: object = {}) => ({
    ...object,
    metadata: { ...metadata, resourceVersion: '8', managedFields: [{ manager: 'node' }], ...own },
    ...more,
  });
  const known = { object, pod: podOf(object) };

  test('with another status is the pod that was read with that one, as if it were read anew', () => {
    const status = { phase: 'Running', conditions: [{ type: 'example.com/gate', status: 'True' }] };
    const read = withOtherStatus(known, later({ status }));
    expect(read).toEqual(podOf(later({ status })));
    expect(read?.spec).toBe(known.pod.spec);
    expect(withOtherStatus({ object: later({ status }), pod: podOf(later({ status })) }, later({}))).toEqual(
      podOf(later({})),
    );
  });

  test('with anything else is to be read', () => {
    expect(withOtherStatus(known, later({ spec: { ...spec, nodeName: 'other' } }))).toBeUndefined();
    expect(withOtherStatus(known, later({}, { labels: { app: 'web' } }))).toBeUndefined();
    expect(withOtherStatus(known, later({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBeUndefined();
    expect(withOtherStatus(known, later({}, { generation: 2 }))).toBeUndefined();
    expect(withOtherStatus(known, undefined)).toBeUndefined();
  });
});
