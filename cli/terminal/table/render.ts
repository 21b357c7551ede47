import { styleText } from 'node:util';
import { humanDuration } from '../../../base/duration.ts';
import { printableLine } from '../../../base/printable.ts';
import type { PodWithTree } from '../../../show/actors/podActors.ts';
import { drainProgress } from '../../../show/explain/explainNode.ts';
import * as display from '../../../show/tables/displayWidth.ts';
import type { NodeSummary } from '../../../socket/agent.ts';
import { type Controls, clamped, type Extent, filterOf } from './controls.ts';
import { HELP } from './help.ts';
import { type Column, layOut } from './layout.ts';
import { liveRows, type Tone } from './liveRows.ts';
import { nodeReadiness, readinessText } from './ready.ts';

/** All text on the screen goes through one of these. */
const cut = (text: string, width: number): string => display.truncate(printableLine(text), width);
const wrapped = (text: string, width: number): string[] => display.wrapText(printableLine(text), width);

/** On a narrow terminal, columns other than NAME and STATUS are left out to leave room for the reason, which goes last. */
const COLUMNS: readonly Column[] = [
  { header: 'NAME', min: 16 },
  { header: 'STATUS', min: 16 },
  { header: 'STATE', givesWay: 2 },
  { header: 'SINCE', align: 'right', givesWay: 4 },
  { header: 'RESTARTS', align: 'right', givesWay: 3 },
  { header: 'IP', givesWay: 1 },
  { header: 'REASON', min: 36, least: 12, givesWay: 5 },
];

/** What the table is drawn on; `colour` says whether lines may carry colours. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  readonly colour: boolean;
}

/** What there is to draw. */
export interface Scene {
  readonly node: NodeSummary;
  readonly pods: readonly PodWithTree[];
  /** The lines that were told, the latest last. */
  readonly log: readonly string[];
  /** The link to the page, once it is served. */
  readonly page?: string;
  readonly now: number;
  readonly controls: Controls;
}

/** A whole screen, and how much of its page is seen. */
export interface Frame extends Extent {
  readonly lines: readonly string[];
}

const COLOURS = { good: 'green', busy: 'yellow', bad: 'red', done: 'dim' } as const satisfies Record<Tone, string>;

type Format = Parameters<typeof styleText>[0];

function painter({ colour }: Surface): (text: string, format: Format) => string {
  return (text, format) => (colour && text !== '' ? styleText(format, text, { validateStream: false }) : text);
}

/** How far it is: on its way in and out it has other things to tell than how many pods run. */
function progress({ node, pods, now }: Scene): string {
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

/** Returns the state of the runtime; undefined until it has answered once, because the node waits for that anyway. */
function runtimeText({ node: { runtime }, now }: Scene): string | undefined {
  const { name, version, state, since, message } = runtime;
  if (since === undefined) return undefined;
  const called = name === '' ? 'container runtime' : `${name} ${version}`;
  const why = state === 'ready' || message === undefined ? '' : `: ${message}`;
  return `${called} ${state} for ${humanDuration(Math.max(0, now - since))}${why}`;
}

/** If the state of the runtime does not fit beside that of the node, it gets its own line, or none if the runtime is ready. */
function headLines(scene: Scene, { width }: Surface): string[] {
  const { name, state, runtime } = scene.node;
  const node = `node ${name} ${state} · ${progress(scene)}`;
  const runtimeState = runtimeText(scene);
  if (runtimeState === undefined) return [node];
  const both = `${node} · ${runtimeState}`;
  if (display.displayWidth(printableLine(both)) <= width) return [both];
  return runtime.state === 'ready' ? [node] : [node, runtimeState];
}

/** The lines above the table: the node, and plainly what is not real. */
function head(scene: Scene, surface: Surface): string[] {
  const paint = painter(surface);
  const label = 'SIMULATED runtime: no real containers run';
  return [
    ...headLines(scene, surface).map((line) => paint(cut(line, surface.width), 'bold')),
    ...(scene.node.simulated ? [paint(cut(label, surface.width), ['bold', 'magenta'])] : []),
  ];
}

/** So many manifests that could not be used are named. */
const NAMED_PROBLEMS = 3;
/** And so many that are odd. */
const NAMED_WARNINGS = 2;

type ManifestProblem = NodeSummary['problems'][number];

/** A line each; where they are many, the first ones and how many more there are. */
function counted(all: readonly ManifestProblem[], most: number, line: (problem: ManifestProblem) => string): string[] {
  if (all.length <= most) return all.map(line);
  const named = all.slice(0, most - 1);
  return [...named.map(line), `! and ${all.length - named.length} more: see "statelet explain node"`];
}

const within = (path: string, message: string): string => (path === '' ? message : `${path}: ${message}`);

/** By the pod, which is what is in the table, where it is known: the line may be cut before the end of a file's path. */
function warningText({ file, path, message, pod }: ManifestProblem, width: number): string {
  const said = within(path, message);
  const of = pod === undefined ? atPath(file, said, width - 11) : `pod ${pod.replace(/^default\//, '')}: ${said}`;
  return `! warning: ${of}`;
}

/** So much of the end of a path is always seen. */
const LEAST_PATH = 24;

/** A path, and what is said of it: where both do not fit the path's end is enough, as it names the file. */
function atPath(path: string, said: string, width: number): string {
  const [shown, words] = [printableLine(path), printableLine(said)];
  const room = Math.max(LEAST_PATH, width - 2 - display.displayWidth(words));
  if (display.displayWidth(shown) <= room) return `${shown}: ${words}`;
  const characters = [...shown].slice(-room);
  while (display.displayWidth(characters.join('')) > room - 1) characters.shift();
  return `…${characters.join('')}: ${words}`;
}

/** The lines below it: what is wrong with the node, manifests that could not be used, what is odd in those that are, and pods of others. */
function foot({ node, page }: Scene, surface: Surface): string[] {
  const paint = painter(surface);
  const problems = counted(
    node.problems,
    NAMED_PROBLEMS,
    ({ file, path, message }) => `! ${atPath(file, within(path, message), surface.width - 2)}`,
  );
  const warnings = counted(node.warnings, NAMED_WARNINGS, (each) => warningText(each, surface.width));
  const others = node.foreign.length;
  const foreign = `${others} ${others === 1 ? 'pod' : 'pods'} that this agent did not create: left alone, see "statelet explain node"`;
  return [
    ...(node.trouble === undefined ? [] : [paint(cut(`! ${node.trouble}`, surface.width), 'red')]),
    ...problems.map((line) => paint(cut(line, surface.width), 'red')),
    ...warnings.map((line) => paint(cut(line, surface.width), 'yellow')),
    ...(others === 0 ? [] : [cut(foreign, surface.width)]),
    ...linkLines(page, surface.width),
  ];
}

/** Returns the link in as many full lines as it takes: terminals join such lines when the link is opened or copied. */
function linkLines(page: string | undefined, width: number): string[] {
  if (page === undefined) return [];
  const words = printableLine(page);
  const titled = `page: ${words}`;
  return display.displayWidth(titled) <= width ? [titled] : wrapped(words, width);
}

/** How many of the last lines of the log are seen beside the table. */
const shownLog = (height: number): number => (height >= 20 ? 5 : height >= 12 ? 2 : 0);

const LEGEND = '↑↓ scroll  s sort  / filter  d detail  l log  ? help  Ctrl-C end';

/** What is chosen, what of it is seen, and the keys; or what is being typed. */
function statusLine({ controls }: Scene, extent: Extent, { width }: Surface): string {
  const { typing, hint, sort, reversed, detail, page } = controls;
  if (typing !== undefined) return cut(`filter: ${typing}█  (Enter to keep, Esc to clear)`, width);
  if (hint !== undefined) return cut(hint, width);
  const from = clamped(controls.offset, extent);
  const to = Math.min(from + extent.room, extent.total);
  const choices = [
    ...(extent.total > extent.room ? [`${from + 1}-${to} of ${extent.total}`] : []),
    ...(page === 'table' && (sort !== 'worst' || reversed) ? [`by ${sort}${reversed ? ', reversed' : ''}`] : []),
    ...(page === 'table' && detail !== 'auto' ? [detail] : []),
    ...(page === 'table' && filterOf(controls) !== '' ? [`filter "${filterOf(controls)}"`] : []),
  ].join(' · ');
  const keys = page === 'table' ? LEGEND : `↑↓ scroll  Esc back to the table`;
  if (choices === '') return cut(keys, width);
  const both = `${choices}  ${keys}`;
  return display.displayWidth(both) <= width ? both : cut(`${choices}  ? help  Ctrl-C end`, width);
}

/** The table without what is around it, painted: its header, and its rows. */
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

/** What a page shows between its head and its foot. */
interface Page {
  readonly above: readonly string[];
  readonly body: readonly string[];
  readonly below: readonly string[];
  readonly room: number;
}

function tablePage(scene: Scene, surface: Surface): Page {
  const paint = painter(surface);
  const above = head(scene, surface);
  const count = shownLog(surface.height);
  const log = count === 0 ? [] : scene.log.slice(-count).map((line) => paint(cut(line, surface.width), 'dim'));
  // A low terminal has its rows for the pods.
  const around = surface.height >= 8 ? [...foot(scene, surface), ...log] : [];
  const room = Math.max(0, surface.height - above.length - around.length - 2);
  const { header, rows } = table(scene, surface, room);
  if (scene.pods.length === 0) return { above, body: ['no pods'], below: around, room: room + 1 };
  return { above: [...above, header], body: rows, below: around, room };
}

function textPage(title: string, text: readonly string[], surface: Surface): Page {
  const body = text.flatMap((line) => wrapped(line, surface.width));
  return {
    above: [painter(surface)(cut(title, surface.width), 'bold')],
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

/** The screen as lines that fill the surface, none wider than it. */
export function renderFrame(scene: Scene, surface: Surface): Frame {
  const { above, body, below, room } = pageOf(scene, surface);
  const extent = { room, total: body.length };
  const from = clamped(scene.controls.offset, extent);
  const seen = body.slice(from, from + room);
  const blank = Array.from({ length: Math.max(0, room - seen.length) }, () => '');
  const status = painter(surface)(display.padText(statusLine(scene, extent, surface), surface.width), 'inverse');
  const lines = [...above, ...seen, ...blank, ...below].slice(0, Math.max(0, surface.height - 1));
  return { ...extent, lines: surface.height > 1 ? [...lines, status] : [...above.slice(0, 1)] };
}

/** The table as it is left behind: all its rows, and nothing that only a user at the keys can make use of. */
export function renderLast(scene: Scene, surface: Surface): string[] {
  const { header, rows } = table(scene, surface, Number.POSITIVE_INFINITY);
  const body = scene.pods.length === 0 ? [] : [header, ...rows];
  return [...head(scene, surface), ...body, ...foot(scene, surface)];
}
