import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../../actors/simulated/simulatedClock.ts';
import { type ActorsSnapshot, pollActors } from '../../../../../cli/commands/top/view/pollActors.ts';
import { actorsOf } from './scenes.ts';

test('actors are polled every second, and every two seconds after a lost connection, with the last result retained', async () => {
  const clock = new SimulatedClock();
  const [first, later] = [actorsOf([], { at: 1 }), actorsOf([], { at: 2 })];
  const looks: ActorsSnapshot[] = [];
  let isThere = true;
  const fetchActors = async () => {
    if (!isThere) throw new Error('nobody there');
    return later;
  };
  const stop = pollActors(first, { fetchActors, onSnapshot: (look) => looks.push(look), clock });
  const begin = clock.now();
  await clock.advance(1_000);
  expect(looks.splice(0)).toEqual([{ actors: later }]);
  isThere = false;
  await clock.advance(1_000);
  expect(looks.splice(0)).toEqual([
    { actors: later, lostConnection: { since: begin + 2_000, retryAt: begin + 4_000, reason: 'nobody there' } },
  ]);
  await clock.advance(2_000);
  expect(looks.splice(0)).toMatchObject([{ lostConnection: { since: begin + 2_000, retryAt: begin + 6_000 } }]);
  isThere = true;
  await clock.advance(2_000);
  expect(looks.splice(0)).toEqual([{ actors: later }]);
  stop();
  await clock.advance(10_000);
  expect(looks).toEqual([]);
});
