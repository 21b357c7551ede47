import { truncateToBytes } from '../../base/text/utf8.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { memoize } from '../../base/values/memoize.ts';
import { containersMounting, containersOf, findContainerByName, volumeWaitingReason } from '../api/pods/containers.ts';
import type { Container, ResourceRequirements } from '../api/schema/container.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../api/schema/status.ts';
import { formatQuantity } from '../api/values/quantity.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import { claimResourceStatuses } from '../claims/containerDevices.ts';
import type { ContainerSize } from '../resources/containerSize.ts';
import { canonicalAmounts } from '../resources/effectiveResources.ts';
import { hasSameSize } from '../resources/resize.ts';
import { containerSize } from '../resources/resources.ts';
import { allStatuses } from './allStatuses.ts';
import { containerDetails } from './containerDetails.ts';
import { isTerminalPhase } from './phase.ts';
import { type ContainerStatuses, terminatedStatuses } from './terminatedStatuses.ts';
import type { ContainerRole, ContainerView, PodView, TerminatedRun } from './view.ts';

/**
 * Returns the statuses of all containers of a pod. Containers without an actor and runs that the runtime has lost are
 * taken from the `previous` status. `runtimeName` is the scheme of the container IDs, e.g. `containerd` in
 * `containerd://4f2a`.
 */
export function containerStatuses(
  view: PodView,
  { previous, runtimeName }: { previous?: PodStatus | undefined; runtimeName: string },
): ContainerStatuses {
  const previousByName = new Map(allStatuses(previous).map((status) => [status.name, status]));
  const viewsByName = new Map(view.containers.map((each) => [each.name, each]));
  const statusesForRoles = (...roles: ContainerRole[]) =>
    [...containersOf(view.pod.spec)]
      .filter(({ role }) => roles.includes(role))
      .map(({ container, role }) => {
        const containerView = viewsByName.get(container.name);
        if (containerView) {
          const status = cachedStatus(view.pod.spec, { container, role, containerView, runtimeName });
          const reportedStatus = previousByName.get(container.name);
          return withLostRuns(withReportedCount(status, reportedStatus), {
            view,
            containerView,
            previous: reportedStatus,
          });
        }
        return statusWithoutView(view, container, role, previousByName.get(container.name));
      });
  const statuses = {
    init: statusesForRoles('init', 'sidecar'),
    regular: statusesForRoles('regular')
      .sort(compareByName)
      .map((status) => withClaimHealth(view, status)),
    ephemeral: statusesForRoles('ephemeral').sort(compareByName),
  };
  if (view.refusal) return onlyRunContainers(statuses);
  // Report the containers as terminated once the pod has been reported as terminated, even while the pod is being
  // removed.
  const hasEnded = view.hasEnded || isTerminalPhase(previous?.phase);
  return limitMessages(hasEnded ? terminatedStatuses(view, statuses) : statuses);
}

/** Adds the health of the devices that a regular container gets through claims. */
function withClaimHealth({ pod, claims = [] }: PodView, status: ContainerStatus): ContainerStatus {
  if (claims.length === 0) return status;
  const container = findContainerByName(pod.spec, status.name)?.container;
  const statuses = container === undefined ? [] : claimResourceStatuses(pod, container, claims);
  return statuses.length === 0 ? status : { ...status, allocatedResourcesStatus: statuses };
}

/**
 * Maximum total length in bytes of a pod's termination messages (C22). Each container gets an equal share, to which the
 * messages of its terminated states are truncated.
 */
const MAX_MESSAGE_BYTES = 12_288;

function limitMessages({ init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const maxMessageBytes = Math.floor(MAX_MESSAGE_BYTES / (init.length + regular.length + ephemeral.length));
  const limitState = (state: ContainerState | undefined): ContainerState | undefined => {
    const { message } = state?.terminated ?? {};
    if (!state?.terminated || message === undefined) return state;
    const truncatedMessage = truncateToBytes(message, maxMessageBytes);
    return truncatedMessage === message ? state : { terminated: { ...state.terminated, message: truncatedMessage } };
  };
  const limitStatus = (status: ContainerStatus): ContainerStatus => {
    const [state, lastState] = [limitState(status.state), limitState(status.lastState)];
    if (state === status.state && lastState === status.lastState) return status;
    return { ...status, ...(state ? { state } : {}), ...(lastState ? { lastState } : {}) };
  };
  return { init: init.map(limitStatus), regular: regular.map(limitStatus), ephemeral: ephemeral.map(limitStatus) };
}

const compareByName = (a: ContainerStatus, b: ContainerStatus): number => (a.name < b.name ? -1 : 1);

/**
 * Removes the statuses of containers that have never run. A refused pod therefore has no container statuses unless it
 * ran before it was refused.
 */
function onlyRunContainers({ init, regular, ephemeral }: ContainerStatuses): ContainerStatuses {
  const hasRun = ({ state, lastState }: ContainerStatus) => !state?.waiting || lastState?.terminated !== undefined;
  return { init: init.filter(hasRun), regular: regular.filter(hasRun), ephemeral: ephemeral.filter(hasRun) };
}

interface StatusInput {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly containerView: ContainerView;
  readonly runtimeName: string;
}

/** Last status of each container view. It is cached, because only a few containers of a pod change at a time. */
const statusCache = new WeakMap<ContainerView, CachedStatus>();

interface CachedStatus {
  readonly pod: PodSpec;
  readonly runtimeName: string;
  readonly status: ContainerStatus;
}

function cachedStatus(pod: PodSpec, input: StatusInput): ContainerStatus {
  const { containerView, runtimeName } = input;
  const cached = statusCache.get(containerView);
  if (cached?.pod === pod && cached.runtimeName === runtimeName) return cached.status;
  const status = containerStatus(pod, input);
  statusCache.set(containerView, { pod, runtimeName, status });
  return status;
}

function containerStatus(
  pod: PodSpec,
  { container: spec, role, containerView, runtimeName }: StatusInput,
): ContainerStatus {
  const isRunning = containerView.now.kind === 'running';
  const containerId = reportedId(containerView);
  return {
    name: spec.name,
    state: containerState(containerView, runtimeName),
    lastState: containerView.lastRun ? { terminated: terminatedState(containerView.lastRun, runtimeName) } : {},
    ready: role === 'init' ? hasSucceeded(containerView) : role !== 'ephemeral' && isRunning && containerView.ready,
    restartCount: containerView.restartCount,
    ...containerDetails(spec, containerView.createdContainer),
    ...(containerId
      ? { containerID: `${runtimeName}://${containerId}`, ...reportedResources(pod, spec, containerView.size) }
      : {}),
    ...(role === 'ephemeral' ? {} : { started: isRunning && (role === 'init' || containerView.started) }),
  };
}

/**
 * Returns the ID of the container whose state is reported. While a container waits for a restart, this is the ID of the
 * terminated container.
 */
function reportedId({ now, lastRun, containerId, isAwaitingRun }: ContainerView): string | undefined {
  if (now.kind === 'running' || isAwaitingRun) return containerId;
  return (now.kind === 'terminated' ? now.run : lastRun)?.containerId || containerId;
}

/**
 * Retains the reported restart count if it is higher than the attempt number in the runtime, which happens if the state
 * of a run was unknown for a while (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`). Does not compare
 * IDs, because a restarted runtime may report the container under a new ID.
 */
function withReportedCount(status: ContainerStatus, previous: ContainerStatus | undefined): ContainerStatus {
  if (previous === undefined || previous.restartCount <= status.restartCount) return status;
  return { ...status, restartCount: previous.restartCount };
}

interface LostRunInput {
  readonly view: PodView;
  readonly containerView: ContainerView;
  readonly previous: ContainerStatus | undefined;
}

/**
 * Completes the status of a container with runs that the runtime lost while no agent was running. These are taken from
 * the last reported status, because an API server would reject a change from terminated back to waiting
 * (`convertToAPIContainerStatuses` in `pkg/kubelet/kubelet_pods.go`).
 */
function withLostRuns(status: ContainerStatus, { view, containerView, previous }: LostRunInput): ContainerStatus {
  if (hasAllRuns(containerView)) return status;
  if (containerView.now.kind !== 'waiting' || isCreated(containerView)) return withLastState(status, previous);
  const previousTermination = previous?.state?.terminated;
  const hasDefaultReason = DEFAULT_REASONS.includes(containerView.now.reason);
  // The logs show a later run than the reported one, so do not use the reported status.
  if (previous !== undefined && previous.restartCount < status.restartCount) return status;
  if (previousTermination !== undefined && hasDefaultReason) return previous ?? status;
  if (hasDefaultReason && isInferredCompleted(view, containerView))
    return { ...status, state: INFERRED_COMPLETION, ready: true };
  const lastState = previousTermination === undefined ? previous?.lastState : previous && reportedTermination(previous);
  return {
    ...status,
    ...(lastState?.terminated ? { lastState } : {}),
    restartCount: Math.max(status.restartCount, previous?.restartCount ?? 0),
  };
}

/** Generic waiting reasons, which are reported unless a more specific reason is known. */
const DEFAULT_REASONS: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/**
 * Whether the view contains the last run of a waiting container, or the previous run of a restarted one. A run that is
 * inferred only from its log is ignored, because it has neither an ID nor an exit status.
 */
function hasAllRuns({ now, lastRun, restartCount }: ContainerView): boolean {
  const isInferred = lastRun?.containerId === '' && lastRun.reason === 'ContainerStatusUnknown';
  if (lastRun !== undefined && !isInferred) return true;
  return now.kind !== 'waiting' && restartCount === 0;
}

/** Whether the runtime already has a container for the next run. */
const isCreated = ({ isAwaitingRun, containerId }: ContainerView): boolean =>
  isAwaitingRun === true || containerId !== undefined;

/** Adds the last state from the reported status, because the runtime may have lost the previous run. */
function withLastState(status: ContainerStatus, previous: ContainerStatus | undefined): ContainerStatus {
  const lastState = previous && reportedLastState(status, previous);
  return lastState?.terminated ? { ...status, lastState } : status;
}

/**
 * Derives the last state from the reported status. If the reported status describes the same run, returns its last
 * state. If it describes the previous run, returns its terminated state (`convertToAPIContainerStatuses` in
 * `pkg/kubelet/kubelet_pods.go`).
 */
function reportedLastState(status: ContainerStatus, previous: ContainerStatus): ContainerState | undefined {
  const { lastState, containerID, restartCount } = previous;
  if (isSameRun(status, previous))
    // Do not return a last state that describes the current run. The reported last state does so if the container was
    // waiting for a restart.
    return lastState?.terminated?.containerID === containerID ? undefined : lastState;
  // Ignore the reported status if the logs show that a later run has been lost. The restart count of a waiting
  // container does not include its next run.
  if (status.restartCount > restartCount + (status.state?.waiting ? 0 : 1)) return undefined;
  return reportedTermination(previous);
}

/**
 * Whether two statuses describe the same run. A restarted runtime may report its containers under new IDs, so the IDs
 * may differ if the restart counts are equal. In that case, a running container that was reported as terminated or
 * waiting is in a different run, because a terminated run never becomes running again.
 */
function isSameRun({ state, containerID, restartCount }: ContainerStatus, previous: ContainerStatus): boolean {
  if (previous.containerID !== undefined && previous.containerID === containerID) return true;
  if (restartCount !== previous.restartCount || state?.waiting) return false;
  return state?.terminated !== undefined || !(previous.state?.terminated || previous.state?.waiting);
}

/**
 * Returns the reported terminated state of the last run. Ignores a terminated state without a container ID, which is
 * reported for a container that was waiting when its pod terminated (C13) and does not describe a run.
 */
function reportedTermination({ state, lastState, containerID }: ContainerStatus): ContainerState | undefined {
  if (state?.waiting) return lastState;
  const { terminated } = state ?? {};
  const isWithoutRun = containerID === undefined || lastState?.terminated?.containerID === containerID;
  if (terminated?.containerID === undefined && isWithoutRun) return lastState;
  return terminated && { terminated };
}

/**
 * Whether an init container that the runtime has lost must have completed. This follows if the pod was initialized and
 * one of its regular containers exists.
 */
function isInferredCompleted({ isInitialized, containers }: PodView, { role }: ContainerView): boolean {
  if (role !== 'init' || !isInitialized) return false;
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

/**
 * Returns the status of a container without an actor. It has not been created yet, or it terminated before this agent
 * started.
 */
function statusWithoutView(
  view: PodView,
  spec: Container,
  role: ContainerRole,
  previous?: ContainerStatus,
): ContainerStatus {
  const loggedRestarts = (lookUp(view.restarts ?? {}, spec.name) ?? 0) - 1;
  const hadLaterRun = previous !== undefined && previous.restartCount < loggedRestarts;
  if (previous?.state?.terminated && !hadLaterRun) return previous;
  const hasInitContainers = role !== 'ephemeral' && (view.pod.spec.initContainers ?? []).length > 0;
  const creationReason = { reason: hasInitContainers ? 'PodInitializing' : 'ContainerCreating' };
  return {
    name: spec.name,
    state: { waiting: volumeReasons(view).get(spec.name) ?? creationReason },
    lastState: hadLaterRun ? {} : (previous?.lastState ?? {}),
    ready: false,
    restartCount: Math.max(previous?.restartCount ?? 0, loggedRestarts),
    ...containerDetails(spec),
    ...(role === 'ephemeral' ? {} : { started: false }),
  };
}

/** Returns the waiting states of containers that wait for one of their volumes, by container name. */
const volumeReasons = memoize(({ pod, volumes }: PodView): ReadonlyMap<string, ContainerState['waiting']> => {
  const blockedVolumes = volumes.filter(({ waitingReason }) => waitingReason !== undefined);
  const volumeNames = blockedVolumes.map(({ name }) => name);
  const waitingContainers = volumeNames.length > 0 ? containersMounting(pod.spec, volumeNames) : [];
  return new Map(
    waitingContainers.map(({ container }) => [container.name, volumeWaitingReason(blockedVolumes, container)]),
  );
});

function containerState({ now }: ContainerView, runtimeName: string): ContainerState {
  switch (now.kind) {
    case 'waiting':
      return { waiting: { reason: now.reason, ...(now.message ? { message: now.message } : {}) } };
    case 'running':
      return { running: now.startedAt === undefined ? {} : { startedAt: rfc3339(now.startedAt) } };
    case 'terminated':
      return { terminated: terminatedState(now.run, runtimeName) };
  }
}

function terminatedState(run: TerminatedRun, runtimeName: string): NonNullable<ContainerState['terminated']> {
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

/** Returns the admitted and the actual resources of a container, which differ while a resize is in progress. */
function reportedResources(spec: PodSpec, container: Container, size?: ContainerSize): ReportedResources {
  const { requests, limits, ...rest } = container.resources ?? {};
  const admittedResources = {
    ...rest,
    ...(limits ? { limits: canonicalAmounts(limits) } : {}),
    ...(requests ? { requests: canonicalAmounts(requests) } : {}),
  };
  const actualResources =
    size && !hasSameSize(size, containerSize(spec, container))
      ? withActualSize(admittedResources, size)
      : admittedResources;
  const hasRequests = Object.keys(requests ?? {}).length > 0;
  return { ...(hasRequests ? { allocatedResources: admittedResources.requests } : {}), resources: actualResources };
}

type ReportedResources = Pick<ContainerStatus, 'allocatedResources' | 'resources'>;

/** Returns the admitted resources, updated with the amounts that the container currently has in the runtime. */
function withActualSize(admitted: ResourceRequirements, size: ContainerSize): ResourceRequirements {
  const formatCpu = (millis: number) => formatQuantity(BigInt(millis) * 1_000_000n);
  const formatMemory = (bytes: number) => formatQuantity(BigInt(bytes) * 1_000_000_000n, 'binary');
  const requests = { ...admitted.requests };
  const limits = { ...admitted.limits };
  if (requests.cpu !== undefined) requests.cpu = formatCpu(size.cpuRequest);
  if (requests.memory !== undefined && size.memoryRequest !== undefined)
    requests.memory = formatMemory(size.memoryRequest);
  if (limits.cpu !== undefined) limits.cpu = formatCpu(size.cpuLimit);
  if (limits.memory !== undefined) limits.memory = formatMemory(size.memoryLimit);
  return {
    ...admitted,
    ...(admitted.requests ? { requests } : {}),
    ...(admitted.limits ? { limits } : {}),
  };
}
