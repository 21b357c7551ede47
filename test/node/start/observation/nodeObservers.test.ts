import { expect, test } from '@jest/globals';
import { createAudience } from '../../../../inspect/live/audience.ts';
import { combineObservers, recorderAndPageObservers } from '../../../../node/start/observation/nodeObservers.ts';

test('all observers are notified in order', () => {
  const told: string[] = [];
  const { onStateChange: moves } = combineObservers([
    { onStateChange: ({ state }) => told.push(`first ${state}`) },
    {},
    { onStateChange: ({ state }) => told.push(`second ${state}`) },
  ]);
  moves?.({ at: 0, actor: 'a', state: 'running' });
  expect(told).toEqual(['first running', 'second running']);
});

test('unobserved notifications are not sent: without a recording there are no inputs and no port calls', () => {
  const audience = createAudience((value) => value);
  const nothing = () => {};
  const observers = { onInput: nothing, onPortCall: nothing, onStateChange: nothing, events: nothing };
  const told = (flight?: Parameters<typeof recorderAndPageObservers>[0]) =>
    Object.keys(combineObservers([{ events: nothing }, ...recorderAndPageObservers(flight, audience)])).sort();
  expect(told()).toEqual(['events', 'inspect', 'onStateChange']);
  expect(told({ listeners: observers })).toEqual(['events', 'inspect', 'onInput', 'onPortCall', 'onStateChange']);
  expect(combineObservers([])).toEqual({});
});

test('machine decisions and service actions are passed on to metrics', () => {
  const counts: string[] = [];
  const { onDecision: decisions, onServiceAction } = combineObservers([
    { onDecision: ({ decision }) => counts.push(decision), onServiceAction: ({ action }) => counts.push(action) },
  ]);
  decisions?.({ type: 'decision.counted', decision: 'preempted', uid: 'a', resource: 'cpu' });
  onServiceAction?.({ action: 'pullChecked', result: 'error' });
  expect(counts).toEqual(['preempted', 'pullChecked']);
});
