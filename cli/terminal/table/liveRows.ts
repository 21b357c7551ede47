import { humanDuration } from '../../../base/duration.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import {
  type ContainerWithActor,
  type PodActors,
  type PodWithTree,
  podActors,
} from '../../../show/actors/podActors.ts';
import { categoryOf } from '../../../show/category.ts';
import { containerReason, containerStatusWord, podReason, waitReason } from '../../../show/reason.ts';
import { podRow as kubectlRow } from '../../../show/tables/table.ts';
import type { Controls, Sort } from './controls.ts';
import { filterOf } from './controls.ts';

/** How an actor fares: held up by a failure, on its way, at rest where it should be, or done. */
const TONES = ['bad', 'busy', 'good', 'done'] as const;

export type Tone = (typeof TONES)[number];

/** A pod, or an actor of it, as a line of the live table. */
export interface LiveRow {
  readonly kind: 'pod' | 'container' | 'volume';
  readonly tone: Tone;
  /** Name, status, state, since, restarts, IP, and why it is not as it should be. */
  readonly cells: readonly string[];
}

/** A pod with its actors. */
interface Family {
  readonly live: PodActors;
  readonly pod: LiveRow;
  readonly actors: readonly LiveRow[];
  readonly restarts: number;
}

/** Who failed so shortly ago counts as not yet well, so that rows do not jump between two runs of a crash. */
const RECOVERING_MS = 300_000;

/** A state at rest is named by what it rests in. */
const stateOf = ({ state }: ActorNode) => state.replace(/\.steady$/, '');

const age = (actor: ActorNode, now: number) => humanDuration(Math.max(0, now - actor.since));

function containerTone({ actor, role, status, willRestart }: ContainerWithActor): Tone {
  const { state = {}, ready } = status ?? {};
  if (state.running) return ready && role !== 'init' ? 'good' : 'busy';
  if (state.terminated) return state.terminated.exitCode === 0 && !willRestart ? 'done' : 'bad';
  const failed = actor.lastFailure && actor.waitingFor !== undefined;
  return state.waiting?.reason === 'CrashLoopBackOff' || failed ? 'bad' : 'busy';
}

function containerRow(container: ContainerWithActor, now: number): LiveRow {
  const { actor, status } = container;
  const restarts = `${status?.restartCount ?? 0}`;
  const cells = [actor.name, containerStatusWord(container), stateOf(actor), age(actor, now), restarts, ''];
  return { kind: 'container', tone: containerTone(container), cells: [...cells, containerReason(container, now)] };
}

function volumeStatus(actor: ActorNode): { readonly status: string; readonly tone: Tone } {
  const { tags, lastFailure } = actor;
  if (tags.includes('mounted')) return { status: 'Mounted', tone: 'good' };
  if (!tags.includes('leaving')) {
    return lastFailure ? { status: 'FailedMount', tone: 'bad' } : { status: 'Mounting', tone: 'busy' };
  }
  if (categoryOf(actor) === 'done') return { status: 'Unmounted', tone: 'done' };
  // A mount that failed earlier is no failure of the unmount.
  if (lastFailure?.reason === 'FailedUnmount') return { status: 'FailedUnmount', tone: 'bad' };
  return { status: 'Unmounting', tone: 'busy' };
}

function volumeRow(actor: ActorNode, now: number): LiveRow {
  const { status, tone } = volumeStatus(actor);
  const cells = [`volume ${actor.name}`, status, stateOf(actor), age(actor, now), '', ''];
  return { kind: 'volume', tone, cells: [...cells, waitReason(actor, now)] };
}

const isSettled = ({ tone }: LiveRow): boolean => tone === 'good' || tone === 'done';

function podTone({ pod, tree }: PodActors, actors: readonly LiveRow[]): Tone {
  const { phase, conditions = [] } = pod.status ?? {};
  if (phase === 'Succeeded') return 'done';
  if (phase === 'Failed' || tree.refused) return 'bad';
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return 'good';
  return tree.termination === undefined && actors.some(({ tone }) => tone === 'bad') ? 'bad' : 'busy';
}

function familyOf(seen: PodWithTree, now: number): Family {
  const live = podActors(seen);
  const { pod, tree, volumes, containers } = live;
  const ofVolumes = volumes.map((each) => volumeRow(each, now));
  const actors = [
    ...ofVolumes.filter((row) => !isSettled(row)),
    ...containers.map((each) => containerRow(each, now)),
    ...ofVolumes.filter(isSettled),
  ];
  const restarts = containers.reduce((sum, { status }) => sum + (status?.restartCount ?? 0), 0);
  const { status } = kubectlRow(pod, now);
  const ip = pod.status?.podIP ?? '';
  const cells = [displayName(pod.metadata), status, stateOf(tree), age(tree, now), `${restarts}`, ip];
  const row: LiveRow = { kind: 'pod', tone: podTone(live, actors), cells: [...cells, podReason(live, now)] };
  return { live, pod: row, actors, restarts };
}

function isRecovering({ live }: Family, now: number): boolean {
  return live.containers.some(({ status }) => {
    const { exitCode = 0, finishedAt } = status?.lastState?.terminated ?? {};
    return exitCode !== 0 && now - Date.parse(finishedAt ?? '') < RECOVERING_MS;
  });
}

/** How bad it is: the lowest number is the worst. */
function badness(family: Family, now: number): number {
  const own = TONES.indexOf(family.pod.tone);
  return family.pod.tone === 'good' && isRecovering(family, now) ? TONES.indexOf('busy') : own;
}

const nameOf = ({ live }: Family) => `${live.pod.metadata.namespace}/${live.pod.metadata.name}`;

/** What an order compares by, before the names. */
const RANKS: Readonly<Record<Sort, (family: Family, now: number) => number>> = {
  worst: badness,
  name: () => 0,
  age: ({ live }) => -live.tree.since,
  restarts: ({ restarts }) => -restarts,
};

function sorted(families: readonly Family[], { sort, reversed }: Controls, now: number): Family[] {
  const keyed = families.map((family) => ({ family, rank: RANKS[sort](family, now), name: nameOf(family) }));
  const inOrder = keyed.toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return (reversed ? inOrder.reverse() : inOrder).map(({ family }) => family);
}

function matches(family: Family, filter: string): boolean {
  const wanted = filter.toLowerCase();
  const texts = [nameOf(family), ...[family.pod, ...family.actors].flatMap(({ cells }) => cells)];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** The levels of detail: all actors, all but volumes that are mounted or unmounted, actors with problems, only pods. */
const LEVELS = ['everything', 'unsettledVolumes', 'problems', 'pods'] as const;

type Level = (typeof LEVELS)[number];

function isShown(row: LiveRow, level: Level): boolean {
  if (level === 'everything') return true;
  if (level === 'unsettledVolumes') return row.kind === 'container' || !isSettled(row);
  return level === 'problems' && (row.tone === 'bad' || row.tone === 'busy');
}

/** Puts the actors of a pod under it, as branches. */
function branched(rows: readonly LiveRow[]): LiveRow[] {
  return rows.map((row, index) => {
    const [name = '', ...rest] = row.cells;
    return { ...row, cells: [`${index === rows.length - 1 ? '└' : '├'} ${name}`, ...rest] };
  });
}

/** A pod says itself what is wrong with it, unless the actor with which it is wrong stands below it. */
function rowsOf({ pod, actors }: Family, level: Level): LiveRow[] {
  const shown = actors.filter((row) => isShown(row, level));
  const why = pod.cells.at(-1) ?? '';
  const cause = actors.find(({ tone, cells }) => tone !== 'good' && tone !== 'done' && cells.at(-1) !== '');
  if (cause === undefined || pod.tone === 'good') return [pod, ...branched(shown)];
  const [name = ''] = cause.cells;
  // What it waits for itself is but that its actors come on.
  const own = shown.includes(cause) ? '' : `${name}: ${cause.cells.at(-1)}`;
  const tells = pod.tone === 'bad' && why !== '' && !why.startsWith('waiting');
  return [{ ...pod, cells: pod.cells.with(-1, tells ? why : own) }, ...branched(shown)];
}

/** The rows of all pods that are to be shown; `room` is how many fit, for who lets that choose the detail. */
export function liveRows(pods: readonly PodWithTree[], now: number, controls: Controls, room: number): LiveRow[] {
  const filter = filterOf(controls);
  const all = pods.map((live) => familyOf(live, now));
  const families = sorted(filter === '' ? all : all.filter((family) => matches(family, filter)), controls, now);
  const at = (level: Level) => families.flatMap((family) => rowsOf(family, level));
  if (controls.detail !== 'auto') return at(controls.detail);
  for (const level of LEVELS) {
    const rows = at(level);
    if (rows.length <= room) return rows;
  }
  return at('pods');
}
