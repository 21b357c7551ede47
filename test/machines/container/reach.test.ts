import { describe, expect, test } from '@jest/globals';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { containerMachine } from '../../../machines/container/chart.ts';
import { hasWrongSize, identityOf } from '../../../machines/container/context.ts';
import type { ContainerEvent } from '../../../machines/shared/events/events.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import {
  asking,
  atomicStates,
  doneEvent,
  failedEvent,
  invokedBy,
  isPassing,
  leadTo,
  leavesOf,
  type Outputs,
  type Reach,
  stepsOf,
} from '../support/reach.ts';

const hook = { exec: { command: ['true'] } };
const podOf = (restartPolicy: 'Always' | 'Never', image = 'busybox:1') =>
  aPod({
    restartPolicy,
    containers: [
      aContainer({
        image,
        lifecycle: { postStart: hook, preStop: hook },
        // A container that runs only once has a startup probe, so that the walk includes waiting for it.
        ...(restartPolicy === 'Never' ? { startupProbe: hook } : { livenessProbe: hook }),
      }),
    ],
  });
const update = (pod: Pod): ContainerEvent => ({ type: 'container.update', pod, volumes: {} });
const world = new FakeWorld(() => 0);
const sandbox = world.sandbox(podOf('Always'));
const runs = world.run(podOf('Always'), 'main', { startedAt: 1 });
const ended = { ...runs, state: 'exited', exitCode: 1, startedAt: 1, finishedAt: 2 } as const;
const succeeded = { ...ended, exitCode: 0 };

const outputs: Outputs = {
  image: () => [{ imageRef: 'sha256:1' }],
  countRestarts: () => [{ restarts: {} }, { restarts: { main: 3 } }],
  prepareDevices: () => [
    { areDevicesMissing: false, at: 1 },
    { areDevicesMissing: true, at: 1 },
  ],
  readObjects: () => [null],
  createContainer: () => [{ id: runs.id }],
  startContainer: () => [runs, ended, { ...runs, state: 'unknown' }],
  stopContainer: () => [ended, null],
  removeContainers: () => [null],
  inspectContainer: () => [runs, succeeded, { ...runs, state: 'created' }, { ...runs, state: 'unknown' }, null],
  runHook: () => [
    { deadline: 30_000, failure: null },
    { deadline: 30_000, failure: { reason: 'FailedPreStopHook', message: 'no', at: 1 } },
  ],
};

/** Events from outside that can occur at any time and repeatedly. */
const events: ContainerEvent[] = [
  { type: 'container.start' },
  { type: 'container.launch' },
  { type: 'container.stop' },
  { type: 'container.stop', deadline: 30_000 },
  { type: 'container.stop', deadline: 5_000 },
  update(podOf('Always')),
  update(podOf('Always', 'busybox:2')),
  { type: 'sandbox.ready', sandbox },
  { type: 'sandbox.lost' },
  { type: 'sandbox.lost', readySandbox: sandbox },
  { type: 'runtime.containerObserved', id: runs.id, container: runs },
  { type: 'runtime.containerObserved', id: runs.id, container: ended },
  { type: 'runtime.containerObserved', id: runs.id, container: null },
  { type: 'runtime.containerObserved', id: 'another', container: { ...ended, id: 'another' } },
  { type: 'runtime.returned' },
  { type: 'container.objectsChanged' },
  { type: 'container.resized', id: runs.id, size: { cpuRequest: 1, cpuLimit: 1, memoryLimit: 1 } },
  { type: 'probe.succeeded', kind: 'startup', id: runs.id, at: 1 },
  { type: 'probe.failed', kind: 'startup', id: runs.id, at: 1, output: 'no' },
  { type: 'probe.failed', kind: 'readiness', id: runs.id, at: 1, output: 'no' },
  { type: 'image.changed', isDelayed: false, delayMs: 0, failure: undefined, waitingReason: undefined },
  { type: 'slot.granted', key: 'key' },
  { type: 'timer.elapsed' },
];

/** Events that occur while the pod stops its containers in order, or removes this one and keeps running. */
const endings: ContainerEvent[] = [
  { type: 'slot.granted', key: 'key' },
  { type: 'container.start' },
  { type: 'container.launch' },
  { type: 'sandbox.ready', sandbox },
  { type: 'container.stop', deadline: 30_000, awaitsOtherContainers: true },
  { type: 'container.stop', deadline: 5_000, awaitsOtherContainers: true },
  { type: 'container.stop', deadline: 30_000 },
  { type: 'container.stop', removesContainer: true },
  { type: 'runtime.containerObserved', id: runs.id, container: ended },
  { type: 'runtime.returned' },
  { type: 'timer.elapsed' },
];

/** Events that occur while a restart rule may restart the whole pod in place. */
const resets: ContainerEvent[] = [
  { type: 'slot.granted', key: 'key' },
  { type: 'container.start' },
  { type: 'container.launch' },
  { type: 'sandbox.ready', sandbox },
  { type: 'container.reset' },
  { type: 'container.stop', deadline: 30_000 },
  { type: 'runtime.containerObserved', id: runs.id, container: ended },
  { type: 'timer.elapsed' },
];

const sized = (cpu: string, more: Partial<Container> = {}): Pod => {
  const pod = podOf('Always');
  const containers = pod.spec.containers.map((each) => ({ ...each, resources: { limits: { cpu } }, ...more }));
  return { ...pod, spec: { ...pod.spec, containers } };
};

/** Events that can occur in all of the following situations. */
const always: readonly ContainerEvent[] = [
  { type: 'slot.granted', key: 'key' },
  { type: 'container.start' },
  { type: 'container.launch' },
  { type: 'sandbox.ready', sandbox },
  { type: 'sandbox.lost' },
  { type: 'container.reset' },
  { type: 'container.stop', deadline: 30_000 },
];

/** Events that occur during a resize. */
const resizes: ContainerEvent[] = [
  ...always,
  update(sized('1')),
  update(sized('2')),
  update(sized('2', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })),
  { type: 'runtime.containerObserved', id: runs.id, container: ended },
  { type: 'runtime.containerObserved', id: runs.id, container: null },
  { type: 'runtime.returned' },
  { type: 'probe.failed', kind: 'liveness', id: runs.id, at: 1, output: 'no' },
  { type: 'timer.elapsed' },
];

const there = { site: { kind: 'image' as const, imageRef: 'sha256:site' } };
const withVolume = (image?: string): Pod => {
  const pod = podOf('Always', image);
  const volumeMounts = [{ name: 'site', mountPath: '/site' }];
  const containers = pod.spec.containers.map((each) => ({ ...each, volumeMounts }));
  return { ...pod, spec: { ...pod.spec, containers, volumes: [{ name: 'site', image: { reference: 'site:1' } }] } };
};

/** Events that occur while a mounted volume may not be available yet. */
const lateVolumes: ContainerEvent[] = [
  ...always,
  { type: 'container.update', pod: withVolume(), volumes: there },
  { type: 'container.update', pod: withVolume('busybox:2'), volumes: {} },
  { type: 'runtime.containerObserved', id: runs.id, container: ended },
  { type: 'timer.elapsed' },
];

const withVariables = (image?: string): Pod => {
  const pod = podOf('Always', image);
  const containers = pod.spec.containers.map((each) => ({ ...each, envFrom: [{ secretRef: { name: 'key' } }] }));
  return { ...pod, spec: { ...pod.spec, containers } };
};

const withDevices = (): Pod => {
  const pod = podOf('Never');
  const containers = pod.spec.containers.map((each) => ({
    ...each,
    resources: { limits: { 'example.com/gpu': '1' } },
  }));
  return { ...pod, spec: { ...pod.spec, containers } };
};

const reallocations: ContainerEvent[] = [
  ...always,
  { type: 'container.devicesAllocated' },
  {
    type: 'container.devicesRefused',
    error: { reason: 'CreateContainerConfigError', message: 'none left', at: 1 },
  },
  { type: 'timer.elapsed' },
];

/** Events that occur while the objects behind environment variables may be missing. */
const changingObjects: ContainerEvent[] = [
  ...always,
  { type: 'container.objectsChanged' },
  update(withVariables('busybox:2')),
  { type: 'runtime.returned' },
  { type: 'timer.elapsed' },
];

/** Returns a permanent failure of the current read of objects, which is not retried. */
const permanentFailures = (snapshot: AnyMachineSnapshot): AnyEventObject[] =>
  invokedBy(snapshot)
    .filter(({ src }) => src === 'readObjects')
    .map(({ id }) => ({
      ...failedEvent(id, 'CreateContainerConfigError'),
      error: { reason: 'CreateContainerConfigError', message: 'too large', at: 0, isPermanent: true },
    }));

const ruled = (pod: Pod): Pod => {
  const exitCodes = { operator: 'In' as const, values: [1] };
  const restartPolicyRules = [{ action: 'RestartAllContainers' as const, exitCodes }];
  const containers = pod.spec.containers.map((each) => ({ ...each, restartPolicyRules }));
  return { ...pod, spec: { ...pod.spec, containers } };
};

/**
 * Returns the parts of the context that affect later steps. If the container must stop, only those that affect its stop
 * matter.
 */
function distinguish(snapshot: AnyMachineSnapshot) {
  const { context } = snapshot;
  const {
    hasTurn,
    sandbox: present,
    id,
    createdIdentity,
    run,
    exitReaction: afterExit,
    stopCause,
    stopBy,
    startupPassedId,
    crashDelayMs,
    failure,
  } = context;
  const { awaitsOtherContainers: awaitsOthers, removesContainer } = context;
  const wasExitObserved = id !== undefined && id === run?.containerId;
  const isAway = failure?.reason === 'RuntimeUnavailable';
  const ending = [id !== undefined, afterExit, stopBy, awaitsOthers, removesContainer, wasExitObserved, isAway];
  if (afterExit === 'stop') return ending;
  const isOutdated = createdIdentity !== undefined && createdIdentity !== identityOf(context);
  // In all other states, the machine reacts to a lost sandbox immediately.
  const lost = snapshot.matches('adopting') ? context.lostSandbox : undefined;
  const lacksVolumes = Object.keys(context.volumes).length === 0;
  const parts = [
    afterExit === 'byPolicy' && stopCause !== undefined,
    lost,
    lacksVolumes,
    hasTurn,
    present !== undefined,
    createdIdentity !== undefined,
    run?.exitCode,
    startupPassedId !== undefined,
  ];
  return [...ending, ...parts, isOutdated, (crashDelayMs ?? 0) > 0, hasWrongSize(context)];
}

function reachOf(
  restartPolicy: 'Always' | 'Never',
  adopted: boolean,
  incoming = events,
  pod = podOf(restartPolicy),
): Reach {
  const role = 'regular' as const;
  return {
    machine: containerMachine,
    input: {
      role,
      name: 'main',
      arrivalOrder: 1,
      volumes: {},
      sandbox: undefined,
      pod,
      crashLoop: { baseMs: 10_000, maxMs: 300_000 },
      observed: adopted ? [runs] : [],
    },
    events: () => incoming,
    outputs,
    distinguish,
  };
}

/** Actors that only a container that is supposed to run invokes. */
const MAKES = ['image', 'prepareDevices', 'readObjects', 'createContainer', 'startContainer'];

/**
 * Returns a function that picks the next event of a world in which everything works. If `failing`, each port fails once
 * before it succeeds.
 */
function obliging(failing: boolean): (snapshot: AnyMachineSnapshot) => AnyEventObject {
  const failed = new Set<string>();
  return (snapshot) => {
    const [invoked] = invokedBy(snapshot);
    if (snapshot.matches({ running: 'startingUp' })) {
      return { type: 'probe.succeeded', kind: 'startup', id: snapshot.context.id, at: 1 };
    }
    if (snapshot.hasTag('awaitingVolumes')) return { ...update(snapshot.context.pod), volumes: there };
    if (snapshot.matches({ ended: 'awaitingReset' })) return { type: 'container.reset' };
    if (snapshot.matches({ pending: 'waiting' })) return { type: 'container.start' };
    if (snapshot.hasTag('readyToCreate')) return { type: 'container.launch' };
    if (snapshot.matches({ launching: 'awaitingDevices' })) return { type: 'container.devicesAllocated' };
    if (snapshot.matches({ launching: 'awaitingChange' })) return { type: 'container.objectsChanged' };
    if (invoked === undefined) return { type: 'slot.granted', key: 'key' };
    if (invoked.src === 'timer') return { type: 'timer.elapsed' };
    if (!failing || invoked.src === 'image' || failed.has(invoked.src))
      return doneEvent(invoked.id, outputs[invoked.src]?.(snapshot)[0]);
    failed.add(invoked.src);
    return failedEvent(invoked.id, 'RuntimeUnavailable');
  };
}

const kinds = {
  'a new container': reachOf('Always', false),
  'a new container that runs once': reachOf('Never', false),
  'an adopted container': reachOf('Always', true),
  'a container that stops in order or is removed': reachOf('Never', false, endings),
  'a container that is resized': reachOf('Always', true, resizes, sized('1')),
  'a container whose volume is mounted late': reachOf('Always', false, lateVolumes, withVolume()),
  'a container whose variables refer to objects': {
    ...reachOf('Always', false, changingObjects, withVariables()),
    events: (snapshot: AnyMachineSnapshot) => [...changingObjects, ...permanentFailures(snapshot)],
  },
  'a container with devices': reachOf('Never', false, reallocations, withDevices()),
  'a container that restarts with its whole pod': reachOf('Never', false, resets, ruled(podOf('Never'))),
};
const walks = Object.entries(kinds).map(([kind, reach]) => [kind, stepsOf(reach)] as const);
const { ask } = asking(containerMachine, kinds['a new container'].input);

describe.each(walks)('%s, in any order of events', (_, steps) => {
  const states = [...new Set(steps.map(({ state }) => state))];

  test('never fails, and accepts every event in every state', () => {
    expect(states.length).toBeGreaterThan(80);
    expect(new Set(steps.map(({ nextState }) => nextState.status))).toEqual(new Set(['active']));
  });

  test.each([false, true])('can be stopped in every state (each port failing once: %s)', (failing) => {
    const stuck = states.flatMap((state) => {
      const stopped = ask(state, { type: 'container.stop', deadline: 30_000 });
      const goals = [state.context.removesContainer ? 'removed' : 'stopped'];
      const path = leadTo(ask, stopped, { goals, next: obliging(failing) });
      return goals.includes(path.at(-1) ?? '') ? [] : [[statePath(state.value), ...path]];
    });
    expect(stuck).toEqual([]);
  });

  test('reaches a run, or the rest that its policy requires, after its turn in every other state', () => {
    const rests = ['running.steady', 'ended.succeeded', 'ended.failed'];
    const next = obliging(true);
    const stuck = states.flatMap((state) => {
      if (state.context.exitReaction === 'stop') return [];
      const turned = [{ type: 'sandbox.ready', sandbox }, { type: 'container.start' }] as const;
      const begun = turned.reduce<AnyMachineSnapshot>(ask, state);
      const path = leadTo(ask, begun, { goals: rests, next });
      return rests.includes(path.at(-1) ?? '') ? [] : [[statePath(state.value), ...path]];
    });
    expect(stuck).toEqual([]);
  });

  test('C10: never starts after a stop, and its deadline never moves later', () => {
    const wrong = steps.filter(({ state, nextState }) => {
      const [before, after] = [state.context, nextState.context];
      if (before.exitReaction !== 'stop') return false;
      const begins = invokedBy(nextState).some(({ id, src }) => {
        return MAKES.includes(src) && !invokedBy(state).some((earlier) => earlier.id === id);
      });
      const hasEnded = after.run?.containerId === after.id;
      const isLater = before.stopBy !== undefined && (after.stopBy ?? Infinity) > before.stopBy;
      return begins || after.exitReaction !== 'stop' || (isLater && !hasEnded);
    });
    expect(wrong.map(({ state, event, nextState }) => [state.value, event.type, nextState.value])).toEqual([]);
  });

  test('knows the deadline of every wait that has one', () => {
    const blind = states.filter(
      (state) => leavesOf(state).some(({ meta }) => meta?.until === 'retryAt') && !state.context.retryAt,
    );
    expect(blind.map(({ value }) => value)).toEqual([]);
  });
});

test('every state of the chart is reached', () => {
  const reached = new Set(walks.flatMap(([, steps]) => steps.flatMap(({ nextState }) => leavesOf(nextState))));
  const missed = atomicStates(containerMachine).filter(
    (node) => !reached.has(node) && !isPassing(node) && node.type !== 'final',
  );
  expect(missed.map(({ path }) => path.join('.'))).toEqual([]);
});
