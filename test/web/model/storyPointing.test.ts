import { expect, test } from '@jest/globals';
import type { Drawing } from '../../../inspect/protocol.ts';
import { wayOf } from '../../../web/model/storyPointing.ts';
import { API, PROXY } from '../support/crashLoop.ts';

const box = (state: string): Drawing['states'][number] => ({
  ...{ state, label: state, kind: 'atomic', x: 0, y: 0, width: 10, height: 10 },
});
const drawing: Drawing = {
  ...{ machine: 'container', title: '', width: 100, height: 100, exits: [], statesOfAll: 56 },
  ...{ summary: '', regions: [], rules: [] },
  states: [box('running.steady'), box('ended.backingOff')],
  ways: [
    { ways: ['an exit', 'another'], from: 'running.steady', to: 'ended.backingOff', points: [], label: [] },
    { ways: ['back'], from: 'ended.backingOff', to: 'running.steady', points: [], label: [] },
  ],
};
const moved = { row: '1', actor: API, from: 'running.steady', to: 'ended.backingOff' };

test('a line at which the pointer is joins the way that its actor took', () => {
  expect(wayOf(drawing, API, moved)).toEqual({ way: 'an exit' });
});

test('one of another actor, of no move, or between states that are not drawn joins none', () => {
  expect(wayOf(drawing, PROXY, moved)).toEqual({});
  expect(wayOf(drawing, API, { row: '1', actor: API })).toEqual({});
  expect(wayOf(drawing, API, { ...moved, to: 'stopped' })).toEqual({});
  expect(wayOf(drawing, API, undefined)).toEqual({});
});
