import { describe, expect, test } from '@jest/globals';
import { createActor, fromCallback, fromPromise, setup } from 'xstate';
import type { ActorInfo, StateMeta, StateTag } from '../../../../machines/shared/stateMeta.ts';
import { actorTree } from '../../../../machines/shared/views/actorTree.ts';
import type { NodeExplanation } from '../../../../show/explain/explainNode.ts';
import { formatNodeExplanation } from '../../../../show/explain/formatExplanation.ts';

interface DiskContext {
  readonly retryAt: number;
  readonly failure: { readonly reason: string; readonly message: string; readonly at: number };
}

const types = { meta: {} as StateMeta, tags: {} as StateTag | 'spinning' };

/** A machine without code of its own in the actor tree. Everything shown is in its chart. */
const disk = setup({
  types: { ...types, context: {} as DiskContext },
  actors: { sync: fromPromise<null, { path: string }>(() => new Promise(() => {})), timer: fromCallback(() => {}) },
}).createMachine({
  id: 'disk',
  context: { retryAt: 14_000, failure: { reason: 'EIO', message: 'it is worn out', at: 4_000 } },
  meta: {
    facts: ({ snapshot }: ActorInfo<DiskContext>) => ({
      facts: [`next at ${snapshot.context.retryAt}`],
      lists: { of: ['web'] },
    }),
  },
  initial: 'syncing',
  states: {
    syncing: {
      tags: 'retrying',
      meta: { waitsFor: 'the disk', until: 'retryAt' },
      invoke: [{ src: 'sync', input: { path: '/' } }, { src: 'timer' }],
    },
  },
});

/** A machine with various children, including one with two parallel regions and one that can throw. */
const parts = setup({
  types,
  actors: {
    disk,
    fan: setup({ types }).createMachine({
      id: 'fan',
      type: 'parallel',
      states: {
        blades: { initial: 'turning', states: { turning: { tags: ['steady', 'spinning'] } } },
        motor: { initial: 'hot', states: { hot: { tags: 'waiting' } } },
      },
    }),
    light: setup({ types }).createMachine({
      id: 'light',
      initial: 'on',
      on: {
        fail: {
          actions: () => {
            throw new Error('a mistake');
          },
        },
      },
      states: { on: { tags: 'steady' } },
    }),
    clock: fromCallback(() => {}),
    sources: fromCallback(() => {}),
  },
}).createMachine({
  id: 'parts',
  meta: {
    facts: () => ({
      kind: 'node',
      name: 'host',
      feedViews: { sources: [{ name: 'file', path: 'file', state: 'absent', tags: ['waiting'], since: 2_000 }] },
    }),
  },
  initial: 'running',
  states: {
    running: {
      tags: 'steady',
      invoke: [
        { src: 'fan', id: 'fan' },
        { src: 'disk', id: 'disk/sda' },
        { src: 'light', id: 'light', onError: {} },
        { src: 'clock', id: 'clock' },
        { src: 'sources', id: 'sources' },
      ],
    },
  },
});

function shownTree() {
  const actor = createActor(parts).start();
  const tree = () => actorTree(actor, { getStateSince: () => 1_000 });
  const child = (name: string) => tree().children.find((each) => each.name === name);
  return { actor, tree, child };
}

describe('the actor tree', () => {
  test('shows what the chart of a machine declares: state, tag, wait, deadline, failure and facts', () => {
    expect(shownTree().child('sda')).toEqual({
      id: 'disk/sda',
      machine: 'disk',
      kind: 'disk',
      name: 'sda',
      path: 'disk/sda',
      state: 'syncing',
      tags: ['retrying'],
      since: 1_000,
      waitingFor: 'the disk',
      until: 14_000,
      lastFailure: { reason: 'EIO', message: 'it is worn out', at: 4_000 },
      facts: ['next at 14000'],
      lists: { of: ['web'] },
      children: [
        expect.objectContaining({ kind: 'call', machine: 'sync', state: 'called', tags: ['working'], since: 1_000 }),
      ],
    });
  });

  test('shows feeds before machines: one by its report, the others as active', () => {
    expect(
      shownTree()
        .tree()
        .children.map(({ kind, name, state, tags }) => [kind, name, state, ...tags]),
    ).toEqual([
      ['feed', 'clock', 'active', 'steady'],
      ['feed', 'file', 'absent', 'waiting'],
      ['fan', 'fan', 'blades.turning motor.hot', 'waiting', 'spinning'],
      ['disk', 'sda', 'syncing', 'retrying'],
      ['light', 'light', 'on', 'steady'],
    ]);
  });

  test('shows the worst of parallel regions, and further tags after it', () => {
    expect(shownTree().child('fan')?.tags).toEqual(['waiting', 'spinning']);
  });

  test('shows a failed actor as broken', () => {
    const { actor, child } = shownTree();
    actor.getSnapshot().children.light?.send({ type: 'fail' });
    expect(child('light')).toMatchObject({ state: 'broken', tags: ['broken'] });
    expect(child('fan')).toMatchObject({ tags: ['waiting', 'spinning'] });
  });

  test('rebuilds a node only when its actor, or a descendant, has changed', () => {
    const { actor, tree } = shownTree();
    const before = tree();
    expect(tree()).toBe(before);
    actor.getSnapshot().children.light?.send({ type: 'fail' });
    const after = tree();
    expect(after).not.toBe(before);
    expect(after.children.filter((child) => !before.children.includes(child)).map(({ name }) => name)).toEqual([
      'clock',
      'file',
      'light',
    ]);
  });

  test('is what explain prints, except for calls, which appear as waits', () => {
    const explanation: NodeExplanation = {
      name: 'host',
      at: 5_000,
      answer: 'it runs',
      node: shownTree().tree(),
      foreign: [],
    };
    expect(formatNodeExplanation(explanation).split('\n').slice(4, -1)).toEqual([
      'node host      running                   4s',
      '├─ feed clock  active                    4s',
      '├─ feed file   absent                    3s',
      '├─ fan         blades.turning motor.hot  4s',
      '├─ disk sda    syncing                   4s     next at 14000',
      '│    waiting for the disk until 00:00:14 (in 9s)',
      '│    of: web',
      '│    last failure, 1s ago: EIO: it is worn out',
      '└─ light       on                        4s',
    ]);
  });
});
