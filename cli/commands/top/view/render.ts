import { styleText } from 'node:util';
import { humanDuration } from '../../../../base/duration.ts';
import { printableLine } from '../../../../base/printable.ts';
import { actorRows, countActors } from '../../../../show/actors/actorRows.ts';
import { rowText } from '../../../../show/actors/actorRowText.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import { CATEGORIES, type Category, isHealthy } from '../../../../show/category.ts';
import { clockTime } from '../../../../show/explain/explainText.ts';
import * as display from '../../../../show/tables/displayWidth.ts';
import type { Surface } from '../../../terminal/table/render.ts';
import { type DrawnTree, filterOf, filterText, firstControls, selectedIndex, type TopControls } from './controls.ts';
import { TOP_HELP } from './help.ts';
import type { Look } from './looks.ts';
import { detailLines, type TopDetail } from './renderDetail.ts';

/** What there is to draw. */
export interface TopScene extends Look {
  readonly rows: readonly ActorRow[];
  /** How many of them were scrolled past in the last drawing. */
  readonly from: number;
  readonly controls: TopControls;
  /** Of the selected actor, where that is shown. */
  readonly detail?: TopDetail | undefined;
  /** By the clock of who looks; the agent's own is that of its actors. */
  readonly now: number;
}

/** A whole screen, and the tree on it. */
export interface TopFrame extends DrawnTree {
  readonly lines: readonly string[];
}

const ICONS: Readonly<Record<Category, string>> = {
  steady: '●',
  working: '○',
  waiting: '◷',
  retrying: '↻',
  done: '✓',
  failed: '✗',
  broken: '◆',
};

const COLOURS = {
  steady: 'green',
  working: 'cyan',
  waiting: 'blue',
  retrying: 'yellow',
  done: 'dim',
  failed: 'red',
  broken: 'magenta',
} as const satisfies Record<Category, string>;

type Format = Parameters<typeof styleText>[0];
type Paint = (text: string, format: Format) => string;

/** While nothing new is heard all is grey: it may be otherwise by now. */
const painter = ({ colour }: Surface, isStale: boolean): Paint => {
  if (!colour) return (text) => text;
  return (text, format) => (text === '' ? '' : styleText(isStale ? 'dim' : format, text, { validateStream: false }));
};

const cut = (text: string, width: number): string => display.truncate(printableLine(text), width);

/** The node, how many actors there are, and what of them is not well. */
function headLine({ actors }: TopScene): string {
  const { node, pods, at, simulated, limiters } = actors;
  const count = countActors(actors);
  const [start, pull] = limiters.map(({ held, capacity, queue }) => {
    return `${held.length}/${capacity}${queue.length > 0 ? ` +${queue.length} queued` : ''}`;
  });
  return [
    `${clockTime(at, at)} node ${node.name} ${node.state}`,
    `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}, ${count.actors} actors`,
    ...troubleText(actorRows(actors, { isOpen: () => false })),
    ...(simulated ? ['SIMULATED runtime'] : []),
    ...(start === undefined ? [] : [`start ${start}`, `pull ${pull}`]),
  ].join(' · ');
}

function lostLine({ lost, now }: TopScene): string[] {
  if (lost === undefined) return [];
  const [ago, left] = [now - lost.since, lost.retryAt - now].map((ms) => humanDuration(Math.max(0, ms)));
  return [`Connection lost ${ago} ago, tries again in ${left}: ${lost.why}`];
}

/** The columns of the tree on a surface: they stay while it is scrolled. */
function widthsOf(width: number) {
  const time = 8;
  const kind = width >= 72 ? 14 : 0;
  const rest = width - time - 1 - (kind > 0 ? kind + 1 : 0);
  const name = Math.max(12, Math.floor(rest * 0.58));
  return { time, kind, name, what: Math.max(0, rest - name - 1) };
}

/** A row of the tree, painted. */
function rowLine(row: ActorRow, at: number, { width }: Surface, paint: Paint, isSelected: boolean): string {
  const { depth, category, kind, name, isOpen, isMatch } = row;
  const widths = widthsOf(width);
  const { detail, time } = rowText(row, at);
  const fold = isOpen === undefined ? ' ' : isOpen ? '▾' : '▸';
  const before = `${isSelected ? '>' : ' '}${'  '.repeat(depth)}${fold} `;
  const called = cut(name, widths.name - display.displayWidth(before) - 2);
  const label = display.padText(`${before}${ICONS[category]} ${called}`, widths.name);
  const shownKind = widths.kind > 0 ? ` ${display.padText(cut(kind, widths.kind), widths.kind)}` : '';
  const shownWhat = ` ${display.padText(cut(detail, widths.what), widths.what)}`;
  const end = ` ${display.padText(time, widths.time, 'right')}`;
  if (isSelected) return paint(display.truncate(label + shownKind + shownWhat + end, width), 'inverse');
  if (display.displayWidth(label + shownKind + shownWhat + end) > width) return display.truncate(label + end, width);
  const icon = label.indexOf(ICONS[category]);
  const coloured = [
    label.slice(0, icon) + paint(ICONS[category], COLOURS[category]),
    (isMatch ? label.slice(icon + 1) : paint(label.slice(icon + 1), 'dim')) + paint(shownKind, 'dim'),
    paint(shownWhat, isHealthy(category) ? 'dim' : COLOURS[category]) + paint(end, 'dim'),
  ];
  return coloured.join('');
}

const KEYS = '↑↓ move  ←→ fold  Enter story  / filter  s order  ? help  q quit';

/** What is chosen, or being typed, and the keys. */
function statusLine({ rows, controls }: TopScene, tree: DrawnTree, { width }: Surface): string {
  const { problem } = filterOf(controls);
  const wrong = problem === undefined ? '' : `  ${problem}`;
  if (controls.typing !== undefined)
    return cut(`filter: ${controls.typing}█${wrong}  (Enter keeps, Esc clears)`, width);
  if (controls.page === 'help') return cut('Esc back to the tree  ↑↓ scroll  q quit', width);
  const choices = [
    ...(rows.length > tree.room ? [`${selectedIndex(tree, controls) + 1} of ${rows.length}`] : []),
    ...(controls.order === 'worst' && !controls.reversed
      ? []
      : [`by ${controls.order}${controls.reversed ? ', reversed' : ''}`]),
    ...(filterText(controls) === '' ? [] : [`filter "${controls.filter}"${wrong}`]),
  ];
  const both = printableLine([...(choices.length > 0 ? [choices.join(' · ')] : []), KEYS].join('  '));
  return display.displayWidth(both) <= width ? both : cut([...choices, '? help', 'q quit'].join('  '), width);
}

/** How many lines the story of an actor has of so many: the tree keeps the greater half. */
const detailRoom = (height: number, tells: boolean): number => (tells ? Math.max(0, Math.floor((height - 2) / 2)) : 0);

/** What a tree without rows says. */
function emptyText({ actors, controls }: TopScene): string {
  const { actors: count } = countActors(actors);
  return filterText(controls) === '' ? 'no actors' : `the filter hides all ${count} actors; Esc clears it`;
}

function treeFrame(
  scene: TopScene,
  surface: Surface,
  above: readonly string[],
): Omit<TopFrame, 'lines'> & { body: string[] } {
  const { rows, controls, lost, actors } = scene;
  const below = detailRoom(surface.height, controls.tells);
  const room = Math.max(1, surface.height - 1 - above.length - below);
  const paint = painter(surface, lost !== undefined);
  const line = Math.min(controls.line, room - 1);
  const index = selectedIndex({ rows, room, from: scene.from }, controls);
  const from = Math.max(0, Math.min(index - line, rows.length - room));
  const body = rows
    .slice(from, from + room)
    .map((row, each) => rowLine(row, actors.at, surface, paint, from + each === index));
  if (rows.length === 0) body.push(cut(emptyText(scene), surface.width));
  while (body.length < room) body.push('');
  const detail =
    below === 0 ? [] : detailLines(scene.detail, { width: surface.width, height: below, offset: controls.offset });
  return { rows, room, from, body: [...body, ...detail.map((each, at) => (at === 0 ? paint(each, 'bold') : each))] };
}

/** The screen as lines that fill the surface, none wider than it. Only the rows that are seen are made. */
export function renderTop(scene: TopScene, surface: Surface): TopFrame {
  const { lost, controls } = scene;
  const paint = painter(surface, lost !== undefined);
  const head = paint(cut(headLine(scene), surface.width), 'bold');
  const above = surface.height < 4 ? [] : [head, ...lostLine(scene).map((line) => cut(line, surface.width))];
  const { body, ...tree } = treeFrame(scene, surface, above);
  const status = paint(display.padText(statusLine(scene, tree, surface), surface.width), 'inverse');
  const help = TOP_HELP.flatMap((line) => display.wrapText(line, surface.width)).slice(controls.offset);
  const page = controls.page === 'help' ? [...help, ...body.map(() => '')].slice(0, body.length) : body;
  const lines = [...above, ...page].slice(0, Math.max(0, surface.height - 1));
  return { ...tree, lines: [...lines, ...(surface.height > 0 ? [status] : [])] };
}

/** How many of the pods, and of the node itself, are not well. */
function troubleText(rows: readonly ActorRow[]): string[] {
  const counts = CATEGORIES.filter((each) => !isHealthy(each)).flatMap((each) => {
    const count = rows.filter(({ category }) => category === each).length;
    return count > 0 ? [`${count} ${each}`] : [];
  });
  return counts.length > 0 ? [counts.join(', ')] : [];
}

/** All that a filter lets through as lines, for who cannot see a screen: all is open. */
export function plainTop(
  { filter, ...look }: Look & { readonly filter: string; readonly now: number },
  width: number,
): string[] {
  const controls = firstControls(filter);
  const { matches } = filterOf(controls);
  const { actors, lost } = look;
  const scene = { ...look, rows: actorRows(actors, { isOpen: () => true, matches }), from: 0, controls };
  const surface = { width, height: 0, colour: false };
  const paint = painter(surface, lost !== undefined);
  const rows = scene.rows.map((row) => rowLine(row, actors.at, surface, paint, false).trimEnd());
  return [headLine(scene), ...lostLine(scene), ...(rows.length > 0 ? rows : [emptyText(scene)])].map((line) =>
    cut(line, width),
  );
}
