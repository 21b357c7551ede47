/** The rule of each stage that a status passes: computed, durable, queued, acknowledged. */
import { describe, expect, test } from '@jest/globals';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import { type ComputedStatus, StatusLedger } from '../../../actors/status/statusLedger.ts';
import type { NodeStore, UnacknowledgedStatus } from '../../../actors/store/durableFacts.ts';
import type { ContainerState, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const probed = (name: string) => {
  const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 1 };
  return podWith(name, { containers: [containerWith('main', { readinessProbe })] });
};
const oneShot = (name: string) =>
  podWith(name, {
    restartPolicy: 'Never',
    containers: [containerWith('main', { command: ['sh', '-c', 'sleep 1; exit 3'] })],
  });

type Write = NodeStore['write'];

/** Wraps a store so that the test controls the writes of some facts. */
const disk =
  (isMeant: (...write: Parameters<Write>) => boolean, answer: (write: () => Promise<void>) => Promise<void>) =>
  (real: NodeStore): NodeStore => ({
    ...real,
    write: (...given) => (isMeant(...given) ? answer(() => real.write(...given)) : real.write(...given)),
  });

const isReadiness = (...[kind, , value]: Parameters<Write>) =>
  kind === 'probes' && JSON.stringify(value).includes('"ready":true');
const isEnd = (...[kind]: Parameters<Write>) => kind === 'statuses';

const readyOf = (node: SimulatedNode, name: string) =>
  node.pod(name).conditions?.find(({ type }) => type === 'Ready')?.status;

/** Returns a list to which each published status is added. */
function publishedBy(node: SimulatedNode): string[] {
  const statuses: string[] = [];
  node.agent.subscribe(({ pod, removed }: PodChange) => {
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    statuses.push(`${pod.metadata.name}: ${removed ? 'gone' : `${pod.status?.phase}, ready ${ready}`}`);
  });
  return statuses;
}

describe('a status that depends on a persisted fact', () => {
  test('C29: reports Ready once the probe result is durable, and not before', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const node = await simulatedNode({
      pods: [probed('web')],
      store: disk(isReadiness, (write) => promise.then(write)),
    });
    const statuses = publishedBy(node);
    await node.advance('4s');
    expect(node.containerView('web').ready).toBe(true);
    expect(readyOf(node, 'web')).toBe('False');
    expect(statuses).not.toContain('web: Running, ready True');
    expect(node.view('web').waitingFor).toBe('its status to be saved');
    end();
    await node.advance('0ms');
    expect(readyOf(node, 'web')).toBe('True');
    expect(statuses.at(-1)).toBe('web: Running, ready True');
    expect(node.view('web').waitingFor).toBeUndefined();
  });

  test('C2: reports a terminal phase once it is durable, and not before', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const node = await simulatedNode({ pods: [oneShot('job')], store: disk(isEnd, (write) => promise.then(write)) });
    await node.advance('4s');
    expect(node.view('job').hasEnded).toBe(true);
    expect(node.pod('job').phase).toBe('Running');
    end();
    await node.advance('0ms');
    expect(node.pod('job').phase).toBe('Failed');
  });

  test('is published even if the write fails', async () => {
    const store = disk(
      (...write) => isReadiness(...write) || isEnd(...write),
      () => Promise.reject(new Error('no space left on device')),
    );
    const node = await simulatedNode({ pods: [probed('web'), oneShot('job')], store });
    await node.advance('4s');
    expect([readyOf(node, 'web'), node.pod('job').phase]).toEqual(['True', 'Failed']);
    expect(node.errors).toContain('store: Error: no space left on device');
  });

  test('is delayed for five seconds by a disk that never responds', async () => {
    const node = await simulatedNode({ pods: [probed('web')], store: disk(isReadiness, () => new Promise(() => {})) });
    await node.advance('4s');
    expect(readyOf(node, 'web')).toBe('False');
    await node.advance('5s');
    expect(readyOf(node, 'web')).toBe('True');
  });

  test('does not delay other pods, and the statuses of its own pod are published in order', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const isMeant = (...write: Parameters<Write>) => isReadiness(...write) && write[1] === 'slow-uid';
    const node = await simulatedNode({
      pods: [probed('slow'), probed('web')],
      store: disk(isMeant, (write) => promise.then(write)),
    });
    const statuses = publishedBy(node);
    await node.advance('3s');
    expect([readyOf(node, 'slow'), readyOf(node, 'web')]).toEqual(['False', 'True']);
    node.remove('slow');
    await node.advance('500ms');
    expect(statuses.at(-1)).toBe('web: Running, ready True');
    end();
    await node.advance('40s');
    const ofSlow = [...new Set(statuses.filter((line) => line.startsWith('slow')))];
    expect(ofSlow).toEqual([
      'slow: Pending, ready False',
      'slow: Running, ready False',
      'slow: Running, ready True',
      'slow: Failed, ready False',
      'slow: gone',
    ]);
    expect(node.has('slow')).toBe(false);
  });
});

test('an update that changes no persisted fact writes nothing', async () => {
  const kinds: string[] = [];
  const counted = (real: NodeStore): NodeStore => ({
    ...real,
    write: (...given) => {
      kinds.push(given[0]);
      return real.write(...given);
    },
  });
  const pod = probed('web');
  const node = await simulatedNode({ pods: [pod], store: counted });
  await node.advance('4s');
  expect(kinds).toContain('allocations');
  kinds.length = 0;
  const metadata = { ...pod.metadata, resourceVersion: '7', annotations: { note: 'x' } };
  node.apply({ ...pod, metadata, status: { conditions: [{ type: 'example.com/in-service', status: 'True' }] } });
  await node.advance('1s');
  const shown = node.agent.pods().find(({ metadata: { name } }) => name === 'web');
  expect(shown?.metadata.annotations).toEqual({ note: 'x' });
  expect(node.pod('web').conditions).toContainEqual({ type: 'example.com/in-service', status: 'True' });
  expect(kinds).toEqual([]);
});

/**
 * Returns a disk on which a ledger saves terminal statuses. `isBehind` means that the pod's regular status is not saved
 * yet.
 */
function fakeDisk(unacknowledged: ReadonlyMap<string, UnacknowledgedStatus> = new Map()) {
  const saved = new Map(unacknowledged);
  const regular = Promise.withResolvers<void>();
  const state = { isBehind: false };
  const store = {
    write: async (_kind: string, uid: string, fact: unknown) => void saved.set(uid, fact as UnacknowledgedStatus),
    remove: async (_kind: string, uid: string) => void saved.delete(uid),
    isUnwritten: () => state.isBehind,
    whenWritten: () => regular.promise,
  } as unknown as NodeStore;
  const onError = (_source: string, error: unknown) => {
    throw error;
  };
  return { saved, state, regular, disk: { store, unacknowledged, onError } };
}

const api = { name: 'api', mustAcknowledge: true };
const page = { name: 'page', mustAcknowledge: false };

const running: PodStatus = { phase: 'Running' };
const ready: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const failed = (message = ''): PodStatus => ({ phase: 'Failed', message });

interface StatusOptions extends Partial<PodView> {
  readonly name?: string;
  readonly removed?: boolean;
}

/** Returns a computed status of a pod whose containers the node knows. */
function computed(status: PodStatus, { name = 'job', removed = false, ...over }: StatusOptions = {}): ComputedStatus {
  const pod = { ...oneShot(name), status };
  // The ledger reads no other fields of a view.
  const view = {
    pod,
    isReclaimed: status.phase === 'Failed',
    hasEnded: status.phase === 'Failed',
    tags: [],
    containers: [],
    restoredStatus: {},
    ...over,
  } as unknown as PodView;
  return { uid: pod.metadata.uid, pod, view, removed };
}

const UID = 'job-uid';

/** Passes a status through the stages up to `queued`, and returns the version to send. */
async function report(ledger: StatusLedger, status: ComputedStatus, isFinal = true) {
  let sent: ReturnType<StatusLedger['queueForSinks']>;
  ledger.publishWhenDurable(status, {
    persistFacts: () => ledger.saveTerminal(status, isFinal),
    publish: () => {
      sent = ledger.queueForSinks(status);
    },
  });
  await settled();
  return sent;
}

/** Resolves when all promises that depend on nothing else have settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Acknowledges the queued status for a sink. */
function acknowledge(ledger: StatusLedger, sink = 'api') {
  const queued = ledger.queued(UID);
  if (queued !== undefined) ledger.acknowledge(sink, queued);
}

describe('the computed stage', () => {
  const shown = { id: 'pod', name: 'job' } as unknown as Parameters<StatusLedger['recordComputed']>[0]['shown'];
  const record = (ledger: StatusLedger, { pod, view }: ComputedStatus) => ledger.recordComputed({ shown, pod, view });

  test('stores the latest status, from which the next one is computed, whether or not it is published', () => {
    const ledger = new StatusLedger();
    record(ledger, computed(running));
    record(ledger, computed(ready));
    expect(ledger.previousStatus(UID)).toBe(ready);
    expect(ledger.computed(UID)?.pod.status).toBe(ready);
    expect(ledger.durablePods()).toEqual([]);
  });

  test('starts from the status of a keyframe, until the pod is removed', () => {
    const ledger = new StatusLedger({ previousStatuses: { [UID]: running } });
    expect([ledger.previousStatus(UID), ledger.computed(UID)]).toEqual([running, undefined]);
    record(ledger, computed(ready));
    expect(ledger.previousStatus(UID)).toBe(ready);
    ledger.removeComputed(UID);
    expect(ledger.previousStatus(UID)).toBeUndefined();
  });

  test('lists the pods in order of arrival, and a returning pod last', () => {
    const ledger = new StatusLedger({ previousStatuses: { 'c-uid': running } });
    const names = () => ledger.computedPods().map(({ pod }) => pod.metadata.name);
    for (const name of ['a', 'b', 'c', 'a']) record(ledger, computed(running, { name }));
    expect(names()).toEqual(['a', 'b', 'c']);
    ledger.removeComputed('a-uid');
    record(ledger, computed(running, { name: 'a' }));
    expect(names()).toEqual(['b', 'c', 'a']);
  });
});

describe('the durable stage', () => {
  /** Returns a ledger, and the statuses that it has published. */
  function publishing() {
    const ledger = new StatusLedger();
    const published: string[] = [];
    const publish = (status: ComputedStatus, facts?: Promise<unknown>) =>
      ledger.publishWhenDurable(status, {
        persistFacts: () => facts,
        publish: () => void published.push(`${status.pod.metadata.name} ${status.pod.status?.message ?? ''}`.trim()),
      });
    return { ledger, published, publish };
  }

  test('is reached immediately by a status that depends on no facts', () => {
    const { ledger, published, publish } = publishing();
    publish(computed(running));
    expect(published).toEqual(['job']);
    expect(ledger.durablePods().map(({ status }) => status)).toEqual([running]);
    expect(ledger.isAwaitingFacts(UID)).toBe(false);
  });

  test('is reached once the facts are on disk, in order per pod and independently of other pods', async () => {
    const { ledger, published, publish } = publishing();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    publish(computed(failed('1')), first.promise);
    publish(computed(failed('2')), second.promise);
    publish(computed(failed('3')));
    publish(computed(running, { name: 'web' }));
    second.resolve();
    await settled();
    expect(published).toEqual(['web']);
    expect(ledger.awaitingFacts().map(({ pod }) => pod.status?.message)).toEqual(['1', '2', '3']);
    expect(ledger.durablePods()).toHaveLength(1);
    first.resolve();
    await settled();
    expect(published).toEqual(['web', 'job 1', 'job 2', 'job 3']);
    expect(ledger.awaitingFacts()).toEqual([]);
  });

  test('is reached by a status whose facts could not be written', async () => {
    const { published, publish } = publishing();
    publish(computed(failed('1')), Promise.reject(new Error('no space left on device')));
    await settled();
    expect(published).toEqual(['job 1']);
  });

  test('is not reached if persisting throws, and the next status of the pod does not wait for it', () => {
    const { ledger, published, publish } = publishing();
    const persistFacts = () => {
      throw new Error('broken');
    };
    expect(() => ledger.publishWhenDurable(computed(running), { persistFacts, publish: () => {} })).toThrow('broken');
    publish(computed(failed('2')));
    expect(published).toEqual(['job 2']);
  });

  test('ends with the removal of the pod', () => {
    const { ledger, published, publish } = publishing();
    publish(computed(failed('1')));
    publish(computed(failed('1'), { removed: true }));
    expect(published).toEqual(['job 1', 'job 1']);
    expect(ledger.durablePods()).toEqual([]);
  });
});

describe('the queued stage', () => {
  const ledgerOf = (...sinks: (typeof api)[]) => new StatusLedger({ sinks, disk: fakeDisk().disk });

  test('contains only the latest status, with a new version, and no unchanged status', async () => {
    const ledger = ledgerOf(api);
    expect(await report(ledger, computed(running))).toEqual({ uid: UID, version: 1 });
    expect(await report(ledger, computed(ready))).toEqual({ uid: UID, version: 2 });
    expect(await report(ledger, computed({ ...ready }))).toBeUndefined();
    expect(ledger.queued(UID)).toMatchObject({ status: ready, version: 2, ended: false, isGone: false });
    expect(ledger.unacknowledgedBy('api')).toEqual([{ uid: UID, version: 2 }]);
  });

  test('is reached again by the same status when the resources of the pod are released', async () => {
    const ledger = ledgerOf(api);
    await report(ledger, computed(failed(), { isReclaimed: false }));
    expect(await report(ledger, computed(failed()))).toEqual({ uid: UID, version: 2 });
    expect(ledger.queued(UID)).toMatchObject({ ended: true });
    expect(await report(ledger, computed(failed(), { isReclaimed: false }))).toBeUndefined();
  });

  test('marks a change that no client reacts to as deferrable', async () => {
    const ledger = ledgerOf(api);
    await report(ledger, computed(running));
    const sent = await report(ledger, computed({ ...running, podIP: '10.0.0.1' }));
    expect(sent).toEqual({ uid: UID, version: 2, mayWait: true });
  });

  test('is not reached by a status with less information than the last one', async () => {
    const ledger = ledgerOf(api);
    await report(ledger, computed(ready));
    expect(await report(ledger, computed({ phase: 'Pending' }, { isUnsettled: true }))).toBeUndefined();
    expect(ledger.queued(UID)).toMatchObject({ status: ready });
  });

  test('is not reached without sinks', async () => {
    const ledger = ledgerOf();
    expect(await report(ledger, computed(failed()))).toBeUndefined();
    expect(ledger.queued(UID)).toBeUndefined();
  });

  test('is left by a removed pod once every sink has acknowledged its last status', async () => {
    const ledger = ledgerOf(api, page);
    await report(ledger, computed(failed()));
    await report(ledger, computed(failed(), { removed: true }));
    expect(ledger.queued(UID)).toMatchObject({ isGone: true, version: 1 });
    acknowledge(ledger, 'page');
    expect(ledger.queued(UID)).toBeDefined();
    acknowledge(ledger, 'api');
    expect(ledger.queued(UID)).toBeUndefined();
  });
});

describe('the acknowledged stage', () => {
  test('is reached separately for each sink', async () => {
    const ledger = new StatusLedger({ sinks: [api, page] });
    await report(ledger, computed(running));
    acknowledge(ledger, 'page');
    expect(ledger.unacknowledgedBy('page')).toEqual([]);
    expect(ledger.unacknowledgedBy('api')).toEqual([{ uid: UID, version: 1 }]);
  });

  test('is not reached by a newer status when a sink acknowledges an older one', async () => {
    const ledger = new StatusLedger({ sinks: [api] });
    await report(ledger, computed(running));
    const first = ledger.queued(UID);
    await report(ledger, computed(ready));
    if (first !== undefined) ledger.acknowledge('api', first);
    expect(ledger.unacknowledgedBy('api')).toEqual([{ uid: UID, version: 2 }]);
  });

  test('is not reached by a returning pod when a sink acknowledges a status from before its removal', async () => {
    const ledger = new StatusLedger({ sinks: [api] });
    await report(ledger, computed(failed()));
    await report(ledger, computed(failed(), { removed: true }));
    const last = ledger.queued(UID);
    acknowledge(ledger);
    expect(ledger.queued(UID)).toBeUndefined();
    await report(ledger, computed(running));
    if (last !== undefined) ledger.acknowledge('api', last);
    expect(ledger.unacknowledgedBy('api')).toHaveLength(1);
  });

  test('shows a sink whether the pending status equals the acknowledged one', async () => {
    const ledger = new StatusLedger({ sinks: [api] });
    const isAcknowledged = () => {
      const queued = ledger.queued(UID);
      return queued && ledger.isAcknowledged('api', queued);
    };
    await report(ledger, computed(running));
    expect(isAcknowledged()).toBe(false);
    acknowledge(ledger);
    expect(isAcknowledged()).toBe(true);
    await report(ledger, computed(ready));
    expect(isAcknowledged()).toBe(false);
    await report(ledger, computed({ ...running }));
    expect([isAcknowledged(), ledger.unacknowledgedBy('api')]).toEqual([true, [{ uid: UID, version: 3 }]]);
    await report(ledger, computed(failed(), { isReclaimed: false }));
    acknowledge(ledger);
    await report(ledger, computed(failed()));
    expect(isAcknowledged()).toBe(false);
  });

  test('C2: a terminal status is on disk before it is published, until all required sinks have acknowledged it', async () => {
    const { saved, disk } = fakeDisk();
    const ledger = new StatusLedger({ sinks: [api, { ...api, name: 'other' }, page], disk });
    const end = computed(failed('out of memory'));
    const published: unknown[] = [];
    ledger.publishWhenDurable(end, {
      persistFacts: () => ledger.saveTerminal(end, true),
      publish: () => published.push(saved.get(UID), ledger.queueForSinks(end)),
    });
    await settled();
    expect(published).toEqual([
      { namespace: 'default', name: 'job', status: end.pod.status, isFinal: true },
      { uid: UID, version: 1 },
    ]);
    acknowledge(ledger, 'api');
    expect(saved.has(UID)).toBe(true);
    acknowledge(ledger, 'other');
    expect(saved.has(UID)).toBe(false);
    expect(ledger.unacknowledgedBy('page')).toHaveLength(1);
  });

  test('C2: the next agent queues a terminal status for the sinks that must acknowledge it', () => {
    const left = { namespace: 'default', name: 'job', status: failed(), isFinal: true };
    const { saved, disk } = fakeDisk(new Map([[UID, left]]));
    const ledger = new StatusLedger({ sinks: [api, page], disk });
    expect(ledger.unacknowledgedBy('api')).toEqual([{ uid: UID, version: 1 }]);
    expect(ledger.unacknowledgedBy('page')).toEqual([]);
    expect(ledger.queued(UID)).toMatchObject({ status: left.status, ended: true, isGone: true });
    acknowledge(ledger);
    expect([saved.size, ledger.queued(UID)]).toEqual([0, undefined]);
  });

  test('a terminal status that no sink has to acknowledge any more is removed from disk', () => {
    const left = { namespace: 'default', name: 'job', status: failed(), isFinal: true };
    const { saved, disk } = fakeDisk(new Map([[UID, left]]));
    const ledger = new StatusLedger({ sinks: [page], disk });
    expect([saved.size, ledger.queued(UID)]).toEqual([0, undefined]);
  });

  test('an acknowledged terminal status stays on disk until the status is also persisted elsewhere', async () => {
    const { saved, state, regular, disk } = fakeDisk();
    const ledger = new StatusLedger({ sinks: [api], disk });
    await report(ledger, computed(failed()));
    state.isBehind = true;
    acknowledge(ledger);
    await settled();
    expect(saved.has(UID)).toBe(true);
    regular.resolve();
    await settled();
    expect(saved.has(UID)).toBe(false);
  });

  test.each([true, false])(
    'a terminal status that changes and changes back before it is published leaves nothing on disk (removed: %s)',
    async (removed) => {
      const { saved, disk } = fakeDisk();
      const ledger = new StatusLedger({ sinks: [api], disk });
      await report(ledger, computed(failed('first')));
      acknowledge(ledger);
      expect(saved.size).toBe(0);
      const changes = [computed(failed('other')), computed(failed('first'), { removed })];
      await Promise.all(changes.map((each) => report(ledger, each, !each.removed)));
      expect(saved.get(UID)).toMatchObject({ status: { message: 'first' } });
      acknowledge(ledger);
      expect(saved.size).toBe(0);
    },
  );

  test('a terminal status that was computed with less information is saved before it is published, but not replaced afterwards', async () => {
    const { saved, disk } = fakeDisk();
    const ledger = new StatusLedger({ sinks: [api], disk });
    const changes = [
      computed(failed('first')),
      computed(failed('second'), { isUnsettled: true }),
      computed(failed('second'), { removed: true }),
    ];
    await Promise.all(changes.map((each) => report(ledger, each)));
    expect(saved.get(UID)).toMatchObject({ status: { message: 'second' } });
    acknowledge(ledger);
    expect(saved.size).toBe(0);
  });

  test('a saved terminal status survives earlier statuses that are published late, and is removed once the pod runs again', async () => {
    const { saved, disk } = fakeDisk();
    const ledger = new StatusLedger({ sinks: [api], disk });
    const facts = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const changes = [computed(running), computed(failed('ended'), { removed: true }), computed(running)];
    changes.forEach((each, index) => {
      ledger.publishWhenDurable(each, {
        persistFacts: () => Promise.all([ledger.saveTerminal(each, false), facts[index]?.promise]),
        publish: () => void ledger.queueForSinks(each),
      });
    });
    facts[0]?.resolve();
    await settled();
    acknowledge(ledger);
    expect(saved.get(UID)).toMatchObject({ status: { message: 'ended' } });
    facts[1]?.resolve();
    await settled();
    expect(saved.size).toBe(1);
    facts[2]?.resolve();
    await settled();
    expect(saved.size).toBe(0);
  });

  test('a terminal status that contradicts the acknowledged one is neither sent nor saved', async () => {
    const { saved, disk } = fakeDisk();
    const ledger = new StatusLedger({ sinks: [api], disk });
    const inState = (state: ContainerState, options: StatusOptions = {}) => {
      const main = { name: 'main', state, ready: false, restartCount: 0, image: '', imageID: '' };
      return computed({ phase: 'Failed', containerStatuses: [main] }, {
        ...options,
        restoredStatus: undefined,
      } as unknown as StatusOptions);
    };
    const terminated = { terminated: { exitCode: 3, reason: 'Error', startedAt: null, finishedAt: null } };
    const waiting = { waiting: { reason: 'ContainerCreating' } };
    for (const each of [inState(terminated), inState(waiting), inState(terminated, { removed: true })]) {
      await report(ledger, each, false);
      acknowledge(ledger);
    }
    expect(saved.size).toBe(0);
  });
});
