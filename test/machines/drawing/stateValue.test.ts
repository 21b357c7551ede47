import { expect, test } from '@jest/globals';
import { machines } from '../../../machines/drawing/charts.ts';
import { machineAt, stateCategory } from '../../../machines/drawing/stateTags.ts';
import { stateValueOf } from '../../../machines/drawing/stateValue.ts';
import { STATE_TAGS, statePath } from '../../../machines/shared/stateMeta.ts';

type AnyState = (typeof machines)[number]['root'];

/** Returns every state of a machine that an actor can stay in, as text. */
function leaves(node: AnyState): string[] {
  // An actor is never in a history state.
  const children = Object.values(node.states).filter(({ type }) => type !== 'history');
  if (children.length === 0) return [node.path.join('.')];
  if (node.type !== 'parallel') return children.flatMap(leaves);
  // An actor in a parallel state is in one state of each region.
  const [first = [], ...rest] = children.map(leaves);
  return rest.reduce((all, region) => all.flatMap((one) => region.map((other) => `${one} ${other}`)), first);
}

test.each(machines.map((machine) => [machine.id, machine] as const))(
  'each state of %s survives printing and parsing, and has one category',
  (id, machine) => {
    for (const text of leaves(machine.root).filter((each) => each !== '')) {
      expect(statePath(stateValueOf(text))).toBe(text);
      expect([text, STATE_TAGS]).toEqual([text, expect.arrayContaining([stateCategory(id, text)])]);
    }
  },
);

test('parallel regions have their worst category, and an unknown state has none', () => {
  expect(stateValueOf('active.a paused.b.c idle')).toEqual({ active: 'a', paused: { b: 'c' }, idle: {} });
  expect(stateCategory('container', 'ended.backingOff')).toBe('retrying');
  for (const [machine, state] of [
    ['container', 'constructor'],
    ['container', ''],
    ['__proto__', 'running'],
    [undefined, 'running'],
  ] as const)
    expect(stateCategory(machine, state)).toBeUndefined();
});

test.each([
  ['', 'nodeAgent'],
  ['pod/u', 'pod'],
  ['pod/u/container/web', 'container'],
  ['pod/u/container/web/probe/liveness', 'probe'],
  ['pod/u/container/web/0.container.launching', undefined],
  ['startLimiter', 'limiter'],
  ['constructor', undefined],
  ['pod/__proto__/container/constructor', 'container'],
])('the actor at %j runs the machine %j', (path, machine) => {
  expect(machineAt(path)).toBe(machine);
});
