import { humanDuration } from '../base/duration.ts';
import { beginningOf } from '../base/shortText.ts';
import { type ForeignPod, UNKNOWN } from '../kubernetes/lifecycle/observed.ts';
import { CALL } from './actorNode.ts';
import type { ExplainedActor, Explanation } from './explain.ts';
import type { NodeExplanation } from './explainNode.ts';
import type { PartExplanation } from './explainPart.ts';
import { actorTitle, clockText, endCause, failureText, queueText, shortened, untilText } from './explainText.ts';

/** Width of the text if it is not written to a terminal. */
const DEFAULT_WIDTH = 80;
/** Minimum width, below which a terminal has to break the lines itself. */
const MIN_WIDTH = 60;
const LONGEST_LABEL = 36;
const LONGEST_STATE = 34;

interface Line {
  /** Branch of the tree drawn before the label. */
  readonly branch: string;
  /** Prefix of the detail lines below the actor. */
  readonly trunk: string;
  readonly actor: ExplainedActor;
}

/**
 * Formats an explanation as text of `width` columns with a heading, the answer, and the tree of actors with their
 * waits. Only paths, URLs and image names may exceed the width, because text broken into several lines cannot be
 * copied.
 */
export function formatExplanation(explanation: Explanation, width = DEFAULT_WIDTH): string {
  const { namespace, name, status, ready, pod, manifestProblems, manifestWarnings } = explanation;
  const columns = Math.max(width, MIN_WIDTH);
  return textOf({
    ...explanation,
    title: `${namespace}/${name}  ${status}  ${ready} ready`,
    more: [
      ...headed('its manifest has changed, but cannot be used:', manifestProblems, columns),
      ...headed('warnings about its manifest:', manifestWarnings, columns),
    ],
    top: pod,
    columns,
  });
}

/** Formats sentences below a heading. Returns no lines if there are no sentences. */
const headed = (heading: string, sentences: readonly string[] = [], columns = DEFAULT_WIDTH): string[] =>
  sentences.length === 0
    ? []
    : ['', ...wrapped(heading, '  ', columns), ...sentences.flatMap((sentence) => wrapped(sentence, '    ', columns))];

/** Formats the explanation of a node, including the pods that this agent did not create. */
export function formatNodeExplanation(explanation: NodeExplanation, width = DEFAULT_WIDTH): string {
  const columns = Math.max(width, MIN_WIDTH);
  return textOf({
    ...explanation,
    title: `node ${explanation.name}`,
    more: [
      ...headed('rejected manifests:', explanation.manifestProblems, columns),
      ...headed('warnings about manifests:', explanation.manifestWarnings, columns),
      ...headed('addresses:', explanation.addresses, columns),
      ...headed('allocated resources:', explanation.use, columns),
      ...foreignLines(explanation.foreign, columns),
    ],
    addresses: [],
    top: explanation.node,
    columns,
  });
}

/** Formats the explanation of one container or volume. */
export function formatPartExplanation(explanation: PartExplanation, width = DEFAULT_WIDTH): string {
  const { namespace, pod, kind, name, status, restarts = 0, actor } = explanation;
  const counted = restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : [];
  const title = [`${namespace}/${pod} ${kind} ${name}`, ...(status ? [status] : []), ...counted].join('  ');
  const columns = Math.max(width, MIN_WIDTH);
  return textOf({ ...explanation, title, more: [], addresses: [], top: actor, columns });
}

function foreignLines(foreign: readonly ForeignPod[], columns: number): string[] {
  if (foreign.length === 0) return [];
  const head = `${foreign.length === 1 ? 'a pod' : `${foreign.length} pods`} that this agent did not create, left alone:`;
  const lines = foreign.flatMap((pod) => wrapped(foreignText(pod), '    ', columns));
  return ['', ...wrapped(head, '  ', columns), ...lines];
}

function foreignText({ namespace, name, uid, why, directory, sandboxes }: ForeignPod): string {
  const count = sandboxes.length === 1 ? '1 sandbox' : `${sandboxes.length} sandboxes`;
  const what = [...(directory ? [directory] : []), ...(sandboxes.length > 0 ? [count] : [])];
  const who = namespace === UNKNOWN ? uid : `${namespace}/${name} (${uid})`;
  return `${who}: ${what.join(' and ')}; ${why}`;
}

interface Explained extends Pick<Explanation, 'at' | 'answer' | 'addresses'> {
  readonly title: string;
  /** Lines between the answer and the tree. */
  readonly more: readonly string[];
  readonly top: ExplainedActor;
  readonly columns: number;
}

function textOf({ title, at, answer, addresses, more, top, columns }: Explained): string {
  const lines = treeOf(withoutCalls(top));
  const labels = Math.max(...lines.map((line) => labelOf(line, columns).length));
  const states = Math.max(...lines.map(({ actor }) => stateOf(actor, columns).length));
  return [
    ...headOf(title, at, columns),
    '',
    ...wrapped(answer, '  ', columns),
    ...more,
    '',
    ...lines.flatMap((line) => rows(line, { labels, states, at, addresses, columns })),
    '',
  ].join('\n');
}

/** Formats the title with the time right-aligned. */
function headOf(title: string, at: number, columns: number): string[] {
  const head = wrapped(title, '', columns);
  const clock = `${clockText(at, at)} UTC`;
  const last = head.pop() ?? '';
  if (last.length + 2 + clock.length > columns) return [...head, last, clock.padStart(columns)];
  return [...head, last + clock.padStart(columns - last.length)];
}

/** Removes calls in flight from the tree, because the wait of the calling actor already describes them. */
const withoutCalls = (actor: ExplainedActor): ExplainedActor => ({
  ...actor,
  children: actor.children.filter(({ kind }) => kind !== CALL).map(withoutCalls),
});

function treeOf(pod: ExplainedActor): Line[] {
  const trunk = pod.children.length > 0 ? '│    ' : '     ';
  return [{ branch: '', trunk, actor: pod }, ...linesBelow(pod, '')];
}

/** Returns the lines of all descendants. `indent` is the part of the tree drawn to their left. */
function linesBelow({ children }: ExplainedActor, indent: string): Line[] {
  return children.flatMap((actor, index) => {
    const isLast = index === children.length - 1;
    const beside = indent + (isLast ? '   ' : '│  ');
    const trunk = beside + (actor.children.length > 0 ? '│ ' : '  ');
    return [{ branch: `${indent}${isLast ? '└─ ' : '├─ '}`, trunk, actor }, ...linesBelow(actor, beside)];
  });
}

function labelOf({ branch, actor }: Line, columns: number): string {
  return beginningOf(`${branch}${actorTitle(actor)}`, Math.min(LONGEST_LABEL, Math.floor(columns * 0.45)));
}

function stateOf({ state }: ExplainedActor, columns: number): string {
  return beginningOf(state, columns < DEFAULT_WIDTH ? Math.floor(columns * 0.4) : LONGEST_STATE);
}

interface Layout {
  readonly labels: number;
  readonly states: number;
  readonly at: number;
  readonly addresses: readonly string[];
  readonly columns: number;
}

function rows(line: Line, { labels, states, at, addresses, columns }: Layout): string[] {
  const { actor, trunk } = line;
  const since = humanDuration(at - actor.since);
  const start = `${labelOf(line, columns).padEnd(labels)}  ${stateOf(actor, columns).padEnd(states)}  ${since}`;
  const facts = actor.facts.join(actor.facts.some((fact) => fact.includes(', ')) ? '; ' : ', ');
  const whole = facts === '' ? start : `${start.padEnd(labels + states + 9)}  ${facts}`;
  const fits = whole.length <= columns;
  const details = [
    ...(fits ? [] : [facts]),
    ...(actor.kind === 'pod' && addresses.length > 0 ? [`address ${addresses.join(', ')}`] : []),
    ...detailsOf(actor, at),
  ];
  return [
    fits ? whole : start,
    ...details.flatMap((detail) => wrapped(detail, trunk, columns)),
    ...logLines(actor, trunk, columns),
  ];
}

function detailsOf(actor: ExplainedActor, at: number): string[] {
  const { waitingFor, until, queue, lastRun, lastFailure, lists = {} } = actor;
  return [
    ...(queue ? [`waiting ${queueText(queue)}`] : waitText(waitingFor, until, at)),
    ...Object.entries(lists).flatMap(([of, names]) => (names.length > 0 ? [`${of}: ${names.join(', ')}`] : [])),
    ...(lastRun ? [`last run: ${endCause(lastRun)}${endedAt(lastRun, at)}`] : []),
    ...messageOf(lastRun),
    ...(lastFailure ? [`last failure, ${ago(lastFailure.at, at)}: ${failureText(lastFailure)}`] : []),
  ];
}

/** Formats the last lines of the log unchanged. */
function logLines({ log }: ExplainedActor, trunk: string, columns: number): string[] {
  if (log === undefined) return [];
  const title = log.lines.length === 0 ? 'no output in' : 'last lines of';
  return [
    ...wrapped(`${title} ${log.file}`, trunk, columns),
    ...log.lines.flatMap((line) => wrapped(line, `${trunk}  | `, columns)),
  ];
}

function waitText(waitingFor: string | undefined, until: number | undefined, at: number): string[] {
  if (waitingFor === undefined && until === undefined) return [];
  return [`waiting${waitingFor === undefined ? '' : ` for ${waitingFor}`}${untilText(until, at)}`];
}

/** Formats the end of a run as a time of day, because the text before it already contains a duration. */
const endedAt = ({ finishedAt }: { finishedAt?: number }, at: number): string =>
  finishedAt === undefined ? '' : `, at ${clockText(finishedAt, at)}`;

/** Returns the full termination message, unless the cause of the exit already contains all of it. */
function messageOf(run: ExplainedActor['lastRun']): string[] {
  const message = shortened(run?.message ?? '');
  return run && !endCause(run).endsWith(message) ? [`message: ${message}`] : [];
}

function ago(then: number, now: number): string {
  return `${humanDuration(now - then)} ago`;
}

/**
 * Wraps text between words. A word that is too long is split anywhere unless it contains a slash, as paths do. Each
 * line starts with `indent`.
 */
function wrapped(text: string, indent: string, columns: number): string[] {
  const room = Math.max(1, columns - indent.length);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, room))) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(indent + line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}

function pieces(word: string, room: number): string[] {
  return word.length <= room || word.includes('/') ? [word] : (word.match(new RegExp(`.{1,${room}}`, 'gu')) ?? []);
}
