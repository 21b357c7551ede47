import { styleText } from 'node:util';
import { printableLine } from '../../../base/text/printable.ts';
import { humanDuration } from '../../../base/time/duration.ts';
import type { PodWithTree } from '../../../show/actors/podActors.ts';
import { drainProgressText } from '../../../show/explain/explainNode.ts';
import * as display from '../../../show/tables/displayWidth.ts';
import type { NodeSummary } from '../../../socket/agent.ts';
import { type Controls, clampOffset, type Extent, effectiveFilter } from './controls.ts';
import { type Column, layOut } from './layout.ts';
import { liveRows, type Tone } from './liveRows.ts';
import { nodeReadiness, readinessText } from './ready.ts';

/** Help for the keys of the live table. */
const HELP: readonly string[] = [
  '↑ ↓  k j            scroll by a line',
  'PgUp PgDn  b Space  scroll by a page',
  'Home End  g G       to the first or last line',
  's                   sort: worst first (default), by name, by age (youngest first), by restarts',
  'R                   reverse the order',
  '/                   filter pods by text in a name, status or reason; Enter applies the filter, Esc clears it',
  'd                   detail: as much as fits, everything, only problems, only pods',
  'l                   messages since the start',
  '? h                 this help',
  'Esc                 back to the table; in the table: clear the filter',
  'Ctrl-C              stop the node: its pods terminate gracefully, then its containerd stops',
  'Ctrl-C again        after two seconds or more: stop at once and leave the pods running',
  'Ctrl-Z              suspend the agent; its pods keep running, and "fg" resumes it',
  '',
  'In another terminal: "statelet explain pod/NAME" says why a pod is in its current state.',
];

/**
 * Escapes control characters and truncates the text. All text on the screen must pass through this function or
 * `wrapLine`, so that no control characters from pods or manifests reach the terminal.
 */
const truncateLine = (text: string, width: number): string => display.truncate(printableLine(text), width);
const wrapLine = (text: string, width: number): string[] => display.wrapText(printableLine(text), width);

/** On a narrow terminal, columns other than NAME and STATUS are dropped. REASON is the last one to be dropped. */
const COLUMNS: readonly Column[] = [
  { header: 'NAME', min: 16 },
  { header: 'STATUS', min: 16 },
  { header: 'STATE', dropOrder: 2 },
  { header: 'SINCE', align: 'right', dropOrder: 4 },
  { header: 'RESTARTS', align: 'right', dropOrder: 3 },
  { header: 'IP', dropOrder: 1 },
  { header: 'REASON', min: 36, reducedMin: 12, dropOrder: 5 },
];

/** The area to draw on. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly colour: boolean;
}

/** The data that a frame of the live table shows. */
export interface Scene {
  readonly node: NodeSummary;
  readonly pods: readonly PodWithTree[];
  /** The printed lines, oldest first. */
  readonly log: readonly string[];
  /** The link to the page, once the page is served. */
  readonly page?: string;
  readonly now: number;
  readonly controls: Controls;
}

/** The rendered lines of a whole screen, and the extent of the page that they show. */
export interface Frame extends Extent {
  readonly lines: readonly string[];
}

const COLOURS = { good: 'green', busy: 'yellow', bad: 'red', done: 'dim' } as const satisfies Record<Tone, string>;

type Format = Parameters<typeof styleText>[0];

function createPainter({ colour }: Surface): (text: string, format: Format) => string {
  return (text, format) => (colour && text !== '' ? styleText(format, text, { validateStream: false }) : text);
}

/** Describes the progress of a start or stop, or else counts the running pods. */
function progressText({ node, pods, now }: Scene): string {
  const { tags, waitingFor, until } = node;
  if (tags.includes('ending') && pods.length > 0) return drainProgressText(pods.length, until, now);
  if (pods.length === 0 && tags.includes('done')) return 'no pods left';
  if (pods.length === 0 && waitingFor !== undefined) return `waiting for ${waitingFor}`;
  return readinessText(
    nodeReadiness(
      pods.map(({ pod }) => pod),
      now,
    ),
  );
}

/**
 * Returns the state of the runtime. Undefined until the runtime has responded once, because the node's own state
 * already shows that it is waiting for the runtime.
 */
function runtimeText({ node: { runtime }, now }: Scene): string | undefined {
  const { name, version, state, since, message } = runtime;
  if (since === undefined) return undefined;
  const runtimeName = name === '' ? 'container runtime' : `${name} ${version}`;
  const why = state === 'ready' || message === undefined ? '' : `: ${message}`;
  return `${runtimeName} ${state} for ${humanDuration(Math.max(0, now - since))}${why}`;
}

/**
 * Returns the lines with the states of the node and the runtime. If the state of the runtime does not fit on the node's
 * line, it gets its own line, or is left out if the runtime is ready.
 */
function headLines(scene: Scene, { width }: Surface): string[] {
  const { name, state, runtime } = scene.node;
  const node = `node ${name} ${state} · ${progressText(scene)}`;
  const runtimeState = runtimeText(scene);
  if (runtimeState === undefined) return [node];
  const combinedLine = `${node} · ${runtimeState}`;
  if (display.displayWidth(printableLine(combinedLine)) <= width) return [combinedLine];
  return runtime.state === 'ready' ? [node] : [node, runtimeState];
}

/** Returns the lines above the table: the node, and a label if the runtime is simulated. */
function renderHeader(scene: Scene, surface: Surface): string[] {
  const paint = createPainter(surface);
  const label = 'SIMULATED runtime: no real containers run';
  return [
    ...headLines(scene, surface).map((line) => paint(truncateLine(line, surface.width), 'bold')),
    ...(scene.node.simulated ? [paint(truncateLine(label, surface.width), ['bold', 'magenta'])] : []),
  ];
}

/** Maximum number of lines for rejected manifests. */
const MAX_PROBLEMS = 3;
/** Maximum number of lines for warnings about manifests. */
const MAX_WARNINGS = 2;

type ManifestProblem = NodeSummary['problems'][number];

/** Returns a line for each problem. The last line counts the problems beyond `maxLines`. */
function limitLines(
  problems: readonly ManifestProblem[],
  maxLines: number,
  line: (problem: ManifestProblem) => string,
): string[] {
  if (problems.length <= maxLines) return problems.map(line);
  const shownProblems = problems.slice(0, maxLines - 1);
  return [
    ...shownProblems.map(line),
    `! and ${problems.length - shownProblems.length} more: see "statelet explain node"`,
  ];
}

const fieldMessage = (path: string, message: string): string => (path === '' ? message : `${path}: ${message}`);

/** Formats a warning. Names the pod rather than the file if the pod is known, because a long path may be truncated. */
function warningText({ file, path, message, pod }: ManifestProblem, width: number): string {
  const problemText = fieldMessage(path, message);
  const warning =
    pod === undefined
      ? pathMessage(file, problemText, width - 11)
      : `pod ${pod.replace(/^default\//, '')}: ${problemText}`;
  return `! warning: ${warning}`;
}

/** Number of columns at the end of a path that are always visible. */
const MIN_PATH_WIDTH = 24;

/**
 * Formats a path with a message. If both do not fit, the start of the path is truncated, because its end names the
 * file.
 */
function pathMessage(path: string, message: string, width: number): string {
  const [printablePath, printableMessage] = [printableLine(path), printableLine(message)];
  const pathWidth = Math.max(MIN_PATH_WIDTH, width - 2 - display.displayWidth(printableMessage));
  if (display.displayWidth(printablePath) <= pathWidth) return `${printablePath}: ${printableMessage}`;
  const characters = [...printablePath].slice(-pathWidth);
  while (display.displayWidth(characters.join('')) > pathWidth - 1) characters.shift();
  return `…${characters.join('')}: ${printableMessage}`;
}

/**
 * Returns the lines below the table: the node's problem, rejected manifests, warnings, and pods that this agent does
 * not own.
 */
function renderFooter({ node, page }: Scene, surface: Surface): string[] {
  const paint = createPainter(surface);
  const problems = limitLines(
    node.problems,
    MAX_PROBLEMS,
    ({ file, path, message }) => `! ${pathMessage(file, fieldMessage(path, message), surface.width - 2)}`,
  );
  const warnings = limitLines(node.warnings, MAX_WARNINGS, (each) => warningText(each, surface.width));
  const foreignCount = node.foreign.length;
  const foreignText = `${foreignCount} ${foreignCount === 1 ? 'pod' : 'pods'} that this agent did not create: left alone, see "statelet explain node"`;
  return [
    ...(node.trouble === undefined ? [] : [paint(truncateLine(`! ${node.trouble}`, surface.width), 'red')]),
    ...problems.map((line) => paint(truncateLine(line, surface.width), 'red')),
    ...warnings.map((line) => paint(truncateLine(line, surface.width), 'yellow')),
    ...(foreignCount === 0 ? [] : [truncateLine(foreignText, surface.width)]),
    ...linkLines(page, surface.width),
  ];
}

/**
 * Splits the link into lines of full width, because terminals join such lines when the user opens or copies the link.
 */
function linkLines(page: string | undefined, width: number): string[] {
  if (page === undefined) return [];
  const printableLink = printableLine(page);
  const titledLink = `page: ${printableLink}`;
  return display.displayWidth(titledLink) <= width ? [titledLink] : wrapLine(printableLink, width);
}

/** Returns the number of log lines below the table. */
const visibleLogLines = (height: number): number => (height >= 20 ? 5 : height >= 12 ? 2 : 0);

const LEGEND = '↑↓ scroll  s sort  / filter  d detail  l log  ? help  Ctrl-C end';

/** Returns the line with the settings, scroll position and keys, or the filter being typed. */
function statusLine({ controls }: Scene, extent: Extent, { width }: Surface): string {
  const { draftFilter, hint, sortOrder, isReversed, detailLevel, page } = controls;
  if (draftFilter !== undefined) return truncateLine(`filter: ${draftFilter}█  (Enter to apply, Esc to clear)`, width);
  if (hint !== undefined) return truncateLine(hint, width);
  const from = clampOffset(controls.offset, extent);
  const to = Math.min(from + extent.visibleLines, extent.totalLines);
  const controlTexts = [
    ...(extent.totalLines > extent.visibleLines ? [`${from + 1}-${to} of ${extent.totalLines}`] : []),
    ...(page === 'table' && (sortOrder !== 'worst' || isReversed)
      ? [`by ${sortOrder}${isReversed ? ', reversed' : ''}`]
      : []),
    ...(page === 'table' && detailLevel !== 'auto' ? [detailLevel] : []),
    ...(page === 'table' && effectiveFilter(controls) !== '' ? [`filter "${effectiveFilter(controls)}"`] : []),
  ].join(' · ');
  const keys = page === 'table' ? LEGEND : `↑↓ scroll  Esc back to the table`;
  if (controlTexts === '') return truncateLine(keys, width);
  const fullLine = `${controlTexts}  ${keys}`;
  return display.displayWidth(fullLine) <= width
    ? fullLine
    : truncateLine(`${controlTexts}  ? help  Ctrl-C end`, width);
}

/** Returns the coloured header and rows of the table. */
function renderTable(
  { pods, now, controls }: Scene,
  surface: Surface,
  visibleLines: number,
): { header: string; rows: string[] } {
  const paint = createPainter(surface);
  const rows = liveRows(pods, now, controls, visibleLines);
  const [header = '', ...lines] = layOut(
    COLUMNS,
    rows.map(({ cells }) => cells),
    surface.width,
  );
  return {
    header: paint(header, 'dim'),
    rows: lines.map((line, index) => paint(line, COLOURS[rows[index]?.tone ?? 'busy'])),
  };
}

/** The content of a page, with fixed lines above and below the scrollable body. */
interface Page {
  readonly headerLines: readonly string[];
  readonly body: readonly string[];
  readonly footerLines: readonly string[];
  readonly visibleLines: number;
}

function tablePage(scene: Scene, surface: Surface): Page {
  const paint = createPainter(surface);
  const headerLines = renderHeader(scene, surface);
  const logLineCount = visibleLogLines(surface.height);
  const log =
    logLineCount === 0
      ? []
      : scene.log.slice(-logLineCount).map((line) => paint(truncateLine(line, surface.width), 'dim'));
  // On a terminal with few rows, all of them are used for pods.
  const footerLines = surface.height >= 8 ? [...renderFooter(scene, surface), ...log] : [];
  const visibleLines = Math.max(0, surface.height - headerLines.length - footerLines.length - 2);
  const { header, rows } = renderTable(scene, surface, visibleLines);
  if (scene.pods.length === 0) return { headerLines, body: ['no pods'], footerLines, visibleLines: visibleLines + 1 };
  return { headerLines: [...headerLines, header], body: rows, footerLines, visibleLines };
}

function textPage(title: string, text: readonly string[], surface: Surface): Page {
  const body = text.flatMap((line) => wrapLine(line, surface.width));
  return {
    headerLines: [createPainter(surface)(truncateLine(title, surface.width), 'bold')],
    body,
    footerLines: [],
    visibleLines: Math.max(0, surface.height - 2),
  };
}

function pageOf(scene: Scene, surface: Surface): Page {
  switch (scene.controls.page) {
    case 'table':
      return tablePage(scene, surface);
    case 'log':
      return textPage('messages since the start', scene.log, surface);
    case 'help':
      return textPage('keys', HELP, surface);
  }
}

/** Renders the screen as lines that exactly fill the surface. */
export function renderFrame(scene: Scene, surface: Surface): Frame {
  const { headerLines, body, footerLines, visibleLines } = pageOf(scene, surface);
  const extent = { visibleLines, totalLines: body.length };
  const from = clampOffset(scene.controls.offset, extent);
  const visibleRows = body.slice(from, from + visibleLines);
  const blankLines = Array.from({ length: Math.max(0, visibleLines - visibleRows.length) }, () => '');
  const status = createPainter(surface)(display.padText(statusLine(scene, extent, surface), surface.width), 'inverse');
  const frameLines = [...headerLines, ...visibleRows, ...blankLines, ...footerLines].slice(
    0,
    Math.max(0, surface.height - 1),
  );
  return { ...extent, lines: surface.height > 1 ? [...frameLines, status] : [...headerLines.slice(0, 1)] };
}

/** Renders the table that remains after closing, with all rows and without key hints. */
export function renderFinal(scene: Scene, surface: Surface): string[] {
  const { header, rows } = renderTable(scene, surface, Number.POSITIVE_INFINITY);
  const body = scene.pods.length === 0 ? [] : [header, ...rows];
  return [...renderHeader(scene, surface), ...body, ...renderFooter(scene, surface)];
}
