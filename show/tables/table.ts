import { humanDuration } from '../../base/time/duration.ts';
import { isSidecar } from '../../kubernetes/api/pods/containers.ts';
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

const NARROW_HEADER = ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'];
const WIDE_HEADER = [...NARROW_HEADER, 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'];

/** Returns the table of pods as rows of cells, the header first. `now` is in milliseconds since the epoch. */
export function podTable(pods: readonly Pod[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const header = wide ? WIDE_HEADER : NARROW_HEADER;
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
  const initSummary = summarizeInitContainers(pod, status);
  const mainSummary = summarizeMainContainers(status, initSummary);
  return {
    name: metadata.name,
    ready: `${initSummary.readyCount + mainSummary.readyCount}/${spec.containers.length + (spec.initContainers ?? []).filter(isSidecar).length}`,
    status: deletionStatus(pod, status) ?? mainSummary.reason,
    restarts: restartsCell(mainSummary.restartableContainers, now),
    age: timeSince(metadata.creationTimestamp ?? status.startTime, now),
    ip: status.podIPs?.[0]?.ip ?? '<none>',
    node: spec.nodeName || '<none>',
    nominatedNode: status.nominatedNodeName || '<none>',
    readinessGates: readinessGatesCell(pod, status),
  };
}

function deletionStatus({ metadata }: Pod, status: PodStatus): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return isTerminalPhase(status.phase) ? undefined : 'Terminating';
}

interface InitSummary {
  readonly readyCount: number;
  readonly reason: string;
  readonly isInitializing: boolean;
  /** The containers whose restarts are counted during initialization. */
  readonly startedContainers: readonly ContainerStatus[];
  /** The init containers whose restarts are counted after initialization. */
  readonly sidecars: readonly ContainerStatus[];
}

/** Summarizes the init containers up to the first one that has not completed. */
function summarizeInitContainers({ spec }: Pod, status: PodStatus): InitSummary {
  const statuses = status.initContainerStatuses ?? [];
  const sidecarNames = (spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const isStarted = ({ name, started }: ContainerStatus) => sidecarNames.includes(name) && started === true;
  const isDone = (s: ContainerStatus) => s.state?.terminated?.exitCode === 0 || isStarted(s);
  const blockingIndex = statuses.findIndex((s) => !isDone(s));
  const startedContainers = blockingIndex < 0 ? statuses : statuses.slice(0, blockingIndex + 1);
  const blockingStatus = statuses[blockingIndex];
  return {
    readyCount: startedContainers.filter((s) => s.ready && s.state?.terminated?.exitCode !== 0 && isStarted(s)).length,
    reason: blockingStatus
      ? `Init:${initReason(blockingStatus) ?? `${blockingIndex}/${(spec.initContainers ?? []).length}`}`
      : startingReason(status),
    isInitializing: blockingStatus !== undefined,
    startedContainers,
    sidecars: startedContainers.filter(({ name }) => sidecarNames.includes(name)),
  };
}

function startingReason({ phase, reason, conditions = [] }: PodStatus): string {
  const isSchedulingGated = conditions.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  return isSchedulingGated ? 'SchedulingGated' : reason || (phase ?? '');
}

function initReason({ state }: ContainerStatus): string | undefined {
  if (state?.terminated) return terminatedReason(state.terminated);
  const waitingReason = state?.waiting?.reason;
  return waitingReason && waitingReason !== 'PodInitializing' ? waitingReason : undefined;
}

interface MainSummary {
  readonly readyCount: number;
  readonly reason: string;
  readonly restartableContainers: readonly ContainerStatus[];
}

/** Summarizes the regular containers. If several of them have a reason, that of the first one is shown. */
function summarizeMainContainers(status: PodStatus, initSummary: InitSummary): MainSummary {
  const isInitialized = hasCondition(status, 'Initialized');
  if (initSummary.isInitializing && !isInitialized)
    return { readyCount: 0, reason: initSummary.reason, restartableContainers: initSummary.startedContainers };
  const statuses = status.containerStatuses ?? [];
  const readyCount = statuses.filter((s) => s.ready && s.state?.running).length;
  const reason = statuses.map(mainReason).find((word) => word !== undefined) ?? initSummary.reason;
  const isStillRunning = reason === 'Completed' && readyCount > 0;
  const runningStatus = hasCondition(status, 'Ready') ? 'Running' : 'NotReady';
  return {
    readyCount,
    reason: isStillRunning ? runningStatus : reason,
    restartableContainers: [...initSummary.sidecars, ...statuses],
  };
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
  return restarts > 0 && lastFinishedAt ? `${restarts} (${timeSince(lastFinishedAt, now)} ago)` : `${restarts}`;
}

function timeSince(at: string | undefined, now: number): string {
  return at === undefined ? '<unknown>' : humanDuration(now - Date.parse(at));
}

function readinessGatesCell({ spec }: Pod, status: PodStatus): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  return `${gates.filter(({ conditionType }) => hasCondition(status, conditionType)).length}/${gates.length}`;
}
