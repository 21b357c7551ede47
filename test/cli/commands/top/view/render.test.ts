import { describe, expect, test } from '@jest/globals';
import { isPrintable } from '../../../../../base/text/printable.ts';
import { initialControls, type TopControls } from '../../../../../cli/commands/top/view/controls.ts';
import { renderPlainTop, renderTop, type TopScene } from '../../../../../cli/commands/top/view/render.ts';
import { actorRows } from '../../../../../show/actors/actorRows.ts';
import type { ActorRow } from '../../../../../show/actors/treeRows.ts';
import { displayWidth } from '../../../../../show/tables/displayWidth.ts';
import { NOW } from '../../../../kubernetes/views.ts';
import { ESC } from '../../../../support/escape.ts';
import { actorsOf, crashed, seen } from './scenes.ts';

const HOSTILE = '\x1b[2J\x9b31m\u202egpj.exe\r\nroot# 節點';
const actors = actorsOf([seen('web'), seen('db', crashed)]);

function sceneOf(controls: Partial<TopControls> = {}, more: Partial<TopScene> = {}): TopScene {
  const all = { ...initialControls(''), selectedPath: 'pod/db', line: 1, ...controls };
  const shown = more.actors ?? actors;
  const rows = actorRows(shown, { isOpen: (path) => all.expandedPaths.has(path) });
  return { actors: shown, rows, from: 0, controls: all, now: NOW, ...more };
}
const surface = (width: number, height: number, colour = false) => ({ width, height, colour });
const drawn = (scene: TopScene, width = 80, height = 8) =>
  `\n${renderTop(scene, surface(width, height)).lines.join('\n')}\n`;

test('the tree is below a line about the node, and the selected row is marked even without colors', () => {
  expect(drawn(sceneOf({ expandedPaths: new Set(['pod/db']) }))).toBe(`
12:02:56 node host running · 2 pods, 11 actors · 1 retrying · start 1/4 · pull …
 ▸ ● host                        node                                        60s
>▾ ● db                          pod            0/1                          60s
     ↻ app                       container      RunContainerError         in 48s
 ▸ ● web                         pod            0/1                          60s


↑↓ move  ←→ fold  Enter story  / filter  s order  ? help  q quit                
`);
});

test('a narrow terminal shows names, problems and times', () => {
  expect(drawn(sceneOf(), 40, 5)).toBe(`
12:02:56 node host running · 2 pods, 11…
 ▸ ● host                            60s
>▸ ↻ db           app: RunCont…   in 48s
 ▸ ● web          0/1                60s
? help  q quit                          
`);
});

test('a lost connection is reported, and the ages stop', () => {
  const lostConnection = { since: NOW + 5_000, retryAt: NOW + 11_000, reason: 'the agent has gone' };
  const text = drawn(sceneOf({}, { lostConnection, now: NOW + 9_000 }));
  expect(text).toContain('\nConnection lost 4s ago, retrying in 2s: the agent has gone\n');
  expect(text).toMatch(/>▸ ↻ db .* in 48s\n/);
});

describe('the details of the selected actor', () => {
  const row = sceneOf({ expandedPaths: new Set(['pod/db']) }).rows[2] as ActorRow; // the row exists, as pod/db is expanded
  const detail = {
    row,
    since: NOW - 30_000,
    at: NOW,
    entries: [1, 2, 3, 4, 5, 6].map((at) => ({ at: NOW + at, description: `move ${at}` })),
    explanation: {
      path: row.path,
      answer: 'container app keeps failing',
      log: { file: '/log', lines: ['panic'] },
      events: [{ at: NOW, description: 'warning BackOff: again' }],
    },
  };
  const told = (offset = 0) =>
    drawn(sceneOf({ showsDetail: true, offset }, { detail }), 80, 24)
      .split('\n')
      .slice(13, 24);

  test('contain the explanation, the end of the log, and the history up to the latest transition', () => {
    expect(told()).toEqual([
      `── container app of default/db-host ${'─'.repeat(44)}`,
      'container app keeps failing',
      'ended.backingOff, waiting for its back-off until 12:03:44 (in 48s)',
      'last lines of /log',
      '  | panic',
      'story: polled once a second since 12:02:26, with the events of the last hour',
      ...[2, 3, 4, 5, 6].map((at) => `  12:02:56 move ${at}`),
    ]);
  });

  test('scroll the history back to its start', () => {
    expect(told(1).at(-1)).toBe('  12:02:56 move 5');
    expect(told(99).slice(6, 8)).toEqual(['  12:02:56 warning BackOff: again', '  12:02:56 move 1']);
  });
});

test('a filter without matches shows how many actors it hides, and an invalid one shows the error', () => {
  const text = drawn(sceneOf({ filter: 'nowhere' }, { rows: [] }));
  expect(text).toContain('the filter hides all 11 actors; Esc clears it');
  expect(drawn(sceneOf({ filter: '', draftFilter: 'is:x' }))).toContain('filter: is:x█  is:x: expected one of broken');
});

test('only the visible rows around the selection are rendered, even with thousands of actors', () => {
  const many = actorsOf(Array.from({ length: 3_000 }, (_, index) => seen(`p${index}`)));
  const scene = sceneOf({ selectedPath: 'pod/p500', line: 2 }, { actors: many });
  let looked = 0;
  const rows = scene.rows.map((each) => ({
    ...each,
    get told() {
      looked += 1;
      return each.subject;
    },
  }));
  const { lines, from } = renderTop({ ...scene, rows }, surface(80, 10));
  expect(lines[3]).toMatch(/^>▸ ● p500 /);
  expect(from).toBeGreaterThan(1_000);
  expect(looked).toBeLessThan(20);
});

describe.each([false, true])('with colors: %s', (colour) => {
  test.each([
    [240, 40],
    [80, 24],
    [40, 10],
    [20, 4],
    [7, 3],
    [1, 1],
  ])('renders hostile names within %d columns and %d lines', (width, height) => {
    const lastFailure = { reason: 'InternalError', message: HOSTILE, at: NOW } as const;
    const hostile = actorsOf([seen('x', { ...crashed, name: HOSTILE, state: HOSTILE, lastFailure }, HOSTILE)]);
    for (const page of ['tree', 'help'] as const) {
      const expandedPaths = new Set(['pod/x']);
      const lostConnection = { since: NOW, retryAt: NOW, reason: HOSTILE };
      const base = sceneOf(
        { page, expandedPaths, selectedPath: 'pod/x', showsDetail: true, filter: HOSTILE },
        { actors: hostile, lostConnection },
      );
      const row = base.rows[1] as ActorRow; // the pod
      const detail = { row, since: NOW, at: NOW, entries: [{ at: NOW, description: HOSTILE }] };
      const { lines } = renderTop({ ...base, detail }, surface(width, height, colour));
      expect(lines).toHaveLength(height);
      for (const line of lines) {
        const plain = line.replaceAll(new RegExp(`${ESC}\\[\\d+m`, 'g'), '');
        expect([plain, isPrintable(plain), plain.includes('\n')]).toEqual([plain, true, false]);
        expect(displayWidth(plain)).toBeLessThanOrEqual(width);
      }
    }
  });
});

test('without a screen all actors are printed, or those that match the filter', () => {
  const lines = renderPlainTop({ actors, filter: 'is:retrying', now: NOW }, 60);
  expect(lines.slice(1)).toEqual([
    ' ▾ ● db                       0/1                        60s',
    '     ↻ app                    RunContainerError       in 48s',
  ]);
  expect(renderPlainTop({ actors, filter: 'none', now: NOW }, 60)[1]).toBe(
    'the filter hides all 11 actors; Esc clears it',
  );
});
