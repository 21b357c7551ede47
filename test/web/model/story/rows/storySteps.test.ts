import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Story, StoryLine } from '../../../../../inspect/protocol.ts';
import { burstsOf, createBurstGrouper } from '../../../../../web/model/story/rows/storyBursts.ts';
import { createStepGrouper, gateOf, type Step, storySteps } from '../../../../../web/model/story/rows/storySteps.ts';
import { API, answer, BEGAN, burst, crashLoop, elapsed, POD, RUNS, state, UID } from '../../../support/crashLoop.ts';

const stepsIn = (lines: readonly StoryLine[]) => storySteps({ before: [], lines });
const format = ({ source, event, moves }: Step) => `${source} ${event}: ${moves.map((move) => move.state).join(' ')}`;

test('a growing story has the same steps as the complete one', () => {
  const { before, lines } = crashLoop();
  // A frame does not split a macrostep.
  const ends = lines.flatMap(({ at }, index) => (at > (lines[index - 1]?.at ?? at) + 100 ? [index] : []));
  const stepsSoFar = createStepGrouper();
  const burstsSoFar = createBurstGrouper();
  for (const end of [...ends, lines.length]) {
    const story = { before, lines: lines.slice(0, end) };
    const steps = stepsSoFar(story);
    expect(steps).toEqual(storySteps(story));
    expect(burstsSoFar(steps, API)).toEqual(burstsOf(steps, API));
  }
  // A different story is processed from its start.
  expect(stepsSoFar({ before, lines: lines.slice(3) })).toEqual(storySteps({ before, lines: lines.slice(3) }));
});

test('an incomplete step may concern additional actors later', () => {
  const lines = [answer(BEGAN, `${POD}/0.pod.starting`, 'runSandbox', 5), state(BEGAN, API, 'checking', 'working')];
  const [stepsSoFar, burstsSoFar] = [createStepGrouper(), createBurstGrouper()];
  const before: Story['before'] = [];
  const counts = [1, 2].map((count) => burstsSoFar(stepsSoFar({ before, lines: lines.slice(0, count) }), API).length);
  expect(counts).toEqual([0, 1]);
});

describe('a run of a container', () => {
  const steps = storySteps(crashLoop()).filter(({ at }) => at >= (RUNS[5] ?? 0) && at < (RUNS[5] ?? 0) + 2_000);

  test('has a step for its timer, each response, each slot and each observation', () => {
    expect(steps.map(format)).toEqual([
      'timer elapsed: checking pending.gettingImage',
      'runtime findImage: launching.readyToCreate launching.creatingContainer.queued found',
      'gate granted: launching.creatingContainer.creating',
      'runtime createContainer: launching.creatingContainer.starting',
      'runtime startContainer: running.steady',
      'runtime observed: ended.backingOff',
    ]);
  });

  test('has calls in the step that causes them, and events in the step that records them', () => {
    expect(steps.map(({ calls }) => calls.map(({ port }) => port))).toEqual([
      ['findImage'],
      [],
      ['createContainer'],
      ['startContainer'],
      [],
      [],
    ]);
    expect(steps.flatMap(({ events }) => events.map(({ reason }) => reason))).toEqual([
      'Pulled',
      'Created',
      'Started',
      'BackOff',
    ]);
  });

  test('contains the duration of a call and its failure', () => {
    expect(steps.map(({ durationMs }) => durationMs)).toEqual([undefined, 2, undefined, 10, 68, undefined]);
    expect(steps.at(-1)).toMatchObject({ actor: API, isFailure: true, detail: 'api exit 3' });
    expect(steps.slice(0, -1).every(({ isFailure }) => !isFailure)).toBe(true);
  });
});

test('two simultaneous inputs each have their own consequences', () => {
  const [one, other] = [`${POD}/volume/one`, `${POD}/volume/other`];
  const steps = stepsIn([
    answer(5, `${one}/0.volume.mounting`, 'mountVolume', 2),
    answer(5, `${other}/0.volume.mounting`, 'mountVolume', 3),
    state(5, one, 'mounted.steady', 'steady'),
    state(5, other, 'mounted.steady', 'steady'),
    state(5, POD, 'active.running', 'steady'),
    state(6, one, 'unmounting', 'working'),
  ]);
  expect(steps.map(({ actor, lineIndexes }) => [actor, lineIndexes])).toEqual([
    [one, [0, 2]],
    // The pod's transition belongs to the last of the simultaneous inputs.
    [other, [1, 3, 4]],
    [one, [5]],
  ]);
  expect(steps[2]).toMatchObject({ source: 'node', event: 'told', moves: [{ from: 'mounted.steady' }] });
});

test('a slot granted later is inferred from the queued actor', () => {
  const image = `${API}/image`;
  const steps = stepsIn([
    state(1, image, 'queued', 'waiting'),
    { kind: 'asked', at: 9, actor: `${image}/0.image.pulling`, port: 'pullImage', about: '' },
    state(9, image, 'pulling', 'working'),
  ]);
  expect(steps.map(format)).toEqual(['node told: queued', 'gate granted: pulling']);
  expect(steps.map(gateOf)[1]).toBe('pull gate');
});

test('an actor that leaves the queue because it is stopped has no grant', () => {
  const steps = stepsIn([
    state(1, API, 'launching.creatingContainer.queued', 'waiting'),
    { ...elapsed(9, `${POD}/0.pod.active`), at: 9 },
    state(9, API, 'stopped', 'done'),
  ]);
  expect(steps.map(({ event }) => event)).toEqual(['told', 'elapsed']);
});

test('a slightly later call belongs to its cause, and so do its consequences', () => {
  const creating = `${API}/0.container.launching.creatingContainer.creating`;
  const ask = (at: number): StoryLine => ({
    kind: 'asked',
    at,
    actor: creating,
    port: 'createContainer',
    about: 'api',
  });
  const steps = stepsIn([
    answer(5, `${API}/image/0.image.checking`, 'findImage', 2),
    state(5, API, 'launching.creatingContainer.queued', 'waiting'),
    ask(7),
    state(5, API, 'launching.creatingContainer.creating', 'working'),
    state(5, `${API}/image`, 'found', 'steady'),
    answer(17, creating, 'createContainer', 10),
    { kind: 'asked', at: 18, actor: `${POD}/0.pod.x`, port: 'countRestarts', about: '' },
  ]);
  expect(steps.map(({ at, event, lineIndexes }) => [at, event, lineIndexes])).toEqual([
    [5, 'findImage', [0, 1, 4]],
    [5, 'granted', [2, 3]],
    [17, 'createContainer', [5, 6]],
  ]);
});

test('a much later call has a step of its own', () => {
  const steps = stepsIn([
    answer(5, `${API}/0.container.x`, 'findImage', 2),
    { kind: 'asked', at: 9_000, actor: `${API}/0.container.y`, port: 'stopContainer', about: '' },
    state(8_999, API, 'stopping', 'working'),
  ]);
  expect(steps.map(({ at, event }) => [at, event])).toEqual([
    [5, 'findImage'],
    [8_999, 'told'],
  ]);
});

test('the states before the start of an agent are unknown', () => {
  const steps = stepsIn([
    state(1, API, 'running.steady', 'steady'),
    { kind: 'began', at: 5 },
    state(5, API, 'adopting.queryingRuntime', 'working'),
  ]);
  expect(steps.map(({ event }) => event)).toEqual(['told', 'began']);
  expect(steps[1]?.moves[0]).not.toHaveProperty('from');
});

/** Lines in chronological order about related and unrelated actors. */
const anyLines = fc
  .array(
    fc.record({
      kind: fc.constantFrom('entered', 'fact', 'asked', 'state', 'event', 'began', 'ended'),
      after: fc.nat(2),
      actor: fc.constantFrom('', POD, API, `${API}/image`, `${POD}/volume/tmp`, `${API}/probe/liveness`),
      state: fc.constantFrom(
        'launching.creatingContainer.queued',
        'running.steady',
        'launching.creatingContainer.creating',
      ),
    }),
  )
  .map((drawn) => {
    let at = BEGAN;
    return drawn.map(({ kind, after, actor, state: to }): StoryLine => {
      at += after;
      if (kind === 'began' || kind === 'ended') return { kind, at };
      if (kind === 'state') return state(at, actor, to, to === 'running.steady' ? 'steady' : 'working');
      if (kind === 'event') return { kind, at, uid: UID, eventType: 'Normal', reason: 'Pulled', message: '' };
      if (kind === 'asked') return { kind, at, actor: `${actor}/0.x`, port: 'createContainer', about: '' };
      const outcome = kind === 'fact' ? 'fact' : 'answer';
      return { kind: 'entered', at, actor: `${actor}/0.x`, outcome, source: 'pleg', uid: UID };
    });
  });

test('every line is in exactly one step of its own time, and the steps are in the order of the story', () => {
  fc.assert(
    fc.property(anyLines, (lines) => {
      const steps = stepsIn(lines);
      expect(steps.flatMap((step) => step.lineIndexes).sort((a, b) => a - b)).toEqual(lines.map((_, index) => index));
      for (const step of steps)
        for (const index of step.lineIndexes)
          if (lines[index]?.kind !== 'asked') expect(lines[index]?.at).toBe(step.at);
      expect(steps.map(({ firstLineIndex }) => firstLineIndex)).toEqual(
        steps.map(({ firstLineIndex }) => firstLineIndex).sort((a, b) => a - b),
      );
    }),
  );
});

test('thousands of simultaneous lines take no longer than others', () => {
  const lines = burst(20_000).map((line) => ({ ...line, at: BEGAN }));
  const began = performance.now();
  expect(stepsIn(lines).flatMap((step) => step.lineIndexes)).toHaveLength(20_000);
  // A quadratic search would take minutes.
  expect(performance.now() - began).toBeLessThan(20_000);
});
