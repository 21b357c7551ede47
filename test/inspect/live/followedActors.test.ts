import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { createAudience } from '../../../inspect/live/audience.ts';
import { FollowedActors } from '../../../inspect/live/followedActors.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { NOW } from '../../kubernetes/views.ts';
import { pod } from '../../socket/served.ts';

function followed() {
  const clock = new SimulatedClock(NOW);
  const agent = fakeAgent({ now: NOW, views: [pod('web-host')] });
  const watched = { isWatched: false };
  const actors = new FollowedActors({
    agent,
    audience: createAudience((value) => value),
    recordedPast: undefined,
    clock,
    isWatched: () => watched.isWatched,
  });
  return { clock, agent, actors, watched };
}

test('without viewers an actor is tracked until nobody has requested it for 30 s', async () => {
  const { clock, agent, actors } = followed();
  await actors.historyOf('pod/uid-web-host');
  await clock.advance(29_999);
  await actors.historyOf('pod/uid-web-host');
  await clock.advance(29_999);
  expect(agent.subscribers()).toBe(1);
  await clock.advance(1);
  expect([agent.subscribers(), clock.pending]).toEqual([0, 0]);
});

test('with viewers an actor is tracked continuously', async () => {
  const { clock, agent, actors, watched } = followed();
  watched.isWatched = true;
  await actors.historyOf('pod/uid-web-host');
  await clock.advance(300_000);
  expect(agent.subscribers()).toBe(1);
  actors.forget();
  expect([agent.subscribers(), clock.pending]).toEqual([0, 0]);
});
