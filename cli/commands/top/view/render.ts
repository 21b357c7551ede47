import { styleText } from 'node:util';
import { printableLine } from '../../../../base/text/printable.ts';
import { humanDuration } from '../../../../base/time/duration.ts';
import { actorRows, countActors } from '../../../../show/actors/actorRows.ts';
import { rowCells } from '../../../../show/actors/actorRowText.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import { CATEGORIES, type Category, isHealthy } from '../../../../show/category.ts';
import { clockTime } from '../../../../show/explain/explainText.ts';
import * as display from '../../../../show/tables/displayWidth.ts';
import type { Surface } from '../../../terminal/table/render.ts';
import {
  type DrawnTree,
  filterText,
  initialControls,
  parseCurrentFilter,
  selectedIndex,
  type TopControls,
} from './controls.ts';
import { detailLines, type TopDetail } from './detailLines.ts';
import type { ActorsSnapshot } from './pollActors.ts';

const TOP_HELP: readonly string[] = [
  '↑ ↓  k j            move by a row; PgUp PgDn, b Space: by a page; Home End, g G: to the first or last',
  '← →  h l            collapse, expand; on a collapsed row ← selects the parent, on an expanded row → the first child',
  'o c                 expand the visible actors, collapse all',
  'Enter               show the explanation, log and story of the actor; again, or Esc: hide them',
  '[ ]                 scroll the story',
  '/                   filter: terms that must all match, such as state:backingOff ns:shop kind:container',
  '                    is:retrying waits>30s changed<1m, or any text; Enter applies the filter, Esc clears it',
  's                   order of the pods: worst first (default), by name, by age, by the latest change',
  'R                   reverse the order',
  '? Esc               this help, back from it',
  'q Ctrl-C            quit; the agent keeps running',
  '',
  '● steady  ○ working  ◷ waiting  ↻ retrying  ✓ done  ✗ failed  ◆ broken',
  'The order of the pods does not change until two seconds after the last key.',
  'A collapsed row shows the worst state of its descendants. The actors are polled once a second, so a story lacks',
  'the states in between; "statelet replay" shows all of them.',
];

/** The data that a frame of `top` shows. */
export interface TopScene extends ActorsSnapshot {
  readonly rows: readonly ActorRow[];
  /** Index of the first visible row in the last frame. */
  readonly from: number;
  readonly controls: TopControls;
  /** The detail of the selected actor, if it is shown. */
  readonly detail?: TopDetail | undefined;
  /** Current time according to the clock of this process. `actors.at` is from the agent's clock. */
  readonly now: number;
}

/** The rendered lines of a whole screen, and the tree that they show. */
export interface TopFrame extends DrawnTree {
  readonly lines: readonly string[];
}

const CATEGORY_ICONS: Readonly<Record<Category, string>> = {
  steady: '●',
  working: '○',
  waiting: '◷',
  retrying: '↻',
  done: '✓',
  failed: '✗',
  broken: '◆',
};

const CATEGORY_COLOURS = {
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

/**
 * Returns the function that colours text. While the connection is lost, the function dims all text, because the data is
 * stale.
 */
const createPainter = ({ colour }: Surface, isStale: boolean): Paint => {
  if (!colour) return (text) => text;
  return (text, format) => (text === '' ? '' : styleText(isStale ? 'dim' : format, text, { validateStream: false }));
};

const truncateLine = (text: string, width: number): string => display.truncate(printableLine(text), width);

/** Returns the line about the node, with counts of actors and problems. */
function summaryLine({ actors }: TopScene): string {
  const { node, pods, at, simulated, limiters } = actors;
  const count = countActors(actors);
  const [start, pull] = limiters.map(({ held, capacity, queue }) => {
    return `${held.length}/${capacity}${queue.length > 0 ? ` +${queue.length} queued` : ''}`;
  });
  return [
    `${clockTime(at, at)} node ${node.name} ${node.state}`,
    `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}, ${count.actors} actors`,
    ...problemCounts(actorRows(actors, { isOpen: () => false })),
    ...(simulated ? ['SIMULATED runtime'] : []),
    ...(start === undefined ? [] : [`start ${start}`, `pull ${pull}`]),
  ].join(' · ');
}

function lostConnectionLines({ lostConnection, now }: TopScene): string[] {
  if (lostConnection === undefined) return [];
  const [ago, left] = [now - lostConnection.since, lostConnection.retryAt - now].map((ms) =>
    humanDuration(Math.max(0, ms)),
  );
  return [`Connection lost ${ago} ago, retrying in ${left}: ${lostConnection.reason}`];
}

/** Returns the widths of the columns. They do not depend on the rows, so they do not change while the user scrolls. */
function columnWidths(width: number) {
  const timeWidth = 8;
  const kind = width >= 72 ? 14 : 0;
  const remainingWidth = width - timeWidth - 1 - (kind > 0 ? kind + 1 : 0);
  const name = Math.max(12, Math.floor(remainingWidth * 0.58));
  return { time: timeWidth, kind, name, detail: Math.max(0, remainingWidth - name - 1) };
}

function rowLine(row: ActorRow, at: number, { width }: Surface, paint: Paint, isSelected: boolean): string {
  const { depth, category, kind, name, isExpanded, isMatch } = row;
  const widths = columnWidths(width);
  const { detail, time } = rowCells(row, at);
  const foldIcon = isExpanded === undefined ? ' ' : isExpanded ? '▾' : '▸';
  const prefix = `${isSelected ? '>' : ' '}${'  '.repeat(depth)}${foldIcon} `;
  const nameCell = truncateLine(name, widths.name - display.displayWidth(prefix) - 2);
  const label = display.padText(`${prefix}${CATEGORY_ICONS[category]} ${nameCell}`, widths.name);
  const kindCell = widths.kind > 0 ? ` ${display.padText(truncateLine(kind, widths.kind), widths.kind)}` : '';
  const detailCell = ` ${display.padText(truncateLine(detail, widths.detail), widths.detail)}`;
  const timeCell = ` ${display.padText(time, widths.time, 'right')}`;
  if (isSelected) return paint(display.truncate(label + kindCell + detailCell + timeCell, width), 'inverse');
  if (display.displayWidth(label + kindCell + detailCell + timeCell) > width)
    return display.truncate(label + timeCell, width);
  const iconIndex = label.indexOf(CATEGORY_ICONS[category]);
  const colouredParts = [
    label.slice(0, iconIndex) + paint(CATEGORY_ICONS[category], CATEGORY_COLOURS[category]),
    (isMatch ? label.slice(iconIndex + 1) : paint(label.slice(iconIndex + 1), 'dim')) + paint(kindCell, 'dim'),
    paint(detailCell, isHealthy(category) ? 'dim' : CATEGORY_COLOURS[category]) + paint(timeCell, 'dim'),
  ];
  return colouredParts.join('');
}

const KEY_LEGEND = '↑↓ move  ←→ fold  Enter story  / filter  s order  ? help  q quit';

/** Returns the status line, which shows the settings and key bindings, or the filter being typed. */
function statusLine({ rows, controls }: TopScene, tree: DrawnTree, { width }: Surface): string {
  const { problem } = parseCurrentFilter(controls);
  const problemText = problem === undefined ? '' : `  ${problem}`;
  if (controls.draftFilter !== undefined)
    return truncateLine(`filter: ${controls.draftFilter}█${problemText}  (Enter to apply, Esc to clear)`, width);
  if (controls.page === 'help') return truncateLine('Esc back to the tree  ↑↓ scroll  q quit', width);
  const controlTexts = [
    ...(rows.length > tree.visibleRowCount ? [`${selectedIndex(tree, controls) + 1} of ${rows.length}`] : []),
    ...(controls.sortOrder === 'worst' && !controls.isReversed
      ? []
      : [`by ${controls.sortOrder}${controls.isReversed ? ', reversed' : ''}`]),
    ...(filterText(controls) === '' ? [] : [`filter "${controls.filter}"${problemText}`]),
  ];
  const fullLine = printableLine(
    [...(controlTexts.length > 0 ? [controlTexts.join(' · ')] : []), KEY_LEGEND].join('  '),
  );
  return display.displayWidth(fullLine) <= width
    ? fullLine
    : truncateLine([...controlTexts, '? help', 'q quit'].join('  '), width);
}

/** Returns the height of the detail. The tree gets at least half of the screen. */
const detailHeight = (height: number, showsDetail: boolean): number =>
  showsDetail ? Math.max(0, Math.floor((height - 2) / 2)) : 0;

function emptyText({ actors, controls }: TopScene): string {
  const { actors: count } = countActors(actors);
  return filterText(controls) === '' ? 'no actors' : `the filter hides all ${count} actors; Esc clears it`;
}

function treeFrame(
  scene: TopScene,
  surface: Surface,
  headerLines: readonly string[],
): Omit<TopFrame, 'lines'> & { body: string[] } {
  const { rows, controls, lostConnection, actors } = scene;
  const detailLineCount = detailHeight(surface.height, controls.showsDetail);
  const visibleRows = Math.max(1, surface.height - 1 - headerLines.length - detailLineCount);
  const paint = createPainter(surface, lostConnection !== undefined);
  const line = Math.min(controls.line, visibleRows - 1);
  const index = selectedIndex({ rows, visibleRowCount: visibleRows, from: scene.from }, controls);
  const from = Math.max(0, Math.min(index - line, rows.length - visibleRows));
  const body = rows
    .slice(from, from + visibleRows)
    .map((row, each) => rowLine(row, actors.at, surface, paint, from + each === index));
  if (rows.length === 0) body.push(truncateLine(emptyText(scene), surface.width));
  while (body.length < visibleRows) body.push('');
  const detailRows =
    detailLineCount === 0
      ? []
      : detailLines(scene.detail, { width: surface.width, height: detailLineCount, offset: controls.offset });
  return {
    rows,
    visibleRowCount: visibleRows,
    from,
    body: [...body, ...detailRows.map((each, at) => (at === 0 ? paint(each, 'bold') : each))],
  };
}

/** Renders the screen as lines that exactly fill the surface. Only visible rows are rendered. */
export function renderTop(scene: TopScene, surface: Surface): TopFrame {
  const { lostConnection, controls } = scene;
  const paint = createPainter(surface, lostConnection !== undefined);
  const titleLine = paint(truncateLine(summaryLine(scene), surface.width), 'bold');
  const headerLines =
    surface.height < 4
      ? []
      : [titleLine, ...lostConnectionLines(scene).map((line) => truncateLine(line, surface.width))];
  const { body, ...tree } = treeFrame(scene, surface, headerLines);
  const status = paint(display.padText(statusLine(scene, tree, surface), surface.width), 'inverse');
  const help = TOP_HELP.flatMap((line) => display.wrapText(line, surface.width)).slice(controls.offset);
  const pageLines = controls.page === 'help' ? [...help, ...body.map(() => '')].slice(0, body.length) : body;
  const frameLines = [...headerLines, ...pageLines].slice(0, Math.max(0, surface.height - 1));
  return { ...tree, lines: [...frameLines, ...(surface.height > 0 ? [status] : [])] };
}

/** Counts the pods with problems, and the node if it has any. */
function problemCounts(rows: readonly ActorRow[]): string[] {
  const counts = CATEGORIES.filter((each) => !isHealthy(each)).flatMap((each) => {
    const count = rows.filter(({ category }) => category === each).length;
    return count > 0 ? [`${count} ${each}`] : [];
  });
  return counts.length > 0 ? [counts.join(', ')] : [];
}

/** Renders all matching actors as plain lines, fully expanded, for output that is not a terminal. */
export function renderPlainTop(
  { filter, ...look }: ActorsSnapshot & { readonly filter: string; readonly now: number },
  width: number,
): string[] {
  const controls = initialControls(filter);
  const { matches } = parseCurrentFilter(controls);
  const { actors, lostConnection } = look;
  const scene = { ...look, rows: actorRows(actors, { isOpen: () => true, matches }), from: 0, controls };
  const surface = { width, height: 0, colour: false };
  const paint = createPainter(surface, lostConnection !== undefined);
  const rows = scene.rows.map((row) => rowLine(row, actors.at, surface, paint, false).trimEnd());
  return [summaryLine(scene), ...lostConnectionLines(scene), ...(rows.length > 0 ? rows : [emptyText(scene)])].map(
    (line) => truncateLine(line, width),
  );
}
