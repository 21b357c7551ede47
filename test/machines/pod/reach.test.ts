import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateNode, fromTransition } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { podMachine } from '../../../machines/pod/chart.ts';
import { deadlineOf } from '../../../machines/pod/termination.ts';
import type { ContainerLifecycle, PodEvent } from '../../../machines/shared/events/events.ts';
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
  leavesOf,
  memoizedLeadTo,
  type Outputs,
  type Reach,
  type Step,
  stepsOf,
  type World,
} from '../support/reach.ts';

/** A pod whose reachable states are explored, with the events that can occur. */
interface Walked {
  readonly pod: Pod;
  readonly edits: readonly Pod[];
  /** Lifecycles that its containers can report, by container name. */
  readonly lifecycles: Readonly<Record<string, readonly ContainerLifecycle[]>>;
  /** Whether the network of the runtime can fail and recover. */
  readonly losesNetwork?: boolean;
}

const volumes = [{ name: 'data', emptyDir: {} }];
const plain: Walked = {
  pod: aPod({ volumes, initContainers: [aContainer({ name: 'setup' })] }),
  edits: [],
  lifecycles: {
    setup: ['running', 'succeeded', 'failed', 'stopped'],
    main: ['pending', 'running', 'succeeded', 'restartsAll', 'stopped'],
  },
};
const edited: Walked = {
  pod: aPod(),
  edits: [aPod({ volumes, containers: [aContainer({ name: 'late' })] })],
  lifecycles: { main: ['running', 'failed', 'stopped'], late: ['running', 'stopped'] },
};

const sized = (cpu: string): Pod =>
  aPod({ initContainers: [aContainer({ name: 'setup', resources: { limits: { cpu } } })] });
const resized: Walked = {
  pod: sized('1'),
  edits: [sized('2')],
  lifecycles: { main: ['running', 'restartsAll', 'stopped'], setup: ['running', 'succeeded', 'stopped'] },
};

const several: Walked = {
  pod: aPod({ containers: [aContainer({ name: 'first' }), aContainer({ name: 'second' })] }),
  edits: [],
  lifecycles: {
    first: ['coming', 'readyToCreate', 'delayed', 'running', 'stopped'],
    second: ['coming', 'readyToCreate', 'running', 'stopped'],
  },
};

const once: Walked = { ...edited, pod: aPod({ restartPolicy: 'Never' }), edits: [] };
const online: Walked = { ...once, losesNetwork: true };
const claiming: Walked = {
  ...once,
  pod: aPod({ restartPolicy: 'Never', resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }),
};

const world = new FakeWorld(() => 0);
const sandbox = world.sandbox(plain.pod);
world.run(plain.pod, 'setup', { id: 'setup' });
const main = world.run(plain.pod, 'main', { id: 'main' });
const all = world.observed(plain.pod);
const nothing: ObservedPod = { ...all, sandboxes: [], containers: [] };
const lost: ObservedPod = { ...all, sandboxes: [{ ...sandbox, state: 'notReady' }] };

const outputs: Outputs = {
  countRestarts: () => [{ restarts: {} }, { restarts: { main: 3 } }],
  preparePod: () => [null],
  prepareCgroup: () => [null],
  resizePod: ({ context }) => [{ pod: context.allocated, resized: [] }],
  removeCgroup: () => [null],
  removePodData: () => [null],
  prepareClaims: () => [null],
  unprepareClaims: () => [null],
  runSandbox: () => [
    { ...sandbox, madeAt: 0 },
    { ...sandbox, madeAt: 0, ips: [] },
  ],
  inspectSandbox: () => [sandbox, { ...sandbox, state: 'notReady' }, null],
  stopSandboxes: () => [null],
  removeSandboxes: () => [null],
  restartRuntime: () => [null],
  pickTime: () => [{ at: 1 }],
};

const networkReturns: PodEvent = { type: 'runtime.networkChanged' };
const networkGoes: PodEvent = { ...networkReturns, networkNotReady: { message: 'no plugin', since: 0 } };

const termination = (graceSeconds: number) => ({ reason: 'Removed' as const, graceSeconds, at: 1_000 });
const fault = { type: 'xstate.error.actor.container/main', error: new Error('a mistake'), actorId: 'container/main' };

/** Returns the events that can come from outside or from the children that the pod currently has. */
const eventsOf =
  ({ edits, lifecycles, losesNetwork = false }: Walked) =>
  (snapshot: AnyMachineSnapshot): AnyEventObject[] => {
    const { context, value } = snapshot;
    const external: PodEvent[] = [
      { type: 'admission.admitted', pod: context.requestedPod },
      { type: 'admission.refused', reason: 'OutOfcpu', message: '' },
      { type: 'pod.terminate', termination: termination(30) },
      ...(value.terminating ? [{ type: 'pod.terminate' as const, termination: termination(5) }] : []),
      ...[all, nothing, lost].map((observed) => ({ type: 'runtime.podObserved' as const, pod: observed })),
      { type: 'runtime.containerSeen', container: main },
      { type: 'pod.deadlineExceeded', deadline: 0, at: 0 },
      { type: 'runtime.returned' },
      { type: 'slot.granted', key: 'key' },
      { type: 'timer.elapsed' },
      { type: 'pod.driversChanged' },
      ...(losesNetwork ? [networkReturns, networkGoes] : []),
      { type: 'pod.metadataChanged', metadata: context.desired.metadata },
      { type: 'pod.conditionsChanged', conditions: [] },
      ...edits.map((pod) => ({ type: 'pod.update' as const, pod })),
    ];
    const containers = Object.keys(context.containers).flatMap((name) =>
      (lifecycles[name] ?? []).map((lifecycle) => ({ type: 'container.changed' as const, name, lifecycle })),
    );
    const lifecycle = value.terminating ? 'unmounted' : 'mounted';
    const mounts = Object.keys(context.volumes).map((name) => {
      return {
        type: 'volume.changed' as const,
        name,
        lifecycle,
        mountedVolume: { kind: 'path' as const, hostPath: '/data' },
      };
    });
    const removal = invokedBy(snapshot).filter(({ src }) => src === 'removeSandboxes');
    const lostTasks = removal.map(({ id }) => failedEvent(id, 'TaskLost'));
    return [...external, fault, ...containers, ...mounts, ...lostTasks];
  };

/**
 * Returns the parts of the context that affect later steps. In an early phase this includes the runtime's observations,
 * and in a late one only what remains to be removed.
 */
const distinguisherOf =
  ({ edits }: Walked) =>
  ({ context, status, value }: AnyMachineSnapshot) => {
    const { volumes: mounts, containers, launchRound, sandbox: present, termination: end, failure, observed } = context;
    if (status !== 'active') return [];
    const isAway = statePath(value).includes('awaiting') && failure?.reason === 'RuntimeUnavailable';
    if (typeof value.terminating === 'string') return [isAway, present !== undefined, context.lostTaskCount === 1];
    const editOf = ({ spec }: Pod) => edits.findIndex((each) => each.spec === spec);
    const pods = [editOf(context.desired), editOf(context.allocated)];
    const isEarly = !value.active && !value.resetting && !value.terminating;
    const early = isEarly
      ? [observed.sandboxes[0]?.state, mounts.data?.lifecycle, context.networkNotReady?.message]
      : [];
    return [...early, isAway, containers, present !== undefined, launchRound, end?.graceSeconds, pods];
  };

/** Stands in for the children. The walks generate the events of children themselves. */
const silent = fromTransition(() => null, null);
// Safe cast: any logic can stand in, because no event of it is used.
const walkedMachine = podMachine.provide({ actors: { container: silent as never, volume: silent as never } });

function reachOf(walked: Walked, observed: ObservedPod, hasLogs = false): Reach {
  return {
    machine: walkedMachine,
    input: { pod: walked.pod, observed, arrivalOrder: 1, spawnedAt: 0, hasLogs, crashLoop: { baseMs: 1, maxMs: 1 } },
    events: eventsOf(walked),
    outputs,
    distinguish: distinguisherOf(walked),
  };
}

/**
 * Returns a function that picks the next event of a world in which everything works. If `failing`, each port fails once
 * before it succeeds.
 */
function obliging(failing: boolean): World {
  const failed = new Set<string>();
  const next = (snapshot: AnyMachineSnapshot): AnyEventObject => {
    const [invoked] = invokedBy(snapshot);
    if (invoked === undefined) return childrenSay(snapshot);
    if (snapshot.context.networkNotReady) return networkReturns;
    if (invoked.src === 'timer') return { type: 'timer.elapsed' };
    if (!failing || failed.has(invoked.src)) return doneEvent(invoked.id, outputs[invoked.src]?.(snapshot)[0]);
    failed.add(invoked.src);
    return failedEvent(invoked.id, 'RuntimeUnavailable');
  };
  return { next, memory: () => [...failed].sort().join() };
}

/** Returns the next event of the limiter, of admission or of a child while no port is invoked. */
function childrenSay({ context, value }: AnyMachineSnapshot): AnyEventObject {
  const where = statePath(value);
  if (where === 'awaitingOtherAgent') return { type: 'runtime.podObserved', pod: nothing };
  if (where === 'admitting') return { type: 'admission.admitted', pod: context.requestedPod };
  if (where.endsWith('queued')) return { type: 'slot.granted', key: 'key' };
  const lifecycle = where === 'terminating.unmountingVolumes' ? 'unmounted' : 'mounted';
  if (where.endsWith('Volumes'))
    return { type: 'volume.changed', name: 'data', mountedVolume: { kind: 'path', hostPath: '/data' }, lifecycle };
  const lifecycleByState = {
    'active.initializing.steady': 'succeeded',
    'active.restartingAll': 'pending',
    'resetting.draining': 'pending',
    'terminating.stoppingContainers.graceful': 'stopped',
    'terminating.stoppingContainers.overdue': 'stopped',
  };
  const nextLifecycle = lifecycleByState[where as keyof typeof lifecycleByState] ?? 'succeeded';
  const silent = Object.keys(context.containers).find((name) => context.containers[name] !== nextLifecycle);
  return { type: 'container.changed', name: silent, lifecycle: nextLifecycle };
}

const kinds = {
  'a pod with an init container': reachOf(plain, nothing),
  'a pod that is edited': reachOf(edited, nothing),
  'a pod of two containers': reachOf(several, nothing),
  'a pod that is resized': reachOf(resized, nothing),
  'a pod whose network fails and recovers': reachOf(online, nothing),
  'a pod with resource claims': reachOf(claiming, nothing),
  'a pod that had terminated': reachOf(once, { ...lost, containers: [{ ...main, state: 'exited', exitCode: 0 }] }),
  'a pod of which only logs are left': reachOf(once, nothing, true),
  'a pod that another agent runs': reachOf(once, {
    ...nothing,
    foreignSandboxes: [{ ...sandbox, owner: '/other@node' }],
  }),
};
const { ask } = asking(walkedMachine, kinds['a pod with an init container'].input);

/** The innermost states that each kind has reached. */
const reachedBy = new Map<Reach, ReadonlySet<AnyStateNode>>();

function walk(reach: Reach): readonly Step[] {
  const steps = stepsOf(reach);
  reachedBy.set(reach, new Set(steps.flatMap(({ nextState }) => leavesOf(nextState))));
  return steps;
}

describe.each(Object.entries(kinds))('%s, in any order of events', (_, reach) => {
  // Holds the steps of one kind at a time, because those of all kinds would fill the heap.
  let steps: readonly Step[] = [];
  let states: readonly AnyMachineSnapshot[] = [];
  beforeAll(() => {
    steps = walk(reach);
    states = [...new Set(steps.map(({ state }) => state))];
  });
  afterAll(() => {
    steps = [];
    states = [];
  });

  test('never fails, and accepts every event in every state', () => {
    expect(states.length).toBeGreaterThan(100);
    expect(new Set(steps.map(({ nextState }) => nextState.status))).toEqual(new Set(['active', 'done']));
  });

  test.each([false, true])('can be terminated in every state (each port failing once: %s)', (failing) => {
    const lead = memoizedLeadTo(ask, { goals: ['terminated'], world: () => obliging(failing) });
    const stuck = states.flatMap((state) => {
      const ending = ask(state, { type: 'pod.terminate', termination: termination(30) });
      const path = lead(ending);
      return path.at(-1) === 'terminated' ? [] : [[statePath(state.value), ...path]];
    });
    expect(stuck).toEqual([]);
  });

  test('reaches a run, or the rest that its policy requires, from every other state', () => {
    const rests = ['active.running.steady', 'finished'];
    const lead = memoizedLeadTo(ask, { goals: rests, world: () => obliging(true) });
    const stuck = states.flatMap((state) => {
      if (state.matches('refused') || (state.context.termination && !state.matches('finished'))) return [];
      const path = lead(state);
      return rests.includes(path.at(-1) ?? '') ? [] : [[statePath(state.value), ...path]];
    });
    expect(stuck).toEqual([]);
  });

  test('C10: its deadline only moves earlier once it must terminate', () => {
    const later = steps.filter(({ state, nextState }) => {
      const [before, after] = [state.context.termination, nextState.context.termination];
      if (before === undefined || before.reason === 'Completed') return false;
      return after === undefined || deadlineOf(after) > deadlineOf(before);
    });
    expect(later.map(({ state, event }) => [state.value, event.type])).toEqual([]);
  });

  test('C9: at most one of its containers is launched at a time', () => {
    const isLaunching = (lifecycle: unknown) => lifecycle === 'launching';
    const wrong = states.filter(({ context }) => Object.values(context.containers).filter(isLaunching).length > 1);
    expect(wrong.map(({ value }) => value)).toEqual([]);
  });

  test('C2: creates nothing once it must terminate', () => {
    const made = steps.filter(({ state, nextState }) => {
      const asks = (snapshot: AnyMachineSnapshot) => invokedBy(snapshot).some(({ src }) => src === 'runSandbox');
      return state.context.termination !== undefined && asks(nextState) && !asks(state);
    });
    expect(made.map(({ state, event }) => [state.value, event.type])).toEqual([]);
  });
});

test('every state of the chart is reached', () => {
  for (const reach of Object.values(kinds)) if (!reachedBy.has(reach)) walk(reach);
  const reached = new Set([...reachedBy.values()].flatMap((leaves) => [...leaves]));
  const missed = atomicStates(walkedMachine).filter((node) => !reached.has(node) && !isPassing(node));
  // Only a pod with more containers and volumes than those of the walks stays in it (commands.test.ts).
  expect(missed.map(({ path }) => path.join('.'))).toEqual(['terminating.stoppingActors']);
});
