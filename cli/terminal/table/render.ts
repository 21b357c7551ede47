import { styleText } from 'node:util';
import { humanDuration } from '../../../base/duration.ts';
import { printableLine } from '../../../base/printable.ts';
import type { PodWithTree } from '../../../show/actors/podActors.ts';
import { drainProgress } from '../../../show/explain/explainNode.ts';
import * as display from '../../../show/tables/displayWidth.ts';
import type { NodeSummary } from '../../../socket/agent.ts';
import { type Controls, clampOffset, type Extent, effectiveFilter } from './controls.ts';
import { HELP } from './help.ts';
import { type Column, layOut } from './layout.ts';
import { liveRows, type Tone } from './liveRows.ts';
import { nodeReadiness, readinessText } from './ready.ts';

/**
 * Escapes control characters and truncates the text. All text on the screen passes through this function or `wrapped`.
 */
const truncated = (text: string, width: number): string => display.truncate(printableLine(text), width);
const wrapped = (text: string, width: number): string[] => display.wrapText(printableLine(text), width);

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

/** The data to draw. */
export interface Scene {
  readonly node: NodeSummary;
  readonly pods: readonly PodWithTree[];
  /** The printed lines, oldest first. */
  readonly log: readonly string[];
  /** The link to the page, once it is served. */
  readonly page?: string;
  readonly now: number;
  readonly controls: Controls;
}

/** The lines of a whole screen, with the extent of its page. */
export interface Frame extends Extent {
  readonly lines: readonly string[];
}

const COLOURS = { good: 'green', busy: 'yellow', bad: 'red', done: 'dim' } as const satisfies Record<Tone, string>;

type Format = Parameters<typeof styleText>[0];

function painter({ colour }: Surface): (text: string, format: Format) => string {
  return (text, format) => (colour && text !== '' ? styleText(format, text, { validateStream: false }) : text);
}

/** Describes the progress of a start or stop, or else counts the running pods. */
function progressText({ node, pods, now }: Scene): string {
  const { tags, waitingFor, until } = node;
  if (tags.includes('ending') && pods.length > 0) return drainProgress(pods.length, until, now);
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
 * already shows that it waits for the runtime.
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
  const both = `${node} · ${runtimeState}`;
  if (display.displayWidth(printableLine(both)) <= width) return [both];
  return runtime.state === 'ready' ? [node] : [node, runtimeState];
}

/** Returns the lines above the table: the node, and a label if the runtime is simulated. */
function head(scene: Scene, surface: Surface): string[] {
  const paint = painter(surface);
  const label = 'SIMULATED runtime: no real containers run';
  return [
    ...headLines(scene, surface).map((line) => paint(truncated(line, surface.width), 'bold')),
    ...(scene.node.simulated ? [paint(truncated(label, surface.width), ['bold', 'magenta'])] : []),
  ];
}

/** Maximum number of lines for rejected manifests. */
const MAX_PROBLEMS = 3;
/** Maximum number of lines for warnings about manifests. */
const MAX_WARNINGS = 2;

type ManifestProblem = NodeSummary['problems'][number];

/** Returns a line for each problem. The last line counts the problems beyond `maxLines`. */
function limitLines(
  all: readonly ManifestProblem[],
  maxLines: number,
  line: (problem: ManifestProblem) => string,
): string[] {
  if (all.length <= maxLines) return all.map(line);
  const shownProblems = all.slice(0, maxLines - 1);
  return [...shownProblems.map(line), `! and ${all.length - shownProblems.length} more: see "statelet explain node"`];
}

const fieldMessage = (path: string, message: string): string => (path === '' ? message : `${path}: ${message}`);

/** Names the pod rather than the file if it is known, because a long path may be truncated. */
function warningText({ file, path, message, pod }: ManifestProblem, width: number): string {
  const text = fieldMessage(path, message);
  const warning =
    pod === undefined ? pathMessage(file, text, width - 11) : `pod ${pod.replace(/^default\//, '')}: ${text}`;
  return `! warning: ${warning}`;
}

/** Number of columns of a path's end that are always visible. */
const MIN_PATH_WIDTH = 24;

/** Formats a path with a message. If both do not fit, the start of the path is cut, because its end names the file. */
function pathMessage(path: string, message: string, width: number): string {
  const [shown, words] = [printableLine(path), printableLine(message)];
  const pathWidth = Math.max(MIN_PATH_WIDTH, width - 2 - display.displayWidth(words));
  if (display.displayWidth(shown) <= pathWidth) return `${shown}: ${words}`;
  const characters = [...shown].slice(-pathWidth);
  while (display.displayWidth(characters.join('')) > pathWidth - 1) characters.shift();
  return `…${characters.join('')}: ${words}`;
}

/**
 * Returns the lines below the table: the node's problem, rejected manifests, warnings, and pods that this agent does
 * not own.
 */
function foot({ node, page }: Scene, surface: Surface): string[] {
  const paint = painter(surface);
  const problems = limitLines(
    node.problems,
    MAX_PROBLEMS,
    ({ file, path, message }) => `! ${pathMessage(file, fieldMessage(path, message), surface.width - 2)}`,
  );
  const warnings = limitLines(node.warnings, MAX_WARNINGS, (each) => warningText(each, surface.width));
  const foreignCount = node.foreign.length;
  const foreign = `${foreignCount} ${foreignCount === 1 ? 'pod' : 'pods'} that this agent did not create: left alone, see "statelet explain node"`;
  return [
    ...(node.trouble === undefined ? [] : [paint(truncated(`! ${node.trouble}`, surface.width), 'red')]),
    ...problems.map((line) => paint(truncated(line, surface.width), 'red')),
    ...warnings.map((line) => paint(truncated(line, surface.width), 'yellow')),
    ...(foreignCount === 0 ? [] : [truncated(foreign, surface.width)]),
    ...linkLines(page, surface.width),
  ];
}

/** Splits the link into full lines, because terminals join such lines when the user opens or copies the link. */
function linkLines(page: string | undefined, width: number): string[] {
  if (page === undefined) return [];
  const words = printableLine(page);
  const titled = `page: ${words}`;
  return display.displayWidth(titled) <= width ? [titled] : wrapped(words, width);
}

/** Returns the number of log lines below the table. */
const visibleLogLines = (height: number): number => (height >= 20 ? 5 : height >= 12 ? 2 : 0);

const LEGEND = '↑↓ scroll  s sort  / filter  d detail  l log  ? help  Ctrl-C end';

/** Returns the line of settings, scroll position and keys, or the filter being typed. */
function statusLine({ controls }: Scene, extent: Extent, { width }: Surface): string {
  const { typing, hint, sort, reversed, detail, page } = controls;
  if (typing !== undefined) return truncated(`filter: ${typing}█  (Enter to apply, Esc to clear)`, width);
  if (hint !== undefined) return truncated(hint, width);
  const from = clampOffset(controls.offset, extent);
  const to = Math.min(from + extent.room, extent.total);
  const choices = [
    ...(extent.total > extent.room ? [`${from + 1}-${to} of ${extent.total}`] : []),
    ...(page === 'table' && (sort !== 'worst' || reversed) ? [`by ${sort}${reversed ? ', reversed' : ''}`] : []),
    ...(page === 'table' && detail !== 'auto' ? [detail] : []),
    ...(page === 'table' && effectiveFilter(controls) !== '' ? [`filter "${effectiveFilter(controls)}"`] : []),
  ].join(' · ');
  const keys = page === 'table' ? LEGEND : `↑↓ scroll  Esc back to the table`;
  if (choices === '') return truncated(keys, width);
  const both = `${choices}  ${keys}`;
  return display.displayWidth(both) <= width ? both : truncated(`${choices}  ? help  Ctrl-C end`, width);
}

/** Returns the coloured header and rows of the table. */
function table({ pods, now, controls }: Scene, surface: Surface, room: number): { header: string; rows: string[] } {
  const paint = painter(surface);
  const rows = liveRows(pods, now, controls, room);
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
  readonly above: readonly string[];
  readonly body: readonly string[];
  readonly below: readonly string[];
  readonly room: number;
}

function tablePage(scene: Scene, surface: Surface): Page {
  const paint = painter(surface);
  const above = head(scene, surface);
  const count = visibleLogLines(surface.height);
  const log = count === 0 ? [] : scene.log.slice(-count).map((line) => paint(truncated(line, surface.width), 'dim'));
  // On a terminal with few rows, all of them are used for pods.
  const around = surface.height >= 8 ? [...foot(scene, surface), ...log] : [];
  const room = Math.max(0, surface.height - above.length - around.length - 2);
  const { header, rows } = table(scene, surface, room);
  if (scene.pods.length === 0) return { above, body: ['no pods'], below: around, room: room + 1 };
  return { above: [...above, header], body: rows, below: around, room };
}

function textPage(title: string, text: readonly string[], surface: Surface): Page {
  const body = text.flatMap((line) => wrapped(line, surface.width));
  return {
    above: [painter(surface)(truncated(title, surface.width), 'bold')],
    body,
    below: [],
    room: Math.max(0, surface.height - 2),
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
  const { above, body, below, room } = pageOf(scene, surface);
  const extent = { room, total: body.length };
  const from = clampOffset(scene.controls.offset, extent);
  const visibleRows = body.slice(from, from + room);
  const blank = Array.from({ length: Math.max(0, room - visibleRows.length) }, () => '');
  const status = painter(surface)(display.padText(statusLine(scene, extent, surface), surface.width), 'inverse');
  const lines = [...above, ...visibleRows, ...blank, ...below].slice(0, Math.max(0, surface.height - 1));
  return { ...extent, lines: surface.height > 1 ? [...lines, status] : [...above.slice(0, 1)] };
}

/** Renders the table that remains after closing: all rows, and no keys. */
export function renderFinal(scene: Scene, surface: Surface): string[] {
  const { header, rows } = table(scene, surface, Number.POSITIVE_INFINITY);
  const body = scene.pods.length === 0 ? [] : [header, ...rows];
  return [...head(scene, surface), ...body, ...foot(scene, surface)];
}
