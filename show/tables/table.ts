import { humanDuration } from '../../base/duration.ts';
import { isSidecar } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerStateTerminated, ContainerStatus, PodStatus } from '../../kubernetes/api/schema/status.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';

/** The cells of a pod in `kubectl get pods -o wide`. */
export interface PodRow {
  readonly name: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
  readonly node: string;
  readonly nominatedNode: string;
  readonly readinessGates: string;
}

const NARROW = ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'];
const WIDE = [...NARROW, 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'];

/** Returns the table of pods as rows of cells, the header first. `now` is in milliseconds since the epoch. */
export function podTable(pods: readonly Pod[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const header = wide ? WIDE : NARROW;
  const rows = pods.map((pod) => {
    const { name, ready, status, restarts, age, ip, node, nominatedNode, readinessGates } = podRow(pod, now);
    return [name, ready, status, restarts, age, ip, node, nominatedNode, readinessGates].slice(0, header.length);
  });
  return [header, ...rows];
}

/**
 * Returns the cells of a pod. The age of a pod without a creation time, such as a static pod, is the time since its
 * start.
 */
export function podRow(pod: Pod, now: number): PodRow {
  const { spec, metadata } = pod;
  const status = pod.status ?? {};
  const init = readInit(pod, status);
  const main = readMain(status, init);
  return {
    name: metadata.name,
    ready: `${init.ready + main.ready}/${spec.containers.length + (spec.initContainers ?? []).filter(isSidecar).length}`,
    status: deletionStatus(pod, status) ?? main.reason,
    restarts: restartsCell(main.restarting, now),
    age: since(metadata.creationTimestamp ?? status.startTime, now),
    ip: status.podIPs?.[0]?.ip ?? '<none>',
    node: spec.nodeName || '<none>',
    nominatedNode: status.nominatedNodeName || '<none>',
    readinessGates: gatesCell(pod, status),
  };
}

function deletionStatus({ metadata }: Pod, status: PodStatus): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return isTerminalPhase(status.phase) ? undefined : 'Terminating';
}

interface InitSummary {
  readonly ready: number;
  readonly reason: string;
  readonly initializing: boolean;
  /** The containers whose restarts count during initialization. */
  readonly reached: readonly ContainerStatus[];
  /** The init containers whose restarts count after initialization. */
  readonly sidecars: readonly ContainerStatus[];
}

/** Reads the init containers up to the first one that has not completed. */
function readInit({ spec }: Pod, status: PodStatus): InitSummary {
  const statuses = status.initContainerStatuses ?? [];
  const sidecarNames = (spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const isStarted = ({ name, started }: ContainerStatus) => sidecarNames.includes(name) && started === true;
  const isDone = (s: ContainerStatus) => s.state?.terminated?.exitCode === 0 || isStarted(s);
  const blocking = statuses.findIndex((s) => !isDone(s));
  const reached = blocking < 0 ? statuses : statuses.slice(0, blocking + 1);
  const blocker = statuses[blocking];
  return {
    ready: reached.filter((s) => s.ready && s.state?.terminated?.exitCode !== 0 && isStarted(s)).length,
    reason: blocker
      ? `Init:${initReason(blocker) ?? `${blocking}/${(spec.initContainers ?? []).length}`}`
      : startingReason(status),
    initializing: blocker !== undefined,
    reached,
    sidecars: reached.filter(({ name }) => sidecarNames.includes(name)),
  };
}

function startingReason({ phase, reason, conditions = [] }: PodStatus): string {
  const gated = conditions.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  return gated ? 'SchedulingGated' : reason || (phase ?? '');
}

function initReason({ state }: ContainerStatus): string | undefined {
  if (state?.terminated) return terminatedReason(state.terminated);
  const waiting = state?.waiting?.reason;
  return waiting && waiting !== 'PodInitializing' ? waiting : undefined;
}

interface MainSummary {
  readonly ready: number;
  readonly reason: string;
  readonly restarting: readonly ContainerStatus[];
}

/** Reads the regular containers. The reason of the first container takes precedence. */
function readMain(status: PodStatus, init: InitSummary): MainSummary {
  const initialized = hasCondition(status, 'Initialized');
  if (init.initializing && !initialized) return { ready: 0, reason: init.reason, restarting: init.reached };
  const statuses = status.containerStatuses ?? [];
  const ready = statuses.filter((s) => s.ready && s.state?.running).length;
  const reason = statuses.map(mainReason).find((word) => word !== undefined) ?? init.reason;
  const runs = reason === 'Completed' && ready > 0;
  const running = hasCondition(status, 'Ready') ? 'Running' : 'NotReady';
  return { ready, reason: runs ? running : reason, restarting: [...init.sidecars, ...statuses] };
}

function mainReason({ state }: ContainerStatus): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason;
  return state?.terminated && terminatedReason(state.terminated);
}

function terminatedReason({ reason, signal, exitCode }: ContainerStateTerminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function hasCondition({ conditions = [] }: PodStatus, type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

function restartsCell(statuses: readonly ContainerStatus[], now: number): string {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const lastFinishedAt = statuses
    .map(({ lastState }) => lastState?.terminated?.finishedAt ?? '')
    .toSorted()
    .at(-1);
  return restarts > 0 && lastFinishedAt ? `${restarts} (${since(lastFinishedAt, now)} ago)` : `${restarts}`;
}

function since(at: string | undefined, now: number): string {
  return at === undefined ? '<unknown>' : humanDuration(now - Date.parse(at));
}

function gatesCell({ spec }: Pod, status: PodStatus): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  return `${gates.filter(({ conditionType }) => hasCondition(status, conditionType)).length}/${gates.length}`;
}
