import { lookUp } from '../../base/lookUp.ts';
import { remembered } from '../../base/remembered.ts';
import { firstBytes } from '../../base/utf8.ts';
import { containersMounting, containersOf, waitingReasonOfVolumes } from '../api/containers.ts';
import { formatQuantity } from '../api/quantity.ts';
import { rfc3339 } from '../api/rfc3339.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../api/schema/status.ts';
import type { ContainerSize } from '../resources/containerSize.ts';
import { canonicalAmounts } from '../resources/effectiveResources.ts';
import { sameSize } from '../resources/resize.ts';
import { containerSize } from '../resources/resources.ts';
import { containerDetails } from './containerDetails.ts';
import { isTerminalPhase } from './phase.ts';
import { type ContainerStatuses, containersAtEnd } from './statusAtEnd.ts';
import type { ContainerRole, ContainerView, PodView, TerminatedRun } from './view.ts';

/**
 * Returns the statuses of all containers of a pod. The `previous` status stands in for containers without an actor and for
 * runs that the runtime has lost. `runtimeName` is the scheme of the container IDs, `containerd` in `containerd://4f2a`.
 */
export function containerStatuses(
  view: PodView,
  { previous, runtimeName }: { previous?: PodStatus | undefined; runtimeName: string },
): ContainerStatuses {
  const before = new Map(allStatuses(previous).map((status) => [status.name, status]));
  const found = new Map(view.containers.map((each) => [each.name, each]));
  const of = (...roles: ContainerRole[]) =>
    [...containersOf(view.pod.spec)]
      .filter(({ role }) => roles.includes(role))
      .map(({ container, role }) => {
        const seen = found.get(container.name);
        if (seen) {
          const status = seenStatus(view.pod.spec, { container, role, seen, runtimeName });
          return withLostRuns(status, { view, seen, previous: before.get(container.name) });
        }
        return unseenStatus(view, container, role, before.get(container.name));
      });
  const statuses = {
    init: of('init', 'sidecar'),
    regular: of('regular').sort(byName),
    ephemeral: of('ephemeral').sort(byName),
  };
  if (view.refused) return onlyWhatRan(statuses);
  // Once a pod was told to have ended so were its containers, also while it is being removed.
  const hasEnded = view.ended || isTerminalPhase(previous?.phase);
  return withinBudget(hasEnded ? containersAtEnd(view, statuses) : statuses);
}

/** What all termination messages of a pod may take together (C22): each container has an equal share for each end. */
const MESSAGE_BUDGET = 12_288;

function withinBudget({ init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const share = Math.floor(MESSAGE_BUDGET / (init.length + regular.length + ephemeral.length));
  const cut = (state: ContainerState | undefined): ContainerState | undefined => {
    const { message } = state?.terminated ?? {};
    if (!state?.terminated || message === undefined) return state;
    const short = firstBytes(message, share);
    return short === message ? state : { terminated: { ...state.terminated, message: short } };
  };
  const within = (status: ContainerStatus): ContainerStatus => {
    const [state, lastState] = [cut(status.state), cut(status.lastState)];
    if (state === status.state && lastState === status.lastState) return status;
    return { ...status, ...(state ? { state } : {}), ...(lastState ? { lastState } : {}) };
  };
  return { init: init.map(within), regular: regular.map(within), ephemeral: ephemeral.map(within) };
}

const byName = (a: ContainerStatus, b: ContainerStatus): number => (a.name < b.name ? -1 : 1);

/** A pod that was never taken has no containers to speak of. */
function onlyWhatRan({ init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const ran = ({ state, lastState }: ContainerStatus) => !state?.waiting || lastState?.terminated !== undefined;
  return { init: init.filter(ran), regular: regular.filter(ran), ephemeral: ephemeral.filter(ran) };
}

function allStatuses(status: PodStatus | undefined): ContainerStatus[] {
  return [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
}

interface Seen {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly seen: ContainerView;
  readonly runtimeName: string;
}

/** The status that a view came to last: of a pod's containers few change at a time. */
const latest = new WeakMap<ContainerView, Latest>();

interface Latest {
  readonly pod: PodSpec;
  readonly runtimeName: string;
  readonly status: ContainerStatus;
}

function seenStatus(pod: PodSpec, given: Seen): ContainerStatus {
  const { seen, runtimeName } = given;
  const known = latest.get(seen);
  if (known?.pod === pod && known.runtimeName === runtimeName) return known.status;
  const status = statusOf(pod, given);
  latest.set(seen, { pod, runtimeName, status });
  return status;
}

function statusOf(pod: PodSpec, { container: spec, role, seen, runtimeName }: Seen): ContainerStatus {
  const running = seen.now.kind === 'running';
  const id = shownId(seen);
  return {
    name: spec.name,
    state: stateOf(seen, runtimeName),
    lastState: seen.last ? { terminated: terminated(seen.last, runtimeName) } : {},
    ready: role === 'init' ? hasSucceeded(seen) : role !== 'ephemeral' && running && seen.ready,
    restartCount: seen.restartCount,
    ...containerDetails(spec, seen.made),
    ...(id ? { containerID: `${runtimeName}://${id}`, ...resourcesOf(pod, spec, seen.size) } : {}),
    ...(role === 'ephemeral' ? {} : { started: running && (role === 'init' || seen.started) }),
  };
}

/** The container that is shown: what waits to run again is still the one that ended. */
function shownId({ now, last, containerId, atHand }: ContainerView): string | undefined {
  if (now.kind === 'running' || atHand) return containerId;
  return (now.kind === 'terminated' ? now.run : last)?.containerId || containerId;
}

interface Lost {
  readonly view: PodView;
  readonly seen: ContainerView;
  readonly previous: ContainerStatus | undefined;
}

/**
 * Completes the status of a container with the runs that the runtime has lost while no agent was running. The last
 * reported status stands in for them, so that a terminated container does not go back to waiting, which an API server
 * refuses (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
function withLostRuns(status: ContainerStatus, { view, seen, previous }: Lost): ContainerStatus {
  if (hasAllRuns(seen)) return status;
  if (seen.now.kind !== 'waiting' || isCreated(seen)) return withLastState(status, previous);
  const end = previous?.state?.terminated;
  const isDefault = DEFAULT_REASONS.includes(seen.now.reason);
  // The logs tell of a later run than the reported one.
  if (previous !== undefined && previous.restartCount < status.restartCount) return status;
  if (end !== undefined && isDefault) return previous ?? status;
  if (isDefault && isInferredCompleted(view, seen)) return { ...status, state: INFERRED_COMPLETION, ready: true };
  const lastState = end === undefined ? previous?.lastState : previous && reportedEnd(previous);
  return {
    ...status,
    ...(lastState?.terminated ? { lastState } : {}),
    restartCount: Math.max(status.restartCount, previous?.restartCount ?? 0),
  };
}

/** The reasons of a container that waits for nothing in particular. */
const DEFAULT_REASONS: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/**
 * Whether every run that the status is about is known: the last run of a container that waits, the previous run of a
 * container that was restarted. A run that is inferred from its log alone has neither an ID nor a known end.
 */
function hasAllRuns({ now, last, restartCount }: ContainerView): boolean {
  const isInferred = last?.containerId === '' && last.reason === 'ContainerStatusUnknown';
  if (last !== undefined && !isInferred) return true;
  return now.kind !== 'waiting' && restartCount === 0;
}

/** Whether the runtime has a container for the run that is to come. */
const isCreated = ({ atHand, containerId }: ContainerView): boolean => atHand === true || containerId !== undefined;

/** Adds the last state that follows from the reported status, because the runtime may no longer have the run before. */
function withLastState(status: ContainerStatus, previous: ContainerStatus | undefined): ContainerStatus {
  const lastState = previous && reportedLastState(status, previous);
  return lastState?.terminated ? { ...status, lastState } : status;
}

/**
 * Returns the last state of a run by the status that was reported before: the same last state during the same run, and the
 * reported end of the run before during the next one (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
function reportedLastState(status: ContainerStatus, previous: ContainerStatus): ContainerState | undefined {
  const { lastState, containerID, restartCount } = previous;
  if (containerID !== undefined && containerID === status.containerID)
    // While a container waits to be restarted, its last state is the end of the same run.
    return lastState?.terminated?.containerID === containerID ? undefined : lastState;
  // A run that has yet to start is not counted. The logs may show a later run than the reported one.
  if (status.restartCount !== restartCount + (status.state?.waiting ? 0 : 1)) return undefined;
  return reportedEnd(previous);
}

/**
 * Returns the reported end of the last run. The end of a pod gives an end to containers that wait, too (C13). It names no
 * container, and is not the end of a run.
 */
function reportedEnd({ state, lastState, containerID }: ContainerStatus): ContainerState | undefined {
  const { terminated } = state ?? {};
  const waited = containerID === undefined || lastState?.terminated?.containerID === containerID;
  if (terminated?.containerID === undefined && waited) return lastState;
  return terminated && { terminated };
}

/**
 * Whether an init container of which nothing is left must have completed: the pod has been initialized, and one of its
 * regular containers exists.
 */
function isInferredCompleted({ initialized, containers }: PodView, { role }: ContainerView): boolean {
  if (role !== 'init' || !initialized) return false;
  return containers.some((each) => each.role === 'regular' && each.containerId !== undefined);
}

const INFERRED_COMPLETION: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
    startedAt: null,
    finishedAt: null,
  },
};

/** What a container is that has no actor: still to come, or ended before this agent knew it. */
function unseenStatus(
  view: PodView,
  spec: Container,
  role: ContainerRole,
  previous?: ContainerStatus,
): ContainerStatus {
  if (previous?.state?.terminated) return previous;
  const recalled = (lookUp(view.restarts ?? {}, spec.name) ?? 0) - 1;
  const initializing = role !== 'ephemeral' && (view.pod.spec.initContainers ?? []).length > 0;
  const creating = { reason: initializing ? 'PodInitializing' : 'ContainerCreating' };
  return {
    name: spec.name,
    state: { waiting: volumeReasons(view).get(spec.name) ?? creating },
    lastState: previous?.lastState ?? {},
    ready: false,
    restartCount: Math.max(previous?.restartCount ?? 0, recalled),
    ...containerDetails(spec),
    ...(role === 'ephemeral' ? {} : { started: false }),
  };
}

/** What containers wait for because of a volume that they mount, by the names of the containers. */
const volumeReasons = remembered(({ pod, volumes }: PodView): ReadonlyMap<string, ContainerState['waiting']> => {
  const troubled = volumes.filter(({ waitingReason }) => waitingReason !== undefined);
  const names = troubled.map(({ name }) => name);
  const held = names.length > 0 ? containersMounting(pod.spec, names) : [];
  return new Map(held.map(({ container }) => [container.name, waitingReasonOfVolumes(troubled, container)]));
});

function stateOf({ now }: ContainerView, runtimeName: string): ContainerState {
  switch (now.kind) {
    case 'waiting':
      return { waiting: { reason: now.reason, ...(now.message ? { message: now.message } : {}) } };
    case 'running':
      return { running: { startedAt: rfc3339(now.startedAt) } };
    case 'terminated':
      return { terminated: terminated(now.run, runtimeName) };
  }
}

function terminated(run: TerminatedRun, runtimeName: string): NonNullable<ContainerState['terminated']> {
  return {
    exitCode: run.exitCode,
    ...(run.signal ? { signal: run.signal } : {}),
    reason: run.reason,
    ...(run.message ? { message: run.message } : {}),
    startedAt: run.startedAt === undefined ? null : rfc3339(run.startedAt),
    finishedAt: run.finishedAt === undefined ? null : rfc3339(run.finishedAt),
    ...(run.containerId ? { containerID: `${runtimeName}://${run.containerId}` } : {}),
  };
}

function hasSucceeded({ now }: ContainerView): boolean {
  return now.kind === 'terminated' && now.run.exitCode === 0;
}

/** The resources that were admitted for a container and those that it has. They differ while a resize is in progress. */
function resourcesOf(spec: PodSpec, container: Container, size?: ContainerSize): Shown {
  const { requests, limits, ...rest } = container.resources ?? {};
  const admitted = {
    ...rest,
    ...(limits ? { limits: canonicalAmounts(limits) } : {}),
    ...(requests ? { requests: canonicalAmounts(requests) } : {}),
  };
  const shown = size && !sameSize(size, containerSize(spec, container)) ? ofSize(admitted, size) : admitted;
  const asks = Object.keys(requests ?? {}).length > 0;
  return { ...(asks ? { allocatedResources: admitted.requests } : {}), resources: shown };
}

type Shown = Pick<ContainerStatus, 'allocatedResources' | 'resources'>;

/** The admitted resources with the amounts that the container still has at the runtime. */
function ofSize(admitted: ResourceRequirements, size: ContainerSize): ResourceRequirements {
  const cpu = (millis: number) => formatQuantity(BigInt(millis) * 1_000_000n);
  const memory = (bytes: number) => formatQuantity(BigInt(bytes) * 1_000_000_000n, 'binary');
  const requests = { ...admitted.requests };
  const limits = { ...admitted.limits };
  if (requests.cpu !== undefined) requests.cpu = cpu(size.cpuRequest);
  if (requests.memory !== undefined && size.memoryRequest !== undefined) requests.memory = memory(size.memoryRequest);
  if (limits.cpu !== undefined) limits.cpu = cpu(size.cpuLimit);
  if (limits.memory !== undefined) limits.memory = memory(size.memoryLimit);
  return {
    ...admitted,
    ...(admitted.requests ? { requests } : {}),
    ...(admitted.limits ? { limits } : {}),
  };
}
