import { truncate } from '../../base/text/shortText.ts';
import { humanDuration } from '../../base/time/duration.ts';
import { type ForeignPod, UNKNOWN_NAMESPACE } from '../../kubernetes/lifecycle/observed.ts';
import { CALL_KIND } from '../actors/actorNode.ts';
import type { ExplainedActor, Explanation } from '../explain.ts';
import type { NodeExplanation } from './explainNode.ts';
import type { PartExplanation } from './explainPart.ts';
import {
  actorTitle,
  clockTime,
  failureText,
  queueText,
  shortenMessage,
  terminationCause,
  untilClause,
} from './explainText.ts';

/** Width in columns of output that is not written to a terminal. */
const DEFAULT_WIDTH = 80;
/** Minimum width in columns. A narrower terminal has to wrap the lines itself. */
const MIN_WIDTH = 60;
const MAX_LABEL_LENGTH = 36;
const MAX_STATE_LENGTH = 34;

interface Line {
  /** Tree branch that is drawn before the label. */
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
  return layOut({
    ...explanation,
    title: `${namespace}/${name}  ${status}  ${ready} ready`,
    extraLines: [
      ...headedSection('its manifest has changed, but cannot be used:', manifestProblems, columns),
      ...headedSection('warnings about its manifest:', manifestWarnings, columns),
    ],
    root: pod,
    columns,
  });
}

/** Formats sentences below a heading. Returns no lines if there are no sentences. */
const headedSection = (heading: string, sentences: readonly string[] = [], columns = DEFAULT_WIDTH): string[] =>
  sentences.length === 0
    ? []
    : [
        '',
        ...wrapText(heading, '  ', columns),
        ...sentences.flatMap((sentence) => wrapText(sentence, '    ', columns)),
      ];

/** Formats the explanation of a node, including the pods that this agent did not create. */
export function formatNodeExplanation(explanation: NodeExplanation, width = DEFAULT_WIDTH): string {
  const columns = Math.max(width, MIN_WIDTH);
  return layOut({
    ...explanation,
    title: `node ${explanation.name}`,
    extraLines: [
      ...headedSection('rejected manifests:', explanation.manifestProblems, columns),
      ...headedSection('warnings about manifests:', explanation.manifestWarnings, columns),
      ...headedSection('addresses:', explanation.addresses, columns),
      ...headedSection('allocated resources:', explanation.use, columns),
      ...headedSection('eviction:', explanation.eviction, columns),
      ...foreignPodLines(explanation.foreign, columns),
    ],
    addresses: [],
    root: explanation.node,
    columns,
  });
}

/** Formats the explanation of one container or volume. */
export function formatPartExplanation(explanation: PartExplanation, width = DEFAULT_WIDTH): string {
  const { namespace, pod, kind, name, status, restarts = 0, actor } = explanation;
  const restartLines = restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : [];
  const title = [`${namespace}/${pod} ${kind} ${name}`, ...(status ? [status] : []), ...restartLines].join('  ');
  const columns = Math.max(width, MIN_WIDTH);
  return layOut({ ...explanation, title, extraLines: [], addresses: [], root: actor, columns });
}

function foreignPodLines(foreign: readonly ForeignPod[], columns: number): string[] {
  if (foreign.length === 0) return [];
  const heading = `${foreign.length === 1 ? 'a pod' : `${foreign.length} pods`} that this agent did not create, left alone:`;
  const podLines = foreign.flatMap((pod) => wrapText(foreignPodText(pod), '    ', columns));
  return ['', ...wrapText(heading, '  ', columns), ...podLines];
}

function foreignPodText({ namespace, name, uid, why, directory, sandboxes }: ForeignPod): string {
  const sandboxText = sandboxes.length === 1 ? '1 sandbox' : `${sandboxes.length} sandboxes`;
  const leftovers = [...(directory ? [directory] : []), ...(sandboxes.length > 0 ? [sandboxText] : [])];
  const pod = namespace === UNKNOWN_NAMESPACE ? uid : `${namespace}/${name} (${uid})`;
  return `${pod}: ${leftovers.join(' and ')}; ${why}`;
}

interface LayoutInput extends Pick<Explanation, 'at' | 'answer' | 'addresses'> {
  readonly title: string;
  /** Lines between the answer and the tree. */
  readonly extraLines: readonly string[];
  readonly root: ExplainedActor;
  readonly columns: number;
}

function layOut({ title, at, answer, addresses, extraLines, root, columns }: LayoutInput): string {
  const treeRows = treeLines(withoutCalls(root));
  const labelWidth = Math.max(...treeRows.map((line) => labelText(line, columns).length));
  const stateWidth = Math.max(...treeRows.map(({ actor }) => stateText(actor, columns).length));
  return [
    ...titleLines(title, at, columns),
    '',
    ...wrapText(answer, '  ', columns),
    ...extraLines,
    '',
    ...treeRows.flatMap((line) => rowLines(line, { labelWidth, stateWidth, at, addresses, columns })),
    '',
  ].join('\n');
}

/** Formats the title with the time right-aligned. */
function titleLines(title: string, at: number, columns: number): string[] {
  const titleRows = wrapText(title, '', columns);
  const clockText = `${clockTime(at, at)} UTC`;
  const lastLine = titleRows.pop() ?? '';
  if (lastLine.length + 2 + clockText.length > columns) return [...titleRows, lastLine, clockText.padStart(columns)];
  return [...titleRows, lastLine + clockText.padStart(columns - lastLine.length)];
}

/** Removes calls in flight from the tree, because the wait of the calling actor already describes them. */
const withoutCalls = (actor: ExplainedActor): ExplainedActor => ({
  ...actor,
  children: actor.children.filter(({ kind }) => kind !== CALL_KIND).map(withoutCalls),
});

function treeLines(pod: ExplainedActor): Line[] {
  const trunk = pod.children.length > 0 ? '│    ' : '     ';
  return [{ branch: '', trunk, actor: pod }, ...childLines(pod, '')];
}

/** Returns the lines of all descendants. `indent` is the part of the tree that is drawn to the left of the lines. */
function childLines({ children }: ExplainedActor, indent: string): Line[] {
  return children.flatMap((actor, index) => {
    const isLast = index === children.length - 1;
    const childIndent = indent + (isLast ? '   ' : '│  ');
    const trunk = childIndent + (actor.children.length > 0 ? '│ ' : '  ');
    return [{ branch: `${indent}${isLast ? '└─ ' : '├─ '}`, trunk, actor }, ...childLines(actor, childIndent)];
  });
}

function labelText({ branch, actor }: Line, columns: number): string {
  return truncate(`${branch}${actorTitle(actor)}`, Math.min(MAX_LABEL_LENGTH, Math.floor(columns * 0.45)));
}

function stateText({ state }: ExplainedActor, columns: number): string {
  return truncate(state, columns < DEFAULT_WIDTH ? Math.floor(columns * 0.4) : MAX_STATE_LENGTH);
}

interface RowLayout {
  readonly labelWidth: number;
  readonly stateWidth: number;
  readonly at: number;
  readonly addresses: readonly string[];
  readonly columns: number;
}

function rowLines(line: Line, { labelWidth, stateWidth, at, addresses, columns }: RowLayout): string[] {
  const { actor, trunk } = line;
  const stateDuration = humanDuration(at - actor.since);
  const rowStart = `${labelText(line, columns).padEnd(labelWidth)}  ${stateText(actor, columns).padEnd(stateWidth)}  ${stateDuration}`;
  const factsText = actor.facts.join(actor.facts.some((fact) => fact.includes(', ')) ? '; ' : ', ');
  const fullRow = factsText === '' ? rowStart : `${rowStart.padEnd(labelWidth + stateWidth + 9)}  ${factsText}`;
  const fitsOnLine = fullRow.length <= columns;
  const details = [
    ...(fitsOnLine ? [] : [factsText]),
    ...(actor.kind === 'pod' && addresses.length > 0 ? [`address ${addresses.join(', ')}`] : []),
    ...detailLines(actor, at),
  ];
  return [
    fitsOnLine ? fullRow : rowStart,
    ...details.flatMap((detail) => wrapText(detail, trunk, columns)),
    ...logLines(actor, trunk, columns),
  ];
}

function detailLines(actor: ExplainedActor, at: number): string[] {
  const { waitingFor, until, queue, lastRun, lastFailure, lists = {} } = actor;
  return [
    ...(queue ? [`waiting ${queueText(queue)}`] : waitLines(waitingFor, until, at)),
    ...Object.entries(lists).flatMap(([list, names]) => (names.length > 0 ? [`${list}: ${names.join(', ')}`] : [])),
    ...(lastRun ? [`last run: ${terminationCause(lastRun)}${endTimeText(lastRun, at)}`] : []),
    ...fullMessage(lastRun),
    ...(lastFailure ? [`last failure, ${timeAgoText(lastFailure.at, at)}: ${failureText(lastFailure)}`] : []),
  ];
}

/** Formats the last lines of the log, which are wrapped but not shortened. */
function logLines({ log }: ExplainedActor, trunk: string, columns: number): string[] {
  if (log === undefined) return [];
  const title = log.lines.length === 0 ? 'no output in' : 'last lines of';
  return [
    ...wrapText(`${title} ${log.file}`, trunk, columns),
    ...log.lines.flatMap((line) => wrapText(line, `${trunk}  | `, columns)),
  ];
}

function waitLines(waitingFor: string | undefined, until: number | undefined, at: number): string[] {
  if (waitingFor === undefined && until === undefined) return [];
  return [`waiting${waitingFor === undefined ? '' : ` for ${waitingFor}`}${untilClause(until, at)}`];
}

/**
 * Formats the end time of a run as a time of day. A relative time would be confusing, because the text before it
 * already contains a duration.
 */
const endTimeText = ({ finishedAt }: { finishedAt?: number }, at: number): string =>
  finishedAt === undefined ? '' : `, at ${clockTime(finishedAt, at)}`;

/** Returns the full termination message, unless the cause of the exit already contains all of it. */
function fullMessage(run: ExplainedActor['lastRun']): string[] {
  const message = shortenMessage(run?.message ?? '');
  return run && !terminationCause(run).endsWith(message) ? [`message: ${message}`] : [];
}

function timeAgoText(timestamp: number, now: number): string {
  return `${humanDuration(now - timestamp)} ago`;
}

/**
 * Wraps text between words. A word that is too long is split anywhere unless it contains a slash, as paths do. Each
 * line starts with `indent`.
 */
function wrapText(text: string, indent: string, columns: number): string[] {
  const maxLength = Math.max(1, columns - indent.length);
  const wrappedLines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => splitLongWord(whole, maxLength))) {
    if (line !== '' && line.length + 1 + word.length > maxLength) {
      wrappedLines.push(indent + line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...wrappedLines, indent + line];
}

function splitLongWord(word: string, maxLength: number): string[] {
  return word.length <= maxLength || word.includes('/')
    ? [word]
    : (word.match(new RegExp(`.{1,${maxLength}}`, 'gu')) ?? []);
}
