import { describe, expect, test } from '@jest/globals';
import type { AnyMachineSnapshot } from 'xstate';
import type { Probe } from '../../../kubernetes/api/schema/container.ts';
import { probeMachine } from '../../../machines/probe/chart.ts';
import type { ProbeInput } from '../../../machines/probe/context.ts';
import type { ProbeFact } from '../../../machines/shared/events/events.ts';
import { type ProbeResult, provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { atomicStates, isPassing, leavesOf, stepsOf } from '../support/reach.ts';
import { childOf, ear, START } from '../support/stand.ts';

const exec = { command: ['check'] };
const FIELDS = { startup: 'startupProbe', liveness: 'livenessProbe', readiness: 'readinessProbe' } as const;
type Over = Partial<Pick<ProbeInput, 'kind' | 'passed' | 'adopted' | 'startedAt'>> & {
  readonly probe?: Probe;
  /** Whether the test responds to `pickTime`, the choice of the first attempt's time. */
  readonly holds?: boolean;
};

function inputOf({ kind = 'readiness', probe = {}, holds: _, ...over }: Over): ProbeInput {
  const pod = aPod({ containers: [aContainer({ [FIELDS[kind]]: { exec, periodSeconds: 10, ...probe } })] });
  const run = { name: 'main', role: 'regular', id: 'c1', startedAt: START, podIp: '10.0.0.9' } as const;
  return { pod, kind, ...run, passed: false, adopted: false, ...over };
}

/** Creates a probe. The test responds to its attempts. */
function probeStory(over: Over = {}) {
  const ports: FakePorts = new FakePorts(START, new FakeWorld(() => ports.now).answers);
  ports.hold('runProbe');
  if (over.holds) ports.hold('pickTime');
  const parent = ear<ProbeFact>();
  const actor = childOf(parent.ref, provideActors(probeMachine, ports), { id: 'probe', input: inputOf(over) });
  const events: string[] = [];
  actor.on('event.recorded', ({ eventType, reason, message }) => void events.push(`${eventType} ${reason} ${message}`));
  actor.start();
  return {
    ports,
    events,
    state: () => statePath(actor.getSnapshot().value),
    /** Lets the next attempt start when it is due, take `tookMs`, and return `result`. */
    tries: (result: ProbeResult['result'], tookMs = 0) => {
      ports.advance(ports.untilNext ?? 0);
      const startedAt = ports.now;
      ports.advance(tookMs);
      ports.answer('runProbe', { result, message: 'it says', startedAt, at: ports.now });
    },
    facts: () => parent.heard().map(({ type, kind, at }) => `${kind} ${type} ${at - START}`),
  };
}

describe('the attempts of a probe', () => {
  test('start after its initial delay, then one period after the start of the previous one', () => {
    const story = probeStory({ probe: { initialDelaySeconds: 5 } });
    expect([story.state(), story.ports.untilNext]).toEqual(['failing.waiting', 5_000]);
    story.tries('failure', 300);
    expect(story.ports.untilNext).toBe(9_700);
    expect(story.ports.asked('runProbe')).toMatchObject([{ container: 'main', kind: 'readiness', id: 'c1' }]);
  });

  test('follow at once after one that took longer than a period', () => {
    const story = probeStory();
    story.tries('failure', 12_000);
    expect(story.ports.untilNext).toBe(0);
  });

  test('are not delayed further, although the clock was set back since the run started, or during an attempt', () => {
    const HOUR = 3_600_000;
    const story = probeStory({ probe: { initialDelaySeconds: 5 }, startedAt: START + HOUR });
    expect(story.ports.untilNext).toBe(5_000);
    story.ports.advance(5_000);
    const startedAt = story.ports.now;
    story.ports.setClock(-HOUR);
    story.ports.answer('runProbe', { result: 'failure', message: 'it says', startedAt, at: story.ports.now });
    expect(story.ports.untilNext).toBe(10_000);
    story.ports.advance(10_000);
    story.ports.setClock(-HOUR);
    story.ports.fail('runProbe', 'InternalError');
    expect(story.ports.untilNext).toBe(10_000);
    const adopted = probeStory({ adopted: true, startedAt: START + HOUR });
    expect(adopted.ports.untilNext).toBe(10_000);
  });

  test('C29: start after a random delay within a period if the run started before the agent', () => {
    const story = probeStory({ adopted: true, passed: true });
    expect([story.state(), story.ports.untilNext]).toEqual(['passing.waiting', 5_000]);
    expect(story.ports.asked('pickTime')).toEqual([{ withinMs: 10_000 }]);
  });

  test('C29: retain the previous result while the delay is chosen, and if it cannot be', () => {
    const begins = (over: Over) => {
      const story = probeStory({ adopted: true, ...over, holds: true });
      const before = story.state();
      story.ports.fail('pickTime', 'InternalError');
      return [before, story.state()];
    };
    expect(begins({ passed: true })).toEqual(['passing.spreading', 'passing.waiting']);
    expect(begins({ passed: false })).toEqual(['failing.spreading', 'failing.waiting']);
    expect(begins({ kind: 'liveness' })).toEqual(['passing.spreading', 'passing.waiting']);
    expect(begins({ kind: 'startup' })).toEqual(['unknown.spreading', 'unknown.waiting']);
  });

  test('continue after a port that failed', () => {
    const story = probeStory();
    story.ports.advance(0);
    story.ports.fail('runProbe', 'InternalError');
    expect([story.state(), story.ports.untilNext]).toEqual(['failing.waiting', 10_000]);
  });
});

describe('the result of a probe', () => {
  test('C29: is initially failed for readiness, passed for liveness, and unknown for startup', () => {
    const kinds = ['readiness', 'liveness', 'startup'] as const;
    expect(kinds.map((kind) => probeStory({ kind }).state())).toEqual([
      'failing.waiting',
      'passing.waiting',
      'unknown.waiting',
    ]);
  });

  test('changes after the threshold, with one report', () => {
    const story = probeStory({ probe: { successThreshold: 2, failureThreshold: 3 } });
    for (const result of ['success', 'failure', 'success'] as const) story.tries(result);
    expect([story.state(), story.facts()]).toEqual(['failing.waiting', []]);
    story.tries('warning');
    story.tries('success');
    expect([story.state(), story.facts()]).toEqual(['passing.waiting', ['readiness probe.succeeded 30000']]);
    for (const result of ['failure', 'failure', 'success', 'failure', 'failure'] as const) story.tries(result);
    expect(story.state()).toBe('passing.waiting');
    story.tries('failure');
    expect([story.state(), story.facts().at(-1)]).toEqual(['failing.waiting', 'readiness probe.failed 100000']);
  });

  test('ignores an attempt that could not be run', () => {
    const story = probeStory({ kind: 'liveness', probe: { failureThreshold: 2 } });
    for (const result of ['failure', 'error', 'error'] as const) story.tries(result);
    expect(story.facts()).toEqual([]);
    story.tries('failure');
    expect(story.facts()).toEqual(['liveness probe.failed 30000']);
  });

  test('passes once for startup, or fails after three failures', () => {
    const passed = probeStory({ kind: 'startup' });
    passed.tries('success');
    expect([passed.state(), passed.facts()]).toEqual(['passing.waiting', ['startup probe.succeeded 0']]);
    const failed = probeStory({ kind: 'startup' });
    for (let tries = 0; tries < 3; tries += 1) failed.tries('failure');
    expect([failed.state(), failed.facts()]).toEqual(['failing.waiting', ['startup probe.failed 20000']]);
  });

  test('is recorded in the wording of the kubelet for each attempt without success', () => {
    const story = probeStory({ kind: 'liveness' });
    for (const result of ['success', 'failure', 'warning', 'error'] as const) story.tries(result);
    expect(story.events).toEqual([
      'Warning Unhealthy Liveness probe failed: it says',
      'Warning ProbeWarning Liveness probe warning: it says',
      'Warning Unhealthy Liveness probe errored and resulted in unknown state: it says',
    ]);
  });
});

describe('a probe in any order of events', () => {
  const answer = (result: ProbeResult['result']): ProbeResult => ({ result, message: '', startedAt: 1, at: 1 });
  const walks = (['startup', 'liveness', 'readiness'] as const).flatMap((kind) =>
    [{}, { adopted: true }, { adopted: true, passed: true }].flatMap((over) =>
      stepsOf({
        machine: probeMachine,
        input: inputOf({ kind, ...over }),
        events: () => [{ type: 'timer.elapsed' }],
        outputs: {
          runProbe: () => (['success', 'warning', 'failure', 'error'] as const).map(answer),
          pickTime: () => [{ at: 1 }],
        },
        distinguish: ({ context }: AnyMachineSnapshot) => [context.lastResult, Math.min(context.consecutiveCount, 4)],
      }),
    ),
  );

  test('reaches every state and no end until its container stops it', () => {
    const reached = new Set(walks.flatMap(({ nextState }) => leavesOf(nextState)));
    const missed = atomicStates(probeMachine).filter((node) => !reached.has(node) && !isPassing(node));
    expect(missed.map(({ path }) => path.join('.'))).toEqual([]);
    expect(new Set(walks.map(({ nextState }) => nextState.status))).toEqual(new Set(['active']));
  });

  test('always knows the end of a wait', () => {
    const waits = walks.filter(({ nextState }) => leavesOf(nextState).some(({ meta }) => meta?.until === 'dueAt'));
    expect(waits.length).toBeGreaterThan(50);
    expect(waits.filter(({ nextState }) => !(nextState.context.dueAt > 0))).toEqual([]);
  });
});
