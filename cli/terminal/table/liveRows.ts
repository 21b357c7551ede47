import { humanDuration } from '../../../base/time/duration.ts';
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
import type { Controls, SortOrder } from './controls.ts';
import { effectiveFilter } from './controls.ts';

/** Conditions of an actor, worst first: failing, in progress, steady, or completed. */
const TONES = ['bad', 'busy', 'good', 'done'] as const;

export type Tone = (typeof TONES)[number];

/** A row of the live table: a pod, container or volume. */
export interface LiveRow {
  readonly kind: 'pod' | 'container' | 'volume';
  readonly tone: Tone;
  /** Name, status, state, age of the state, restarts, IP and reason. */
  readonly cells: readonly string[];
}

/** The row of a pod and the rows of its actors. */
interface PodGroup {
  readonly podActors: PodActors;
  readonly pod: LiveRow;
  readonly actors: readonly LiveRow[];
  readonly restarts: number;
}

/**
 * A container that failed within this time is considered to be recovering, so that the rows of a crash-looping pod do
 * not jump.
 */
const RECOVERY_MS = 300_000;

/** Returns the state without the substate `steady`, which only means that no change is in progress. */
const stateOf = ({ state }: ActorNode) => state.replace(/\.steady$/, '');

const age = (actor: ActorNode, now: number) => humanDuration(Math.max(0, now - actor.since));

function containerTone({ actor, role, status, willRestart }: ContainerWithActor): Tone {
  const { state = {}, ready } = status ?? {};
  if (state.running) return ready && role !== 'init' ? 'good' : 'busy';
  if (state.terminated) return state.terminated.exitCode === 0 && !willRestart ? 'done' : 'bad';
  const hasFailed = actor.lastFailure && actor.waitingFor !== undefined;
  return state.waiting?.reason === 'CrashLoopBackOff' || hasFailed ? 'bad' : 'busy';
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
  // An earlier failure to mount is irrelevant while unmounting.
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

function podGroup(podWithTree: PodWithTree, now: number): PodGroup {
  const actorsOfPod = podActors(podWithTree);
  const { pod, tree, volumes, containers } = actorsOfPod;
  const volumeRows = volumes.map((each) => volumeRow(each, now));
  const actors = [
    ...volumeRows.filter((row) => !isSettled(row)),
    ...containers.map((each) => containerRow(each, now)),
    ...volumeRows.filter(isSettled),
  ];
  const restarts = containers.reduce((sum, { status }) => sum + (status?.restartCount ?? 0), 0);
  const { status } = kubectlRow(pod, now);
  const ip = pod.status?.podIP ?? '';
  const cells = [displayName(pod.metadata), status, stateOf(tree), age(tree, now), `${restarts}`, ip];
  const row: LiveRow = {
    kind: 'pod',
    tone: podTone(actorsOfPod, actors),
    cells: [...cells, podReason(actorsOfPod, now)],
  };
  return { podActors: actorsOfPod, pod: row, actors, restarts };
}

function isRecovering({ podActors }: PodGroup, now: number): boolean {
  return podActors.containers.some(({ status }) => {
    const { exitCode = 0, finishedAt } = status?.lastState?.terminated ?? {};
    return exitCode !== 0 && now - Date.parse(finishedAt ?? '') < RECOVERY_MS;
  });
}

/** Ranks a pod by severity. The lowest number is the worst. */
function severityRank(group: PodGroup, now: number): number {
  const toneRank = TONES.indexOf(group.pod.tone);
  return group.pod.tone === 'good' && isRecovering(group, now) ? TONES.indexOf('busy') : toneRank;
}

const nameOf = ({ podActors }: PodGroup) => `${podActors.pod.metadata.namespace}/${podActors.pod.metadata.name}`;

/** The primary sort key of each order. Names break ties. */
const RANK_BY_ORDER: Readonly<Record<SortOrder, (group: PodGroup, now: number) => number>> = {
  worst: severityRank,
  name: () => 0,
  age: ({ podActors }) => -podActors.tree.since,
  restarts: ({ restarts }) => -restarts,
};

function sortGroups(groups: readonly PodGroup[], { sortOrder, isReversed }: Controls, now: number): PodGroup[] {
  const rankedGroups = groups.map((group) => ({
    family: group,
    rank: RANK_BY_ORDER[sortOrder](group, now),
    name: nameOf(group),
  }));
  const sortedGroups = rankedGroups.toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return (isReversed ? sortedGroups.reverse() : sortedGroups).map(({ family }) => family);
}

function matchesFilter(group: PodGroup, filter: string): boolean {
  const searchText = filter.toLowerCase();
  const searchableTexts = [nameOf(group), ...[group.pod, ...group.actors].flatMap(({ cells }) => cells)];
  return searchableTexts.some((text) => text.toLowerCase().includes(searchText));
}

/** Levels of detail: all actors, all but settled volumes, actors with problems, only pods. */
const ROW_LEVELS = ['everything', 'unsettledVolumes', 'problems', 'pods'] as const;

type RowLevel = (typeof ROW_LEVELS)[number];

function isVisibleAtLevel(row: LiveRow, level: RowLevel): boolean {
  if (level === 'everything') return true;
  if (level === 'unsettledVolumes') return row.kind === 'container' || !isSettled(row);
  return level === 'problems' && (row.tone === 'bad' || row.tone === 'busy');
}

/** Prefixes the names of a pod's actors with tree branches. */
function withBranches(rows: readonly LiveRow[]): LiveRow[] {
  return rows.map((row, index) => {
    const [name = '', ...rest] = row.cells;
    return { ...row, cells: [`${index === rows.length - 1 ? '└' : '├'} ${name}`, ...rest] };
  });
}

/**
 * Returns the visible rows of a pod. If the row of the actor that causes the pod's problem is hidden, the pod's row
 * shows the reason instead.
 */
function rowsOf({ pod, actors }: PodGroup, level: RowLevel): LiveRow[] {
  const visibleActors = actors.filter((row) => isVisibleAtLevel(row, level));
  const ownReason = pod.cells.at(-1) ?? '';
  const causeRow = actors.find(({ tone, cells }) => tone !== 'good' && tone !== 'done' && cells.at(-1) !== '');
  if (causeRow === undefined || pod.tone === 'good') return [pod, ...withBranches(visibleActors)];
  const [name = ''] = causeRow.cells;
  // If the pod's own reason starts with "waiting", the pod is only waiting for its actors, whose reasons are more
  // specific.
  const actorReason = visibleActors.includes(causeRow) ? '' : `${name}: ${causeRow.cells.at(-1)}`;
  const hasOwnReason = pod.tone === 'bad' && ownReason !== '' && !ownReason.startsWith('waiting');
  return [
    { ...pod, cells: pod.cells.with(-1, hasOwnReason ? ownReason : actorReason) },
    ...withBranches(visibleActors),
  ];
}

/** Returns the visible rows of all pods. `maxRows` determines the level of detail if it is `auto`. */
export function liveRows(pods: readonly PodWithTree[], now: number, controls: Controls, maxRows: number): LiveRow[] {
  const filter = effectiveFilter(controls);
  const allGroups = pods.map((podWithTree) => podGroup(podWithTree, now));
  const groups = sortGroups(
    filter === '' ? allGroups : allGroups.filter((group) => matchesFilter(group, filter)),
    controls,
    now,
  );
  const rowsAtLevel = (level: RowLevel) => groups.flatMap((group) => rowsOf(group, level));
  if (controls.detailLevel !== 'auto') return rowsAtLevel(controls.detailLevel);
  for (const level of ROW_LEVELS) {
    const rows = rowsAtLevel(level);
    if (rows.length <= maxRows) return rows;
  }
  return rowsAtLevel('pods');
}
