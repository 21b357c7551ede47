import { describe, expect, test } from '@jest/globals';
import { ApiStatusSink } from '../../../../actors/cluster/pods/apiStatusSink.ts';
import { PodCache } from '../../../../actors/cluster/pods/podCache.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { StatusReport } from '../../../../actors/status/statusReports.ts';
import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import type { KubeObject } from '../../../../kubeclient/reflector.ts';
import type { PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import type { Fault } from '../../../../testing/apiserver/faults.ts';
import { type Cluster, cluster } from '../../../fakes/cluster.ts';
import { IMAGE } from '../../../fakes/pods.ts';

const PODS = '/api/v1/namespaces/default/pods';
const WEB = `${PODS}/web`;
const STRATEGIC = 'application/strategic-merge-patch+json';

const condition = (type: string, status: 'True' | 'False', more: object = {}) => ({
  type,
  status,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});
const RUNNING: PodStatus = {
  phase: 'Running',
  hostIP: '192.0.2.1',
  podIP: '10.0.0.1',
  podIPs: [{ ip: '10.0.0.1' }],
  hostIPs: [{ ip: '192.0.2.1' }],
  startTime: '2026-01-01T00:00:00Z',
  conditions: [condition('Ready', 'True'), condition('PodScheduled', 'True')],
  containerStatuses: [
    {
      name: 'main',
      image: IMAGE,
      imageID: 'sha256:1',
      containerID: 'containerd://c',
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: '2026-01-01T00:00:01Z' } },
      lastState: {},
    },
  ],
};

/** Returns a cluster in which the pod `web` is bound to the node. */
async function withPod() {
  const clock = new SimulatedClock();
  const made = cluster(clock);
  const { api, ask, client, pods, transport } = made;
  pods.updateState({ state: 'watching' });
  await ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const create = async (): Promise<string> => {
    const containers = [{ name: 'main', image: IMAGE }];
    const spec = { nodeName: 'node-1', automountServiceAccountToken: false, containers };
    return uidOf(await ask('POST', PODS, { metadata: { name: 'web' }, spec }));
  };
  const uid = await create();
  const sink = new ApiStatusSink(client, pods);
  const putBy = (to: ApiStatusSink) => {
    let acknowledged: StatusReport | undefined;
    return async (status: PodStatus, more: Partial<StatusReport> = {}) => {
      const report = { uid, namespace: 'default', name: 'web', status, ended: false, ...more };
      const isAcknowledged = isJsonEqual(acknowledged, report);
      await to.put(report, { signal: new AbortController().signal, isAcknowledged });
      acknowledged = report;
    };
  };
  const put = putBy(sink);
  /** Sends a status as a new agent would, which knows nothing of earlier updates. */
  const putByNewAgent = putBy(new ApiStatusSink(client, new PodCache()));
  /** Returns the requests since the last call. */
  const asked = () =>
    transport.requests.splice(0).map(({ method, path, body }) => ({ method, path, body: body && JSON.parse(body) }));
  /** Injects a fault into the next request of the node with this verb. */
  const troubled = (verb: string, fault: Fault) =>
    api.faults.add({ fault, matches: (request, user) => request.verb === verb && user !== 'admin', times: 1 });
  return { ...made, clock, create, uid, put, putByNewAgent, asked, troubled };
}

function uidOf({ metadata }: Record<string, unknown>): string {
  if (typeof metadata !== 'object' || metadata === null || !('uid' in metadata)) throw new Error('there is no UID');
  return String(metadata.uid);
}

describe('a status', () => {
  test('C14: is written to the server, and the next update contains only the difference', async () => {
    const { put, ask, asked, uid } = await withPod();
    await put(RUNNING);
    expect(await ask('GET', WEB)).toMatchObject({ status: RUNNING });
    asked();
    const conditions = [
      condition('Ready', 'False', { reason: 'ContainersNotReady' }),
      condition('PodScheduled', 'True'),
    ];
    await put({ ...RUNNING, conditions });
    const [patch, ...more] = asked();
    // No GET is needed, because the sink compares with the last response.
    expect(more).toEqual([]);
    expect(patch).toEqual({
      method: 'PATCH',
      path: `${WEB}/status`,
      body: {
        metadata: { uid, resourceVersion: expect.any(String) },
        status: {
          '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
          conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
        },
      },
    });
    expect(await ask('GET', WEB)).toMatchObject({ status: { ...RUNNING, conditions } });
  });

  test('C14: that the server already has is not sent again', async () => {
    const { put, putByNewAgent, asked } = await withPod();
    await put(RUNNING);
    asked();
    await put(structuredClone(RUNNING));
    expect(asked()).toEqual([]);
    await putByNewAgent(structuredClone(RUNNING));
    expect(asked()).toEqual([{ method: 'GET', path: WEB, body: undefined }]);
  });

  test('of a container with an unknown finish time is not sent again', async () => {
    const { put, putByNewAgent, asked } = await withPod();
    const [main] = RUNNING.containerStatuses ?? [];
    if (main === undefined) throw new Error('there is no container');
    const times = { startedAt: null, finishedAt: null };
    const state = { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', ...times } };
    const status = { ...RUNNING, containerStatuses: [{ ...main, ready: false, started: false, state }] };
    await put(status);
    asked();
    await putByNewAgent(status);
    expect(asked().map(({ method }) => method)).toEqual(['GET']);
  });

  test('C14: preserves the conditions and fields of other clients', async () => {
    const { put, ask } = await withPod();
    const gate = condition('example.com/gate', 'True');
    await ask('PATCH', `${WEB}/status`, { status: { conditions: [gate] } }, STRATEGIC);
    await put(RUNNING);
    await put({ ...RUNNING, conditions: [condition('Ready', 'False')] });
    expect(await ask('GET', WEB)).toMatchObject({
      status: {
        qosClass: 'BestEffort',
        conditions: [condition('Ready', 'False'), gate],
      },
    });
  });

  test('is reported to the caller as an error if the server rejects it', async () => {
    const { put, troubled, ask } = await withPod();
    troubled('patch', { kind: 'refused', code: 500 });
    await expect(put(RUNNING)).rejects.toMatchObject({ code: 500 });
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Pending' } });
    await put(RUNNING);
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Running' } });
  });

  test('whose response is lost has been written, and is not sent again', async () => {
    const { put, troubled, asked } = await withPod();
    troubled('patch', { kind: 'lost' });
    await expect(put(RUNNING)).rejects.toThrow('cut before the answer');
    asked();
    await put(RUNNING);
    expect(asked().map(({ method }) => method)).toEqual(['GET']);
  });
});

/** Returns the pod as a watch reports it. */
// The objects of the server have metadata.
const seen = async (ask: Cluster['ask']) => (await ask('GET', WEB)) as KubeObject;

describe('the status at the server', () => {
  const NOT_READY = { ...RUNNING, conditions: [condition('Ready', 'False')] };

  test('is read again after a lost response, even if the node status equals an earlier one', async () => {
    const { put, troubled, ask } = await withPod();
    await put(RUNNING);
    troubled('patch', { kind: 'lost' });
    await expect(put(NOT_READY)).rejects.toThrow('cut before the answer');
    await put(RUNNING);
    expect(await ask('GET', WEB)).toMatchObject({ status: { conditions: RUNNING.conditions } });
  });

  const STARTING: PodStatus = { ...RUNNING, phase: 'Pending' };

  test('is taken from the watch without a request', async () => {
    const { put, ask, asked, pods, uid } = await withPod();
    pods.replaceAll([await seen(ask)], []);
    await put(STARTING);
    expect(asked().map(({ method, body }) => [method, body.metadata.uid])).toEqual([['PATCH', uid]]);
    expect(await ask('GET', WEB)).toMatchObject({ status: STARTING });
  });

  test('is requested while the watch is down', async () => {
    const { put, asked, pods } = await withPod();
    await put(STARTING);
    pods.updateState({ state: 'failing', why: 'out of reach', failure: 'connection refused', until: 0 });
    asked();
    await put({ ...STARTING, podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] });
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'PATCH']);
  });

  test('is taken from the watch for a change of the phase as well', async () => {
    const { put, ask, asked, pods, uid } = await withPod();
    const object = await seen(ask);
    pods.replaceAll([object], []);
    await put(RUNNING);
    const { resourceVersion } = object.metadata;
    expect(asked().map(({ method, body }) => [method, body?.metadata])).toEqual([['PATCH', { uid, resourceVersion }]]);
    expect(await ask('GET', WEB)).toMatchObject({ status: RUNNING });
  });

  test('C2: is read before a changed phase is written over a newer version, so a terminal status is preserved', async () => {
    const { put, ask, pods, asked } = await withPod();
    pods.replaceAll([await seen(ask)], []);
    const ended = { phase: 'Failed', reason: 'NodeLost', message: 'gone' };
    await ask('PATCH', `${WEB}/status`, { status: ended }, STRATEGIC);
    await put(RUNNING);
    expect(asked().map(({ method }) => method)).toEqual(['PATCH', 'GET', 'PATCH']);
    expect(await ask('GET', WEB)).toMatchObject({ status: ended });
  });

  test('is not read again if the server rejects the phase for a reason other than a conflict', async () => {
    const { put, ask, pods, asked, troubled } = await withPod();
    pods.replaceAll([await seen(ask)], []);
    troubled('patch', { kind: 'refused', code: 500 });
    await expect(put(RUNNING)).rejects.toMatchObject({ code: 500 });
    expect(asked().map(({ method }) => method)).toEqual(['PATCH']);
  });

  test('is not the one of a pod that someone has marked as its mirror', async () => {
    const { put, ask, asked, pods, uid } = await withPod();
    const stranger = { namespace: 'other', name: 'web', uid: 'strange', hash: uid, isDeleting: false };
    pods.replaceAll([await seen(ask), { metadata: { uid: 'strange' } }], [stranger]);
    await put(STARTING);
    await put({ ...STARTING, podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] });
    expect(asked().map(({ method, body }) => [method, body.metadata.uid])).toEqual([
      ['PATCH', uid],
      ['PATCH', uid],
    ]);
  });

  test('is requested for a pod that is being deleted, because it may be gone already', async () => {
    const { put, ask, asked, pods } = await withPod();
    const object = await seen(ask);
    pods.replaceAll([{ ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }], []);
    await put(STARTING);
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'PATCH']);
  });
});

const FAILED: PodStatus = { ...RUNNING, phase: 'Failed' };

describe('a pod that differs from the one at the server', () => {
  test('is left alone if its name belongs to another pod', async () => {
    const { put, ask, asked, create } = await withPod();
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    await create();
    await put(FAILED, { ended: true });
    expect(asked().map(({ method }) => method)).toEqual(['GET']);
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Pending' } });
  });

  test('C14: is not confused with a pod that takes its name at that moment', async () => {
    const { put, ask, create, clock, troubled } = await withPod();
    troubled('patch', { kind: 'latency', ms: 1_000 });
    const putting = put(FAILED, { ended: true }).catch((error: unknown) => error);
    await clock.advance(500);
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    await create();
    await clock.advance(500);
    expect(await putting).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Pending' } });
  });

  test('causes no error once the server no longer has it', async () => {
    const { put, ask, asked, pods } = await withPod();
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    // The server refuses access to pods that are not bound to the node.
    await expect(put(FAILED)).rejects.toMatchObject({ code: 403 });
    pods.replaceAll([], []);
    asked();
    await put(FAILED, { ended: true });
    expect(asked().map(({ method }) => method)).toEqual(['GET']);
  });

  test('causes no request if the watch has already reported its removal', async () => {
    const { put, ask, asked, pods, uid } = await withPod();
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    pods.replaceAll([{ metadata: { uid } }], []);
    pods.replaceAll([], []);
    await put(FAILED, { ended: true });
    expect(asked()).toEqual([]);
  });

  test('causes no error if it is deleted during the update', async () => {
    const { put, ask, clock, troubled, asked } = await withPod();
    troubled('patch', { kind: 'latency', ms: 1_000 });
    const putting = put(FAILED, { ended: true });
    await clock.advance(500);
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    await clock.advance(500);
    await putting;
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'PATCH']);
  });
});

describe('a terminated pod', () => {
  test('C12: is deleted after its final status has been sent, if its deletion was requested, with its UID as a precondition', async () => {
    const { put, ask, asked, uid } = await withPod();
    await ask('DELETE', WEB);
    await put(FAILED, { ended: true });
    const [get, patch, deletion, ...more] = asked();
    expect([get?.method, patch?.method, more]).toEqual(['GET', 'PATCH', []]);
    expect(deletion).toEqual({
      method: 'DELETE',
      path: WEB,
      body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid } },
    });
    await expect(ask('GET', WEB)).rejects.toThrow('404');
  });

  test('C12: is deleted once its last container has terminated, although its status is already written', async () => {
    const { put, ask, asked } = await withPod();
    await ask('DELETE', WEB);
    await put(FAILED, { ended: false });
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Failed' } });
    await put(FAILED, { ended: true });
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'DELETE']);
    await expect(ask('GET', WEB)).rejects.toThrow('404');
  });

  test('C12: is not deleted if nobody requested its deletion', async () => {
    const { put, ask, asked } = await withPod();
    await put(FAILED, { ended: true });
    expect(asked().map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(await ask('GET', WEB)).toMatchObject({ status: { phase: 'Failed' } });
  });

  test('C12: is not deleted if another pod takes its name first', async () => {
    const { put, ask, clock, create, troubled } = await withPod();
    await ask('DELETE', WEB);
    troubled('delete', { kind: 'latency', ms: 1_000 });
    const putting = put(FAILED, { ended: true });
    await clock.advance(500);
    await ask('DELETE', WEB, { gracePeriodSeconds: 0 });
    const other = await create();
    await clock.advance(500);
    await putting;
    expect(uidOf(await ask('GET', WEB))).toBe(other);
  });

  test('is deleted by the next update if the deletion fails', async () => {
    const { put, ask, troubled } = await withPod();
    await ask('DELETE', WEB);
    troubled('delete', { kind: 'refused', code: 500 });
    await expect(put(FAILED, { ended: true })).rejects.toMatchObject({ code: 500 });
    await put(FAILED, { ended: true });
    await expect(ask('GET', WEB)).rejects.toThrow('404');
  });
});
