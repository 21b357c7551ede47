import { describe, expect, test } from '@jest/globals';
import { createStory, eventEntries } from '../../../../../cli/commands/top/view/story.ts';
import { involvedPod, recordedEvent } from '../../../../../kubernetes/events/recordedEvent.ts';
import { fakeAgent } from '../../../../fakes/agent.ts';
import { NOW, nodeActor, podView, running } from '../../../../kubernetes/views.ts';
import { actorsOf, crashed, seen } from './scenes.ts';

const readiness = (state: string, tag: string) =>
  nodeActor('readiness', {
    path: 'pod/a/container/app/probe/readiness',
    machine: 'probe',
    state,
    tags: [tag, 'passing'],
  });

/** Returns the entries about pod `a` after these observations. */
function entriesAfter(...observations: ReturnType<typeof actorsOf>[]): string[] {
  const story = createStory();
  for (const actors of observations) story.observe(actors);
  return story.entriesOf(seen('a').tree).map(({ at, description }) => `${(at - NOW) / 1_000} ${description}`);
}

describe('the transitions of an actor and its descendants', () => {
  test('are recorded from the second poll on, with both states and the reason', () => {
    expect(entriesAfter(actorsOf([seen('a')]), actorsOf([seen('a', crashed)]))).toEqual([
      '-2 container/app running.steady → ended.backingOff: RunContainerError: no such file',
    ]);
    const waits = { state: 'pending.queued', tags: ['waiting'], waitingFor: 'a pull slot', since: NOW };
    expect(entriesAfter(actorsOf([seen('a', crashed)]), actorsOf([seen('a', waits)]))).toEqual([
      '0 container/app ended.backingOff → pending.queued, waiting for a pull slot',
    ]);
  });

  test('include a new run in the same state', () => {
    expect(entriesAfter(actorsOf([seen('a')]), actorsOf([seen('a', { since: NOW - 1_000 })]))).toEqual([
      '-1 container/app running.steady → running.steady',
    ]);
  });

  test('do not include probe attempts', () => {
    const observations = ['passing.waiting', 'passing.probing'].map((state, index) =>
      actorsOf([seen('a', { children: [readiness(state, index === 0 ? 'steady' : 'working')] })]),
    );
    expect(entriesAfter(...observations)).toEqual([]);
  });

  test('include added and removed actors, but not those of other pods or the node', () => {
    const [none, both] = [actorsOf([]), actorsOf([seen('a'), seen('ab')])];
    expect(entriesAfter(none, both, { ...none, at: NOW + 1_000 })).toEqual([
      '-60 running',
      '-60 container/app running.steady',
      '1 is gone',
      '1 container/app is gone',
    ]);
    const story = createStory();
    for (const actors of [none, both]) story.observe(actors);
    expect(story.entriesOf(none.node)).toEqual([]);
  });

  test('are limited in number', () => {
    const story = createStory();
    for (let at = 0; at < 6_000; at += 1) story.observe(actorsOf([seen('a', { since: NOW - 10_000 + at })]));
    expect(story.entriesOf(seen('a').tree)).toHaveLength(5_000);
    expect(story.startedAt()).toBe(NOW);
  });
});

test('the events of an actor are those of its pod or of its container', () => {
  const view = podView({ main: { app: running() } });
  const agent = fakeAgent({ now: NOW, views: [view] });
  const about = (container: string) => involvedPod(view.pod, { name: container, role: 'regular' });
  const warning = { eventType: 'Warning', reason: 'BackOff', message: 'again' } as const;
  agent.record({ ...recordedEvent(about('app'), { reason: 'Started', message: 'ok' }), at: NOW });
  agent.record({ ...recordedEvent(about('other'), warning), at: NOW });
  agent.record({ ...recordedEvent(about('other'), warning), at: NOW });
  const texts = (container?: string) =>
    eventEntries(agent.events(), 'u-1', container).map(({ description }) => description);
  expect(texts()).toEqual(['event Started: ok', 'warning BackOff: again (2 times)']);
  expect(texts('app')).toEqual(['event Started: ok']);
  expect(eventEntries(agent.events(), 'u-2')).toEqual([]);
});
