/** A grace period is measured in elapsed time, so setting the clock back does not extend it (C10). */
import { expect, test } from '@jest/globals';
import {
  type ContainerServiceDependencies,
  containerServices,
} from '../../../actors/services/containers/containers.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { IMAGE, noAbort, runOne, simulate } from '../../cri/simulated/support.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../../machines/support/containerStory.ts';

/** A clock whose wall-clock time can be set back. */
class SetClock extends SimulatedClock {
  setBackMs = 0;

  override now(): number {
    return super.now() - this.setBackMs;
  }
}

const hook = { exec: { command: ['true'] } };
const withPreStop = aPod({ containers: [aContainer({ lifecycle: { preStop: hook } })] });
const graces = ({ ports }: ReturnType<typeof containerStory>) =>
  ports.asked('stopContainer').map(({ graceSeconds }) => graceSeconds);
const begun = (pod = aPod()) => {
  const story = containerStory({ pod });
  story.begin();
  return story;
};

test.each([
  ['the clock goes on', 0],
  ['the clock is set back', 3_600_000],
])('C10: an interrupted stop reports how much of its grace period is left: %s', async (_, setBackMs) => {
  const clock = new SetClock();
  const simulation = simulate({ clock, behaviours: { [IMAGE]: { ignoresSigterm: true } } });
  const { container } = await clock.advanceUntilSettled(runOne(simulation));
  // A stop uses only these parts.
  const { stopContainer } = containerServices({
    cri: simulation.cri,
    clock,
    layout: {},
  } as unknown as ContainerServiceDependencies);
  const known = { pod: aPod(), container: 'main', attempt: 0, id: container };
  const asked = { ...known, graceSeconds: 30, deadline: clock.now() + 30_000 };
  const stopped = stopContainer(asked, { signal: noAbort }).catch((error: unknown) => error);
  await clock.advance(12_000);
  clock.setBackMs = setBackMs;
  simulation.runtime.down();
  expect(await clock.advanceUntilSettled(stopped)).toMatchObject({ reason: 'RuntimeUnavailable', graceSeconds: 18 });
});

test('C10: a retried stop has only the remaining grace period, less the delay before the retry', () => {
  const story = begun();
  story.ports.hold('stopContainer');
  story.stop(30);
  story.ports.fail('stopContainer', 'RuntimeUnavailable', 'gone', { graceSeconds: 16 });
  story.ports.advance(1_000);
  expect(graces(story)).toEqual([30, 15]);
});

test('C10: a stop without a deadline retains its full grace period while the runtime is down', () => {
  const story = begun(withPreStop);
  story.ports.failNext('stopContainer', 'RuntimeUnavailable');
  story.send({ type: 'container.stop' });
  story.ports.advance(1_000);
  expect(graces(story)).toEqual([30, 30]);
});

test('C10: the time of a preStop hook is deducted from the grace period', () => {
  const story = begun(withPreStop);
  story.ports.hold('runHook', 'stopContainer');
  story.stop(30);
  story.ports.answer('runHook', { deadline: story.ports.now + 30_000, graceSeconds: 12, failure: null });
  expect(graces(story)).toEqual([12]);
});

test('C10: a preStop hook that uses up the grace period leaves none', () => {
  const story = begun(withPreStop);
  story.ports.hold('runHook', 'stopContainer');
  story.stop(30);
  story.ports.advance(30_000);
  expect(graces(story)).toEqual([0]);
});
