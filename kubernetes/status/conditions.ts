import { lookUp } from '../../base/values/lookUp.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerStatus, PodCondition, PodPhase, PodStatus } from '../api/schema/status.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import { couldRestartAllContainers } from '../lifecycle/restart.ts';
import { isTerminalPhase } from './phase.ts';
import { RESIZE_CONDITIONS, resizeConditions } from './resizeConditions.ts';
import type { ContainerRole, PodView } from './view.ts';

interface ConditionsInput {
  readonly view: PodView;
  readonly phase: PodPhase;
  /**
   * Phase that the conditions reflect. It may be terminal while containers still run, unlike the published phase (C2).
   */
  readonly conditionPhase: PodPhase;
  /** Statuses of the init containers, sidecars and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  readonly previous?: PodStatus | undefined;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  readonly observedGeneration?: number | undefined;
}

type ConditionVerdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const TRUE_VERDICT: ConditionVerdict = { status: 'True' };
const NODE_CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
/**
 * Type of the condition that is set on pods with a rule that can restart all containers. The condition has no
 * observedGeneration (`GenerateAllContainersRestartingCondition` in `pkg/kubelet/status/generate.go`).
 */
const RESTARTING_CONDITION = 'AllContainersRestarting';

/** Whether only the node sets conditions of this type. */
export const isNodeCondition = (type: string): boolean =>
  [...NODE_CONDITIONS, RESTARTING_CONDITION].includes(type) || RESIZE_CONDITIONS.includes(type);

/** Whether a component other than the node sets the condition. */
export const isForeignCondition = ({ type }: PodCondition): boolean => !isNodeCondition(type);

/**
 * Returns the conditions that other components have set, as reported by the source (C14). Undefined if the source
 * reports no conditions.
 */
export const foreignConditions = ({ status }: Pod): readonly PodCondition[] | undefined =>
  status?.conditions?.filter(isForeignCondition);

/**
 * Returns the conditions of a pod (C15). Conditions of other components come first and remain unchanged (C14). The
 * transition time of a condition changes only together with its status.
 */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const { view, now, observedGeneration } = input;
  const previousConditions = input.previous?.conditions ?? view.pod.status?.conditions ?? [];
  const externalConditions = (view.conditions ?? previousConditions).filter(isForeignCondition);
  const containersReady = containersReadyVerdict(input);
  const verdicts: Record<string, ConditionVerdict> = {
    PodReadyToStartContainers: { status: hasNetwork(view) ? 'True' : 'False' },
    Initialized: initializedVerdict(input, previousConditions),
    Ready: containersReady.status === 'True' ? readinessGatesVerdict(view, externalConditions) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: TRUE_VERDICT,
    [RESTARTING_CONDITION]: restartingVerdict(input),
  };
  const nodeConditions = [
    ...NODE_CONDITIONS,
    ...(couldRestartAllContainers(view.pod) ? [RESTARTING_CONDITION] : []),
  ].map((type): PodCondition => {
    const verdict = lookUp(verdicts, type) ?? TRUE_VERDICT;
    const previous = previousConditions.find((condition) => condition.type === type);
    const unchangedSince = previous?.status === verdict.status ? previous.lastTransitionTime : undefined;
    const initialTime = previousConditions.length === 0 ? initialTransitionTime(view, type, verdict) : undefined;
    return {
      type,
      ...(observedGeneration === undefined || type === RESTARTING_CONDITION ? {} : { observedGeneration }),
      ...verdict,
      lastTransitionTime: unchangedSince ?? rfc3339(initialTime ?? now),
    };
  });
  const disruptionCondition = [...externalConditions, ...previousConditions].find(({ type }) => type === DISRUPTION);
  return [
    ...externalConditions.filter(({ type }) => type !== DISRUPTION),
    ...disruptionConditions(input, disruptionCondition),
    ...resizeConditions(view, { previousConditions, now, observedGeneration }),
    ...nodeConditions,
  ];
}

function restartingVerdict({ view, conditionPhase: phase }: ConditionsInput): ConditionVerdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (!view.isRestartingAll) return { status: 'False' };
  const message = 'container exited with restart policy rule';
  return { status: 'True', reason: 'RestartAllContainersStarted', message };
}

const DISRUPTION = 'DisruptionTarget';

/**
 * Returns the DisruptionTarget condition. The node sets it when it publishes the terminal phase of a pod that it has
 * disrupted, and retains it afterwards. Otherwise the condition belongs to other components and remains unchanged.
 */
function disruptionConditions(
  { view, phase, previous, now, observedGeneration }: ConditionsInput,
  existing?: PodCondition,
) {
  const message = view.termination?.disruption;
  if (message === undefined || !isTerminalPhase(phase) || isTerminalPhase(previous?.phase))
    return existing ? [existing] : [];
  const unchangedSince = existing?.status === 'True' ? existing.lastTransitionTime : undefined;
  const condition: PodCondition = {
    type: DISRUPTION,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastTransitionTime: unchangedSince ?? rfc3339(now),
  };
  return [condition];
}

/**
 * Derives the transition time of a condition for which none was reported, e.g. after a restart of the agent. Uses the
 * start times of the pod and its containers.
 */
function initialTransitionTime(view: PodView, type: string, { status }: ConditionVerdict): number | undefined {
  if (type !== 'Ready' && type !== 'ContainersReady') return view.startedAt;
  if (status !== 'True') return undefined;
  const startTimes = view.containers.flatMap(({ now }) => (now.kind === 'running' ? (now.startedAt ?? []) : []));
  return startTimes.length > 0 ? Math.max(...startTimes) : undefined;
}

/** Whether the pod has a sandbox with a network, without which containers cannot start. */
function hasNetwork({ pod, sandbox }: PodView): boolean {
  return sandbox?.state === 'ready' && (pod.spec.hostNetwork === true || (sandbox.ips ?? []).length > 0);
}

function initializedVerdict(
  { view, conditionPhase: phase, statuses }: ConditionsInput,
  previousConditions: readonly PodCondition[],
): ConditionVerdict {
  const initContainers = [...containersOf(view.pod.spec)].filter(({ role }) => role === 'init' || role === 'sidecar');
  if (statuses.length === 0 && initContainers.length > 0)
    return { status: 'False', reason: 'UnknownContainerStatuses' };
  const { unknown, notReady } = classifyContainers(initContainers, statuses, ({ role }, status) =>
    role === 'sidecar' ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  if (hasRegularContainerRun(view, statuses)) return TRUE_VERDICT;
  // A pod remains initialized while its init containers run again (`GeneratePodInitializedCondition`).
  if (previousConditions.some(({ type, status }) => type === 'Initialized' && status === 'True')) return TRUE_VERDICT;
  return readinessVerdict('ContainersNotInitialized', unknown, 'incomplete', notReady);
}

/** Whether a regular container has run. This proves that the pod was initialized, even while its sidecars restart. */
function hasRegularContainerRun({ pod }: PodView, statuses: readonly ContainerStatus[]): boolean {
  const names = new Set(pod.spec.containers.map(({ name }) => name));
  return statuses.some(({ name, state }) => names.has(name) && (state?.running ?? state?.terminated) !== undefined);
}

function containersReadyVerdict({ view, conditionPhase: phase, statuses }: ConditionsInput): ConditionVerdict {
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (statuses.length === 0) return { status: 'False', reason: 'UnknownContainerStatuses' };
  const longRunningContainers = [...containersOf(view.pod.spec)].filter(
    ({ role }) => role === 'sidecar' || role === 'regular',
  );
  const { unknown, notReady } = classifyContainers(longRunningContainers, statuses, (_, status) => status.ready);
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'False', reason: 'PodCompleted' };
  return readinessVerdict('ContainersNotReady', unknown, 'unready', notReady);
}

interface RoleContainer {
  readonly container: Container;
  readonly role: ContainerRole;
}

function classifyContainers(
  containers: readonly RoleContainer[],
  statuses: readonly ContainerStatus[],
  isFulfilled: (container: RoleContainer, status: ContainerStatus) => boolean,
): { unknown: string[]; notReady: string[] } {
  const unknown: string[] = [];
  const notReady: string[] = [];
  const statusByName = new Map(statuses.map((status) => [status.name, status]));
  for (const entry of containers) {
    const status = statusByName.get(entry.container.name);
    if (!status) unknown.push(entry.container.name);
    else if (!isFulfilled(entry, status)) notReady.push(entry.container.name);
  }
  return { unknown, notReady };
}

function readinessVerdict(reason: string, unknown: string[], adjective: string, notReady: string[]): ConditionVerdict {
  const messages = [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(notReady.length > 0 ? [`containers with ${adjective} status: [${notReady.join(' ')}]`] : []),
  ];
  return messages.length === 0 ? TRUE_VERDICT : { status: 'False', reason, message: messages.join(', ') };
}

function readinessGatesVerdict(view: PodView, foreign: readonly PodCondition[]): ConditionVerdict {
  const messages = (view.pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = foreign.find(({ type }) => type === conditionType);
    if (!condition) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return TRUE_VERDICT;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
