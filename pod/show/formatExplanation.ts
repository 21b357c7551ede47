import { humanDuration } from '../api/duration.ts';
import { type ForeignPod, UNKNOWN } from '../lifecycle/observed.ts';
import { lookUp } from '../lookUp.ts';
import { CALL } from './actorNode.ts';
import type { ExplainedActor, Explanation } from './explain.ts';
import type { NodeExplanation } from './explainNode.ts';
import type { PartExplanation } from './explainPart.ts';
import { clockText, endCause, failureText, KIND_NAMES, queueText, shortened, untilText } from './explainText.ts';
import { beginningOf } from './shortText.ts';

const WIDTH = 80;
const LONGEST_LABEL = 36;
const LONGEST_STATE = 34;

interface Line {
  /** The branch of the tree that stands before the label. */
  readonly branch: string;
  /** What stands before the details below it. */
  readonly trunk: string;
  readonly actor: ExplainedActor;
}

/** An explanation as text of at most 80 columns: a head, the answer, the tree of actors with what each waits for. */
export function formatExplanation(explanation: Explanation): string {
  const { namespace, name, status, ready, pod, manifestProblems, manifestWarnings } = explanation;
  return textOf({
    ...explanation,
    title: `${namespace}/${name}  ${status}  ${ready} ready`,
    more: [
      ...headed('its manifest has changed, but cannot be used:', manifestProblems),
      ...headed('warnings about its manifest:', manifestWarnings),
    ],
    top: pod,
  });
}

/** Sentences below a heading; nothing when there are none. */
const headed = (heading: string, sentences: readonly string[] = []): string[] =>
  sentences.length === 0
    ? []
    : ['', ...wrapped(heading, '  '), ...sentences.flatMap((sentence) => wrapped(sentence, '    '))];

/** As of a pod: the node's own actors, and the pods of others that it leaves alone. */
export const formatNodeExplanation = (explanation: NodeExplanation): string =>
  textOf({
    ...explanation,
    title: `node ${explanation.name}`,
    more: [
      ...headed('rejected manifests:', explanation.manifestProblems),
      ...headed('warnings about manifests:', explanation.manifestWarnings),
      ...headed('addresses:', explanation.addresses),
      ...headed('allocated resources:', explanation.use),
      ...foreignLines(explanation.foreign),
    ],
    addresses: [],
    top: explanation.node,
  });

/** As of a pod: one container or volume of it. */
export const formatPartExplanation = (explanation: PartExplanation): string => {
  const { namespace, pod, kind, name, status, restarts = 0, actor } = explanation;
  const counted = restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : [];
  const title = [`${namespace}/${pod} ${kind} ${name}`, ...(status ? [status] : []), ...counted].join('  ');
  return textOf({ ...explanation, title, more: [], addresses: [], top: actor });
};

function foreignLines(foreign: readonly ForeignPod[]): string[] {
  if (foreign.length === 0) return [];
  const head = `${foreign.length === 1 ? 'a pod' : `${foreign.length} pods`} that this agent did not create, left alone:`;
  const lines = foreign.flatMap((pod) => wrapped(foreignText(pod), '    '));
  return ['', ...wrapped(head, '  '), ...lines];
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
}

function textOf({ title, at, answer, addresses, more, top }: Explained): string {
  const lines = treeOf(withoutCalls(top));
  const labels = Math.max(...lines.map((line) => labelOf(line).length));
  const states = Math.max(...lines.map(({ actor }) => stateOf(actor).length));
  return [
    ...headOf(title, at),
    '',
    ...wrapped(answer, '  '),
    ...more,
    '',
    ...lines.flatMap((line) => rows(line, { labels, states, at, addresses })),
    '',
  ].join('\n');
}

/** Who it is and how it stands, with the moment at the right. */
function headOf(title: string, at: number): string[] {
  const head = wrapped(title, '');
  const clock = `${clockText(at, at)} UTC`;
  const last = head.pop() ?? '';
  if (last.length + 2 + clock.length > WIDTH) return [...head, last, clock.padStart(WIDTH)];
  return [...head, last + clock.padStart(WIDTH - last.length)];
}

/** What an actor waits for tells of its calls. */
const withoutCalls = (actor: ExplainedActor): ExplainedActor => ({
  ...actor,
  children: actor.children.filter(({ kind }) => kind !== CALL).map(withoutCalls),
});

function treeOf(pod: ExplainedActor): Line[] {
  const trunk = pod.children.length > 0 ? '│    ' : '     ';
  return [{ branch: '', trunk, actor: pod }, ...linesBelow(pod, '')];
}

/** The lines of what an actor has below it; `indent` is what goes on beside them. */
function linesBelow({ children }: ExplainedActor, indent: string): Line[] {
  return children.flatMap((actor, index) => {
    const isLast = index === children.length - 1;
    const beside = indent + (isLast ? '   ' : '│  ');
    const trunk = beside + (actor.children.length > 0 ? '│ ' : '  ');
    return [{ branch: `${indent}${isLast ? '└─ ' : '├─ '}`, trunk, actor }, ...linesBelow(actor, beside)];
  });
}

function labelOf({ branch, actor }: Line): string {
  const { kind, name } = actor;
  const words = lookUp<string>(KIND_NAMES, kind) ?? kind;
  return beginningOf(`${branch}${words}${name === kind ? '' : ` ${name}`}`, LONGEST_LABEL);
}

function stateOf({ state }: ExplainedActor): string {
  return beginningOf(state, LONGEST_STATE);
}

interface Layout {
  readonly labels: number;
  readonly states: number;
  readonly at: number;
  readonly addresses: readonly string[];
}

function rows(line: Line, { labels, states, at, addresses }: Layout): string[] {
  const { actor, trunk } = line;
  const since = humanDuration(at - actor.since);
  const start = `${labelOf(line).padEnd(labels)}  ${stateOf(actor).padEnd(states)}  ${since}`;
  const facts = actor.facts.join(actor.facts.some((fact) => fact.includes(', ')) ? '; ' : ', ');
  const whole = facts === '' ? start : `${start.padEnd(labels + states + 9)}  ${facts}`;
  const fits = whole.length <= WIDTH;
  const details = [
    ...(fits ? [] : [facts]),
    ...(actor.kind === 'pod' && addresses.length > 0 ? [`address ${addresses.join(', ')}`] : []),
    ...detailsOf(actor, at),
  ];
  return [fits ? whole : start, ...details.flatMap((detail) => wrapped(detail, trunk)), ...logLines(actor, trunk)];
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

/** The last lines of its log, as they are. */
function logLines({ log }: ExplainedActor, trunk: string): string[] {
  if (log === undefined) return [];
  const title = log.lines.length === 0 ? 'no output in' : 'last lines of';
  return [...wrapped(`${title} ${log.file}`, trunk), ...log.lines.flatMap((line) => wrapped(line, `${trunk}  | `))];
}

function waitText(waitingFor: string | undefined, until: number | undefined, at: number): string[] {
  if (waitingFor === undefined && until === undefined) return [];
  return [`waiting${waitingFor === undefined ? '' : ` for ${waitingFor}`}${untilText(until, at)}`];
}

/** A moment and not a distance: how long it ran stands just before it. */
const endedAt = ({ finishedAt }: { finishedAt?: number }, at: number): string =>
  finishedAt === undefined ? '' : `, at ${clockText(finishedAt, at)}`;

/** The whole of what it left behind, where its last line, which the cause of its end shows, is not all of it. */
function messageOf(run: ExplainedActor['lastRun']): string[] {
  const message = shortened(run?.message ?? '');
  return run && !endCause(run).endsWith(message) ? [`message: ${message}`] : [];
}

function ago(then: number, now: number): string {
  return `${humanDuration(now - then)} ago`;
}

/** Breaks text between words, and a word that is too long anywhere; each line begins with `indent`. */
function wrapped(text: string, indent: string): string[] {
  const room = WIDTH - indent.length;
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
  return word.length <= room ? [word] : (word.match(new RegExp(`.{1,${room}}`, 'gu')) ?? []);
}
