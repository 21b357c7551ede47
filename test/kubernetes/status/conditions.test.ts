import { describe, expect, test } from '@jest/globals';
import type { PodCondition, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { podStatus } from '../../../kubernetes/status/status.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { backOff, ending, exited, NOW, podView, running, type ShownPod, sandbox, waiting } from '../views.ts';

const options = { now: NOW, hostIps: ['192.0.2.7'], runtimeName: 'containerd' };

/** Formats each condition as a line: type, status, reason, message. */
function lines(view: PodView, previous?: PodStatus): string[] {
  const { conditions = [] } = podStatus(view, previous ? { ...options, previous } : options);
  return conditions.map(({ type, status, reason = '-', message = '-' }) => `${type} ${status} ${reason} ${message}`);
}

function condition(view: PodView, type: string, previous?: PodStatus): PodCondition | undefined {
  const { conditions } = podStatus(view, previous ? { ...options, previous } : options);
  return conditions?.find((one) => one.type === type);
}

const network = { sandbox: sandbox('10.88.0.5') };
const gate = { readinessGates: [{ conditionType: 'example.com/lb' }] };
const withGate = (status: PodCondition['status']): PodStatus => ({ conditions: [{ type: 'example.com/lb', status }] });

describe('C15: the conditions of', () => {
  test('a healthy pod', () => {
    expect(lines(podView({ main: { a: running() }, view: network }))).toEqual([
      'PodReadyToStartContainers True - -',
      'Initialized True - -',
      'Ready True - -',
      'ContainersReady True - -',
      'PodScheduled True - -',
    ]);
  });

  test('a new pod', () => {
    const unready = 'ContainersNotReady containers with unready status: [a b]';
    expect(lines(podView({ init: { i: null, j: null }, main: { a: null, b: null } }))).toEqual([
      'PodReadyToStartContainers False - -',
      'Initialized False ContainersNotInitialized containers with incomplete status: [i j]',
      `Ready False ${unready}`,
      `ContainersReady False ${unready}`,
      'PodScheduled True - -',
    ]);
  });

  test('a pod that succeeded', () => {
    const view = podView({
      init: { i: exited(0) },
      main: { a: exited(0) },
      view: { hasEnded: true, isInitialized: true },
    });
    expect(lines(view)).toEqual([
      'PodReadyToStartContainers False - -',
      'Initialized True PodCompleted -',
      'Ready False PodCompleted -',
      'ContainersReady False PodCompleted -',
      'PodScheduled True - -',
    ]);
  });

  test('a pod that failed', () => {
    expect(lines(podView({ main: { a: exited(1) }, view: { hasEnded: true } })).slice(1, 4)).toEqual([
      'Initialized True - -',
      'Ready False PodFailed -',
      'ContainersReady False PodFailed -',
    ]);
  });
});

test('C2, C15: the conditions show the termination of a pod before its phase does', () => {
  const view = podView({ main: { a: exited(1) }, view: network });
  expect(podStatus(view, { ...options, previous: { phase: 'Running' } })).toMatchObject({ phase: 'Running' });
  expect(lines(view, { phase: 'Running' }).slice(0, 4)).toEqual([
    'PodReadyToStartContainers True - -',
    'Initialized True - -',
    'Ready False PodFailed -',
    'ContainersReady False PodFailed -',
  ]);
});

test('C15: the conditions show only unready containers for a pod that never ran', () => {
  const view = podView({ main: { a: waiting() }, view: { ...ending({ reason: 'Deleted' }), hasEnded: true } });
  expect(podStatus(view, options)).toMatchObject({ phase: 'Failed' });
  expect(condition(view, 'Ready')).toMatchObject({ reason: 'ContainersNotReady' });
});

describe('C15: the conditions reflect', () => {
  const following = (view: PodView) => lines(view, { phase: 'Running' }).filter((line) => /Ready |Init/.test(line));
  const byFailure = ['Initialized True - -', 'Ready False PodFailed -', 'ContainersReady False PodFailed -'];
  const healthy = ['Initialized True - -', 'Ready True - -', 'ContainersReady True - -'];

  test.each(['DeadlineExceeded', 'EndedElsewhere'] as const)(
    'the phase Failed of %s, even while the pod runs',
    (reason) => {
      const cause = ending({ reason, phase: 'Failed' });
      expect(following(podView({ main: { a: running() }, view: cause }))).toEqual(byFailure);
      const ended = podView({ main: { a: exited(0) }, view: { ...cause, hasEnded: true } });
      expect(podStatus(ended, { ...options, previous: { phase: 'Running' } }).phase).toBe('Failed');
      expect(following(ended)).toEqual(byFailure);
    },
  );

  test('the exits of a preempted pod, which succeeds if all codes are 0', () => {
    const preempted = ending({ reason: 'Preempting', message: 'm', phase: 'Failed', disruption: 'preempted' });
    expect(following(podView({ main: { a: running() }, view: preempted }))).toEqual(healthy);
    const succeeded = podView({ main: { a: exited(0) }, view: { ...preempted, hasEnded: true } });
    const status = podStatus(succeeded, { ...options, previous: { phase: 'Running' } });
    expect([status.phase, status.reason, status.message]).toEqual(['Succeeded', undefined, undefined]);
    expect(following(succeeded)).toEqual([
      'Initialized True PodCompleted -',
      'Ready False PodCompleted -',
      'ContainersReady False PodCompleted -',
    ]);
    expect(condition(succeeded, 'DisruptionTarget', { phase: 'Running' })).toMatchObject({ status: 'True' });
    const failed = podView({ main: { a: exited(143) }, view: { ...preempted, hasEnded: true } });
    expect(podStatus(failed, options)).toMatchObject({ phase: 'Failed', reason: 'Preempting', message: 'm' });
    expect(following(failed)).toEqual(byFailure);
  });
});

describe('C15: PodReadyToStartContainers', () => {
  const status = (view: Partial<ShownPod>, hostNetwork = false) =>
    condition(podView({ main: { a: null }, spec: { hostNetwork }, view }), 'PodReadyToStartContainers')?.status;

  test('requires a sandbox', () => expect(status({})).toBe('False'));
  test('requires an address of the sandbox', () => expect(status({ sandbox: sandbox() })).toBe('False'));
  test('is true with both', () => expect(status(network)).toBe('True'));
  test('requires no address on the host network', () => expect(status({ sandbox: sandbox() }, true)).toBe('True'));
  test('requires a ready sandbox', () =>
    expect(status({ sandbox: { ...sandbox('10.88.0.5'), state: 'notReady' } })).toBe('False'));
});

describe('C15: Initialized', () => {
  const status = (view: PodView) => {
    const { status: value, message = '' } = condition(view, 'Initialized') ?? {};
    return `${value} ${message}`;
  };

  test('names incomplete init containers', () => {
    const view = podView({ init: { i: exited(0), j: running(), k: waiting() }, main: { a: waiting() } });
    expect(status(view)).toBe('False containers with incomplete status: [j k]');
  });

  test('counts a sidecar as complete once it has started', () => {
    const cold = running({ started: false });
    expect(status(podView({ sidecars: { s: cold }, main: { a: waiting() } }))).toMatch(/^False .*\[s\]$/);
    expect(status(podView({ sidecars: { s: running() }, main: { a: waiting() } }))).toBe('True ');
  });

  test('remains true even while init containers run again in a new sandbox', () => {
    const view = podView({ init: { i: running() }, main: { a: backOff(1) } });
    const previous: PodStatus = { phase: 'Running', conditions: [{ type: 'Initialized', status: 'True' }] };
    expect(condition(view, 'Initialized', previous)).toMatchObject({ status: 'True' });
    expect(condition(view, 'Initialized', previous)).not.toHaveProperty('reason');
    expect(condition(view, 'Initialized', { phase: 'Running', conditions: [] })?.status).toBe('False');
  });

  test('remains true while a sidecar restarts beside a regular container', () => {
    expect(status(podView({ sidecars: { s: backOff(1) }, main: { a: running() } }))).toBe('True ');
  });
});

describe('C15: ContainersReady and Ready', () => {
  test('depend on sidecars, but not on init containers', () => {
    const view = podView({
      init: { i: exited(1) },
      sidecars: { s: running({ ready: false }) },
      main: { a: running() },
      view: { isInitialized: true },
    });
    expect(condition(view, 'ContainersReady')?.message).toBe('containers with unready status: [s]');
  });

  test('are false for a readiness gate without a condition', () => {
    const view = podView({ main: { a: running() }, spec: gate });
    expect(condition(view, 'ContainersReady')?.status).toBe('True');
    expect(condition(view, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ReadinessGatesNotReady',
      message: 'corresponding condition of pod readiness gate "example.com/lb" does not exist.',
    });
  });

  test('are false for a readiness gate that is False', () => {
    expect(condition(podView({ main: { a: running() }, spec: gate }), 'Ready', withGate('False'))).toMatchObject({
      status: 'False',
      message: 'the status of pod readiness gate "example.com/lb" is not "True", but False',
    });
  });

  test('are true for a readiness gate that is True', () => {
    const view = podView({ main: { a: running() }, spec: gate });
    expect(condition(view, 'Ready', withGate('True'))?.status).toBe('True');
  });

  test('report unready containers before readiness gates', () => {
    const view = podView({ main: { a: waiting() }, spec: gate });
    expect(condition(view, 'Ready')?.reason).toBe('ContainersNotReady');
  });

  test('remain true in a terminating pod as long as its containers are ready', () => {
    expect(condition(podView({ main: { a: running() }, view: ending() }), 'Ready')?.status).toBe('True');
  });
});

describe('each condition', () => {
  const before = '2026-05-01T00:00:00Z';
  const previous: PodStatus = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before }] };

  test('C15: has the generation of the pod', () => {
    const { conditions } = podStatus(podView({ main: { a: running() }, meta: { generation: 4 } }), options);
    expect(conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([4, 4, 4, 4, 4]);
  });

  test('retains its transition time while the status is the same', () => {
    expect(condition(podView({ main: { a: running() } }), 'Ready', previous)?.lastTransitionTime).toBe(before);
  });

  test('C14: has a new transition time, in whole seconds, when the status changes', () => {
    const changed = condition(podView({ main: { a: waiting() } }), 'Ready', previous);
    expect(changed).toMatchObject({ status: 'False', lastTransitionTime: '2026-05-04T12:02:56Z' });
  });

  test('C14: is unchanged if another component has set it', () => {
    const theirs: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
    const gate: PodCondition = { type: 'example.com/registered', status: 'False', message: 'not yet' };
    const { conditions } = podStatus(podView({ main: { a: running() } }), {
      ...options,
      previous: { conditions: [gate, theirs] },
    });
    expect(conditions?.slice(0, 2)).toEqual([gate, theirs]);
    expect(conditions).toHaveLength(7);
  });
});

describe('C15: DisruptionTarget', () => {
  const type = 'DisruptionTarget';
  const message = 'The node was low on resource: memory.';
  const evicted = ending({ reason: 'Evicted', phase: 'Failed', message, disruption: message });
  const ended = podView({ main: { a: exited(137) }, view: { ...evicted, hasEnded: true } });
  const theirs: PodCondition = {
    type,
    status: 'True',
    reason: 'PreemptionByScheduler',
    lastTransitionTime: '2026-05-01T00:00:00Z',
  };

  test('is set when the node terminates a pod, together with the terminal phase', () => {
    const ends = podView({ main: { a: running() }, view: evicted });
    expect(condition(ends, type, { phase: 'Running' })).toBeUndefined();
    expect(condition(ended, type, { phase: 'Running' })).toEqual({
      type,
      status: 'True',
      reason: 'TerminationByKubelet',
      message,
      lastTransitionTime: '2026-05-04T12:02:56Z',
    });
  });

  test('remains once it is set', () => {
    const first = podStatus(ended, { ...options, previous: { phase: 'Running' } });
    const later = podStatus(ended, { ...options, now: NOW + 60_000, previous: first });
    expect(later.conditions).toEqual(first.conditions);
    expect(later.conditions?.filter((one) => one.type === type)).toHaveLength(1);
  });

  test('replaces the condition of another component, with its transition time', () => {
    const conditions = podStatus(ended, {
      ...options,
      previous: { phase: 'Running', conditions: [theirs] },
    }).conditions;
    expect(conditions?.filter((one) => one.type === type)).toEqual([
      { ...theirs, reason: 'TerminationByKubelet', message },
    ]);
  });

  test('is not set for other causes', () => {
    for (const more of [{}, { reason: 'DeadlineExceeded', phase: 'Failed' }] as const) {
      const view = podView({ main: { a: exited(137) }, view: { ...ending(more), hasEnded: true } });
      expect(condition(view, type, { phase: 'Running' })).toBeUndefined();
    }
  });
});

test('C15: conditions without history, e.g. after a restart of the agent, have times derived from the start times of containers', () => {
  const startedAt = NOW - 60_000;
  const ready = (ms: number) => running({ now: { kind: 'running', startedAt: NOW - ms } });
  const view = podView({ main: { a: ready(50_000), b: ready(40_000) }, view: { ...network, startedAt } });
  const time = (type: string) => condition(view, type)?.lastTransitionTime;
  expect(time('Initialized')).toBe('2026-05-04T12:01:56Z');
  expect(time('Ready')).toBe('2026-05-04T12:02:16Z');
  expect(time('ContainersReady')).toBe('2026-05-04T12:02:16Z');
});
