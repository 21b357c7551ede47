import { expect, test } from '@jest/globals';
import type { Drawing } from '../../../../../inspect/protocol.ts';
import { rowOfTransition, transitionBetween } from '../../../../../web/model/story/rows/storyPointing.ts';
import type { Row } from '../../../../../web/model/story/rows/storyRows.ts';
import { API, PROXY } from '../../../support/crashLoop.ts';

const box = (state: string): Drawing['states'][number] => ({
  state,
  label: state,
  kind: 'atomic',
  x: 0,
  y: 0,
  width: 10,
  height: 10,
});
const drawing: Drawing = {
  machine: 'container',
  title: '',
  width: 100,
  height: 100,
  exits: [],
  statesOfAll: 56,
  summary: '',
  regions: [],
  rules: [],
  states: [box('running.steady'), box('ended.backingOff')],
  ways: [
    { ways: ['an exit', 'another'], from: 'running.steady', to: 'ended.backingOff', points: [], label: [] },
    { ways: ['back'], from: 'ended.backingOff', to: 'running.steady', points: [], label: [] },
  ],
};
const moved = { row: '1', actor: API, from: 'running.steady', to: 'ended.backingOff' };

test('a highlighted line highlights the transition that its actor took', () => {
  expect(transitionBetween(drawing, API, moved)).toEqual({ arrow: 'an exit' });
});

test('a line of a different actor, without a move or with undrawn states highlights nothing', () => {
  expect(transitionBetween(drawing, PROXY, moved)).toEqual({});
  expect(transitionBetween(drawing, API, { row: '1', actor: API })).toEqual({});
  expect(transitionBetween(drawing, API, { ...moved, to: 'stopped' })).toEqual({});
  expect(transitionBetween(drawing, API, undefined)).toEqual({});
});

test('a highlighted transition highlights the latest line that took it', () => {
  const row = (key: string, actor: string, from: string, to: string): Row => ({
    key,
    at: 0,
    actor,
    kind: 'moved',
    source: '',
    text: '',
    passedStates: [],
    isFailure: false,
    move: { at: 0, actor, from, state: to },
  });
  const rows = [
    row('1', API, 'running.steady', 'ended.backingOff'),
    row('2', API, 'running.steady', 'ended.backingOff'),
    row('3', PROXY, 'running.steady', 'ended.backingOff'),
    row('4', API, 'running.steady', 'stopped'),
  ];
  expect(rowOfTransition(drawing, API, 'another', rows)?.key).toBe('2');
  expect(rowOfTransition(drawing, API, 'back', rows)).toBeUndefined();
  expect(rowOfTransition(drawing, API, 'none', rows)).toBeUndefined();
});
