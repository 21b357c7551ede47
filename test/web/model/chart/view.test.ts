import { expect, test } from '@jest/globals';
import { activeStates, boxOf, buildChartView } from '../../../../web/model/chart/view.ts';
import { crashLooping } from '../../support/crashLooping.ts';
import { drawn } from '../../support/drawn.ts';

const view = buildChartView(drawn, crashLooping);
const state = (name: string, of = view) => of.states.find((each) => each.drawn.state === name);
const way = (from: string, of = view) => of.arrows.find((each) => each.drawn.from === from);

test('the active state has its duration and the progress of its wait', () => {
  expect(state('ended.backingOff')).toMatchObject({
    duration: '112s',
    active: { category: 'retrying', waitingFor: 'the end of its crash-loop back-off', progress: 0.7 },
  });
  expect(view.states.filter(({ active }) => active)).toHaveLength(1);
});

test('visited states have the duration of the last visit, and others are marked as not visited', () => {
  expect(state('pending.restarting')).toMatchObject({ wasVisited: true, duration: '0ms' });
  expect(state('pending')).toMatchObject({ wasVisited: true });
  expect(state('pending.*')).toMatchObject({ wasVisited: false });
  expect(state('pending.*')).not.toHaveProperty('duration');
});

test('transitions have counts, and the last and the next one are highlighted', () => {
  expect(way('ended.choosing')).toMatchObject({ look: 'last', count: 5 });
  expect(way('ended.backingOff')).toMatchObject({ look: 'next', count: 4, timeLeft: '48s' });
  expect(way('pending.restarting')).toMatchObject({ look: 'taken', count: 6 });
  // Drawn over the others.
  expect(view.arrows.at(-1)?.look).toBe('next');
});

test('only a transition out of an active state can be the next one', () => {
  const { next } = crashLooping;
  const moved = buildChartView(drawn, { ...crashLooping, state: 'pending.restarting', tags: ['working'], next });
  expect(moved.arrows.filter(({ look }) => look === 'next')).toEqual([]);
});

test('an active folded state replaces its box, even without a deadline', () => {
  const { until: _, ...seen } = crashLooping;
  const folded = buildChartView(drawn, { ...seen, state: 'pending.waiting', tags: ['waiting'], next: [] });
  expect(state('pending.*', folded)?.active).toEqual({
    state: 'pending.waiting',
    label: 'waiting',
    category: 'waiting',
    waitingFor: 'the end of its crash-loop back-off',
  });
  expect(state('pending', folded)).toMatchObject({ containsActive: true });
  expect(way('ended.choosing', folded)).toMatchObject({ look: 'taken' });
});

test('a chart without an actor has no active state or taken transition, and a broken actor has no active state', () => {
  const bare = buildChartView(drawn);
  expect(bare.states.filter(({ active, wasVisited, duration }) => active || wasVisited || duration)).toEqual([]);
  expect(bare.arrows.map(({ look, count }) => [look, count])).toEqual([
    ['idle', 0],
    ['idle', 0],
    ['idle', 0],
  ]);
  expect(
    buildChartView(drawn, { ...crashLooping, state: 'broken', tags: ['broken'] }).states.filter(({ active }) => active),
  ).toEqual([]);
});

test('parallel regions have several active states', () => {
  expect(activeStates('a.b c.d')).toEqual(['a.b', 'c.d']);
  expect(boxOf(drawn, 'pending.awaitingVolumes')?.state).toBe('pending.*');
  expect(boxOf(drawn, 'running.steady')).toBeUndefined();
});
