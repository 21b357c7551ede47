import { expect, test } from '@jest/globals';
import { activeStates, boxOf, buildChartView } from '../../../../web/model/chart/view.ts';
import { crashLooping } from '../../support/crashLooping.ts';
import { drawn } from '../../support/drawn.ts';

const view = buildChartView(drawn, crashLooping);
const state = (name: string, of = view) => of.states.find((each) => each.drawnState.state === name);
const way = (from: string, of = view) => of.arrows.find((each) => each.drawnTransition.from === from);

test('the active state has its duration and the progress of its wait', () => {
  expect(state('ended.backingOff')).toMatchObject({
    duration: '112s',
    activeState: { category: 'retrying', waitingFor: 'the end of its crash-loop back-off', progress: 0.7 },
  });
  expect(view.states.filter(({ activeState }) => activeState)).toHaveLength(1);
});

test('visited states have the duration of the last visit, and others are marked as not visited', () => {
  expect(state('pending.restarting')).toMatchObject({ wasVisited: true, duration: '0ms' });
  expect(state('pending')).toMatchObject({ wasVisited: true });
  expect(state('pending.*')).toMatchObject({ wasVisited: false });
  expect(state('pending.*')).not.toHaveProperty('duration');
});

test('transitions have counts, and the last and the next one are highlighted', () => {
  expect(way('ended.choosing')).toMatchObject({ style: 'last', count: 5 });
  expect(way('ended.backingOff')).toMatchObject({ style: 'next', count: 4, timeLeft: '48s' });
  expect(way('pending.restarting')).toMatchObject({ style: 'taken', count: 6 });
  // It is drawn on top of the other arrows.
  expect(view.arrows.at(-1)?.style).toBe('next');
});

test('only a transition out of an active state can be the next one', () => {
  const { next } = crashLooping;
  const moved = buildChartView(drawn, { ...crashLooping, state: 'pending.restarting', tags: ['working'], next });
  expect(moved.arrows.filter(({ style }) => style === 'next')).toEqual([]);
});

test('an active folded state replaces its box, even without a deadline', () => {
  const { until: _, ...seen } = crashLooping;
  const folded = buildChartView(drawn, { ...seen, state: 'pending.waiting', tags: ['waiting'], next: [] });
  expect(state('pending.*', folded)?.activeState).toEqual({
    state: 'pending.waiting',
    label: 'waiting',
    category: 'waiting',
    waitingFor: 'the end of its crash-loop back-off',
  });
  expect(state('pending', folded)).toMatchObject({ containsActive: true });
  expect(way('ended.choosing', folded)).toMatchObject({ style: 'taken' });
});

test('a chart without an actor has no active state or taken transition, and a broken actor has no active state', () => {
  const bare = buildChartView(drawn);
  expect(bare.states.filter(({ activeState, wasVisited, duration }) => activeState || wasVisited || duration)).toEqual(
    [],
  );
  expect(bare.arrows.map(({ style, count }) => [style, count])).toEqual([
    ['idle', 0],
    ['idle', 0],
    ['idle', 0],
  ]);
  expect(
    buildChartView(drawn, { ...crashLooping, state: 'broken', tags: ['broken'] }).states.filter(
      ({ activeState }) => activeState,
    ),
  ).toEqual([]);
});

test('parallel regions have several active states', () => {
  expect(activeStates('a.b c.d')).toEqual(['a.b', 'c.d']);
  expect(boxOf(drawn, 'pending.awaitingVolumes')?.state).toBe('pending.*');
  expect(boxOf(drawn, 'running.steady')).toBeUndefined();
});
