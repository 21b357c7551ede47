import { describe, expect, test } from '@jest/globals';
import { parseFilter } from '../../../show/actors/actorFilter.ts';
import type { ActorNode, LimiterView } from '../../../show/actors/actorNode.ts';
import { actorRows, countActors, type NodeActors } from '../../../show/actors/actorRows.ts';
import { rowCells } from '../../../show/actors/actorRowText.ts';
import type { RowSelection } from '../../../show/actors/treeRows.ts';
import {
  backOff,
  exited,
  NOW,
  nodeActor,
  nodeView,
  podView,
  running,
  type ShownPod,
  sandbox,
  seenPod,
  volumeView,
  waiting,
} from '../../kubernetes/views.ts';

const probe = (more: Partial<ActorNode>): ActorNode =>
  nodeActor('readiness', { machine: 'probe', kind: 'probe', path: 'readiness', ...more });
const call = nodeActor('runProbe', { kind: 'call', state: 'called', tags: ['working'] });
const passing = probe({ tags: ['working', 'passing'], children: [call] });
const failing = probe({
  state: 'failing.waiting',
  tags: ['retrying', 'failing'],
  waitingFor: 'its next attempt',
  until: NOW + 4_000,
  lastFailure: { reason: 'Unhealthy', message: 'no answer', at: NOW },
});
const steady = { tags: ['steady'] };

const pod = (name: string, view: Partial<Parameters<typeof podView>[0]>, namespace = 'default'): ShownPod =>
  podView({
    ...view,
    meta: { name: `${name}-host`, namespace, uid: name, creationTimestamp: `2026-05-04T12:0${name.length % 3}:00Z` },
    view: { path: `pod/${name}`, sandbox: sandbox('10.1.0.2'), ...view.view },
  });
const at = (uid: string, name: string) => ({ path: `pod/${uid}/container/${name}` });

const web = pod('web', { main: { app: running({ ...steady, ...at('web', 'app'), children: [passing] }) } });
const crash = pod('crash', {
  main: {
    app: running({ ...steady, ...at('crash', 'app') }),
    job: backOff(1, {
      ...at('crash', 'job'),
      state: 'ended.backingOff',
      tags: ['retrying'],
      since: NOW - 12_000,
      waitingFor: 'its back-off',
      until: NOW + 48_000,
    }),
  },
});
const pulling = pod(
  'pulling',
  {
    main: {
      app: waiting('ContainerCreating', { ...at('pulling', 'app'), state: 'pending.queued', tags: ['waiting'] }),
    },
  },
  'shop',
);
const done = pod('once', {
  main: { app: exited(0, { ...at('once', 'app'), tags: ['done'] }) },
  view: { state: 'finished', tags: ['done'], hasEnded: true },
});
const pull: LimiterView = { capacity: 1, held: ['x/y/pull'], queue: ['pulling/app/pull', 'z/y/pull'] };

const seen = (...pods: readonly ShownPod[]): NodeActors => ({
  at: NOW,
  node: nodeView('host').tree,
  pods: pods.map((each) => seenPod(each)),
  limiters: [pull],
});

/** Formats rows as lines. A minus marks an expanded row, brackets mark an ancestor of a match. */
function drawn(actors: NodeActors, view: Partial<RowSelection> = {}): string {
  const rows = actorRows(actors, { isOpen: () => false, ...view });
  const lines = rows.map((row) => {
    const { depth, category, kind, name, isExpanded, isMatch } = row;
    const { detail, time } = rowCells(row, NOW);
    const mark = isExpanded === undefined ? ' ' : isExpanded ? '-' : '+';
    const text = `${mark} ${category} ${kind} ${name}`;
    return `${'  '.repeat(depth)}${[isMatch ? text : `(${text})`, detail, time].filter((each) => each !== '').join(' | ')}`;
  });
  return `\n${lines.join('\n')}\n`;
}

test('the node agent comes first, then the pods by severity, and a collapsed row shows its most severe descendant', () => {
  expect(drawn(seen(done, web, pulling, crash))).toBe(`
+ steady node host | 60s
+ retrying pod crash | CrashLoopBackOff | in 48s
+ waiting pod shop/pulling | pull queue 1/2 | 60s
+ steady pod web | 2m10s
+ done pod once | 2m10s
`);
});

test('an expanded row shows its own state, and images and calls are merged into their parents', () => {
  expect(drawn(seen(crash, web), { isOpen: (path) => path.startsWith('pod/') })).toBe(`
+ steady node host | 60s
- steady pod crash | 1/2 | 2m10s
    steady container app | 60s
    retrying container job | CrashLoopBackOff | in 48s
- steady pod web | 2m10s
  - steady container app | 60s
      steady probe readiness | 60s
`);
});

test('a collapsed row prefixes the problem with the name of the descendant', () => {
  const mount = {
    state: 'backingOff',
    tags: ['retrying'],
    since: NOW - 3_000,
    until: NOW + 2_000,
    mounted: false,
  };
  const lastFailure = { reason: 'FailedMount', message: 'no such disk', at: NOW } as const;
  const volumes = [volumeView('data', { ...mount, lastFailure })];
  const unready = pod('slow', {
    main: { app: running({ ...steady, ...at('slow', 'app'), ready: false, children: [failing] }) },
  });
  const halted = pod('ends', { main: { app: running({ ...steady, ...at('ends', 'app') }) }, view: { volumes } });
  expect(drawn(seen(unready, halted), { isOpen: (path) => path === 'pod/slow' })).toBe(`
+ steady node host | 60s
+ retrying pod ends | data: FailedMount | in 2s
- steady pod slow | 0/1 | 2m10s
  + retrying container app | readiness: Unhealthy | in 4s
`);
});

describe('a filter', () => {
  const filtered = (text: string) => {
    const read = parseFilter(text);
    return drawn(seen(crash, web), 'matches' in read ? { matches: read.matches } : {});
  };

  test('expands only the ancestors of a match', () => {
    expect(filtered('is:retrying kind:container')).toBe(`
(- steady pod crash) | 1/2 | 2m10s
    retrying container job | CrashLoopBackOff | in 48s
`);
  });

  test('leaves a match collapsed', () => {
    expect(filtered('web')).toBe('\n+ steady pod web | 2m10s\n');
  });
});

describe('the order', () => {
  const names = (view: Partial<RowSelection>) =>
    actorRows(seen(done, web, pulling, crash), { isOpen: () => false, ...view })
      .slice(1)
      .map(({ name }) => name);

  test('sorts by name, by age or by the latest change, in either direction', () => {
    expect(names({ order: 'name' })).toEqual(['crash', 'once', 'shop/pulling', 'web']);
    expect(names({ order: 'name', isReversed: true })).toEqual(['web', 'shop/pulling', 'once', 'crash']);
    expect(names({ order: 'age' })).toEqual(['crash', 'once', 'shop/pulling', 'web']);
    expect(names({ order: 'changed' })).toEqual(['crash', 'once', 'shop/pulling', 'web']);
  });

  test('retains the current order and appends new pods', () => {
    expect(names({ retainedOrder: ['pod/web', 'pod/once', 'pod/gone'] })).toEqual([
      'web',
      'once',
      'crash',
      'shop/pulling',
    ]);
  });
});

test('all actors are counted, whether expanded or not', () => {
  expect(countActors(seen(crash, web))).toEqual({ pods: 2, actors: 7 + 3 + 3 });
});
