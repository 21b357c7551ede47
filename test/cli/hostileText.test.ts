import { expect, test } from '@jest/globals';
import { isPrintable } from '../../base/text/printable.ts';
import { INITIAL_CONTROLS } from '../../cli/terminal/table/controls.ts';
import { renderFinal, renderFrame } from '../../cli/terminal/table/render.ts';
import { tablePrinter } from '../../cli/terminal/table/tablePrinter.ts';
import { TerminalText } from '../../cli/terminal/terminalText.ts';
import { describePod } from '../../show/describe/pod.ts';
import { displayWidth } from '../../show/tables/displayWidth.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { exited, NOW, podView, seenPod } from '../kubernetes/views.ts';
import { productFiles } from '../support/tree.ts';

/**
 * Clears the screen, sets the title, rings the bell, sets a color with an 8-bit control, reverses the text direction,
 * deletes, and starts a new line.
 */
const HOSTILE = '\x1b[2J\x1b]0;title\x07\x9b31m\u202egpj.exe\r\x7f\nroot#';

const view = podView({
  main: {
    app: exited(1, {
      lastFailure: { reason: 'RuntimeError', message: HOSTILE, at: NOW },
      waitingFor: HOSTILE,
    }),
  },
  meta: { name: 'web-host', uid: 'a', annotations: { said: HOSTILE } },
});
const problems = [{ file: `/pods/${HOSTILE}.yaml`, path: HOSTILE, message: HOSTILE }];
const agent = fakeAgent({ now: NOW, views: [view], node: { problems } });

test('hostile text does not break the lines of the live table, its log or its final output', () => {
  const scene = { node: agent.node(), pods: [seenPod(view)], log: [HOSTILE], now: NOW, controls: INITIAL_CONTROLS };
  const surface = { width: 100, height: 24, colour: false };
  const pages = (['table', 'log', 'help'] as const).flatMap(
    (page) => renderFrame({ ...scene, controls: { ...INITIAL_CONTROLS, page } }, surface).lines,
  );
  for (const line of [...pages, ...renderFinal(scene, surface)]) {
    expect([line, isPrintable(line), line.includes('\n')]).toEqual([line, true, false]);
    expect(displayWidth(line)).toBeLessThanOrEqual(100);
  }
  expect(pages.join('\n')).toContain('^[[2J^[]0;title\\x07\\u009b31m\\u202egpj.exe');
});

test('a table cell ends at its first line, and the columns stay aligned', () => {
  let text = '';
  const table = tablePrinter((more) => {
    text += more;
  });
  table.print(
    ['NAME', 'MESSAGE', 'AGE'],
    [
      [HOSTILE, 'a\nb', '1s'],
      ['節點', 'c', '2s'],
    ],
  );
  table.print(['NAME', 'MESSAGE', 'AGE'], [['x', HOSTILE, '3s']]);
  expect(isPrintable(text)).toBe(true);
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[1]).toBe('^[[2J^[]0;title\\x07\\u009b31m\\u202egpj.exe...   a...      1s');
  const column = (line = '', cell = '') => displayWidth(line.slice(0, line.lastIndexOf(cell)));
  expect([column(lines[2], 'c'), column(lines[2], '2s')]).toEqual([
    column(lines[0], 'MESSAGE'),
    column(lines[0], 'AGE'),
  ]);
});

test('hostile text in a description is escaped', () => {
  const text = describePod(seenPod(view).pod, [], NOW, undefined);
  expect(text).toContain('^[[2J');
  expect(isPrintable(text)).toBe(true);
});

test('hostile text in a log on a terminal is escaped, except for colors', () => {
  const text = new TerminalText();
  const shown = `${text.push(Buffer.from(`\x1b[1m${HOSTILE}\n`))}${text.flush()}`;
  expect(isPrintable(shown.replace('\x1b[1m', '').replace('\x1b[0m', ''))).toBe(true);
  expect(shown).toContain('\x1b[1m^[[2J^[]0;title\\x07\\u009b31m\\u202egpj');
});

/** All writers to a terminal. Each either receives a function that escapes the text or calls `printable` itself. */
const WRITERS = [
  'cli/commands/get/get.ts: 3',
  'cli/commands/get/getActors.ts: 1',
  'cli/commands/get/getEvents.ts: 1',
  'cli/commands/get/getNodes.ts: 1',
  'cli/commands/image/image.ts: 2',
  'cli/terminal/lineView.ts: 1',
  // Writes container logs: unchanged unless a terminal reads them, otherwise escaped by `TerminalText`.
  'cli/commands/stream/printLogs.ts: 1',
  // The output of a container goes unchanged to its user's terminal, because the command may control the terminal
  // deliberately.
  'cli/main.ts: 6',
  'cli/output/standardOutput.ts: 1',
  'cli/terminal/table/screen.ts: 4',
  'cli/terminal/terminalScreen.ts: 1',
  'cli/terminal/terminalView.ts: 1',
  'cli/commands/top/top.ts: 1',
  'cli/commands/top/topUsage.ts: 2',
  'stats/pods/usageChild.ts: 1',
  'testing/simulation/soak/findings.ts: 5',
  'testing/simulation/soak/soak.ts: 3',
  'testing/simulation/soak/soakFaults.ts: 3',
  // The standard output of this child process is a pipe to the agent, which reads JSON from it.
  'volume/volumeChild.ts: 1',
];

test('only code that is known to escape writes to the terminal', () => {
  const writes = /\bstd(?:out|err)\.write\(|\b(?:output|terminal)\.write\(|\bconsole\.|\bwriteSync\(/g;
  const found = productFiles
    .map(({ file, text }) => ({ file, count: [...text.matchAll(writes)].length }))
    .filter(({ count }) => count > 0);
  expect(found.map(({ file, count }) => `${file}: ${count}`).toSorted()).toEqual(WRITERS.toSorted());
});
