import { describe, expect, test } from '@jest/globals';
import type { AnyStateNode } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { nodesOf } from '../../../machines/drawing/ways.ts';
import { STATE_TAGS, type StateMeta, type StateTag } from '../../../machines/shared/stateMeta.ts';
import { atomicStates, isPassing, tagsOf } from '../support/reach.ts';

/** Tags of states in which an actor stays without waiting for anything. */
const RESTING: readonly StateTag[] = ['steady', 'done', 'failed', 'broken'];

const nameOf = ({ path }: AnyStateNode) => path.join('.');
// Every machine here declares StateMeta as its meta type.
const metaOf = ({ meta }: AnyStateNode) => (meta ?? {}) as StateMeta;

/** Whether the timers of a state only lead back to it, so that they do not end the wait. */
const isOnlyRepeated = (node: AnyStateNode): boolean =>
  (node.transitions.get('timer.elapsed') ?? []).every(({ target = [] }) => target.length === 1 && target[0] === node);

/** Actors that may be invoked throughout a state: other machines, and the node's ticker. */
const NO_PORTS = [...machines.map(({ id }) => id), 'ticker'];

const byName = machines.map((machine) => [machine.id, machine] as const);

describe.each(byName)('every wait is visible: %s', (_, machine) => {
  const states = atomicStates(machine).filter((node) => !isPassing(node));
  const silent = states.filter((node) => metaOf(node).waitsFor === undefined);

  test('every state that can last either rests or declares what it waits for', () => {
    const resting = states.filter((node) => tagsOf(node).some((tag) => RESTING.some((each) => each === tag)));
    expect(silent.filter((node) => !resting.includes(node)).map(nameOf)).toEqual([]);
  });

  test('a state without a wait invokes no port and no timer', () => {
    const invoked = silent.flatMap((node) => node.invoke.map(({ src }) => [nameOf(node), src]));
    expect(invoked.filter(([, src]) => !NO_PORTS.some((name) => name === src))).toEqual([]);
  });

  test('every timed wait declares its end', () => {
    const timed = states.filter((node) => node.invoke.some(({ src }) => src === 'timer') && !isOnlyRepeated(node));
    const vague = timed.filter((node) => metaOf(node).until === undefined && metaOf(node).afterMs === undefined);
    expect(vague.map(nameOf)).toEqual([]);
  });
});

test.each(byName)('each state of %s, with its parents, has exactly one category', (_, machine) => {
  const kinds: readonly string[] = STATE_TAGS;
  const odd = atomicStates(machine).filter((node) => tagsOf(node).filter((tag) => kinds.includes(tag)).length !== 1);
  expect(odd.map((node) => [nameOf(node), ...tagsOf(node)])).toEqual([]);
});

/** Every key of `StateMeta`, and whether only the root of a machine may declare it. */
const META_KEYS: Record<keyof StateMeta, 'state' | 'root'> = {
  waitsFor: 'state',
  until: 'state',
  afterMs: 'state',
  rules: 'state',
  region: 'state',
  layout: 'state',
  coverageGap: 'state',
  regions: 'root',
  deadlines: 'root',
  formatWait: 'root',
  facts: 'root',
};

// TypeScript accepts unknown keys in the meta of a machine's root.
test.each(byName)('each state of %s declares only known properties in its meta', (_, machine) => {
  const allowed = (node: AnyStateNode) =>
    Object.entries(META_KEYS).flatMap(([key, level]) => (level === 'state' || node === machine.root ? key : []));
  const unknown = nodesOf(machine.root).flatMap((node) =>
    Object.keys(metaOf(node)).flatMap((key) => (allowed(node).includes(key) ? [] : `${nameOf(node)}: ${key}`)),
  );
  expect(unknown).toEqual([]);
});
