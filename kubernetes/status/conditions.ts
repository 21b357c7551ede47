import { lookUp } from '../../base/lookUp.ts';
import { containersOf } from '../api/containers.ts';
import { rfc3339 } from '../api/rfc3339.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerStatus, PodCondition, PodPhase, PodStatus } from '../api/schema/status.ts';
import { couldRestartAll } from '../lifecycle/restart.ts';
import { isTerminalPhase } from './phase.ts';
import { RESIZE_CONDITIONS, resizeConditions } from './resizeConditions.ts';
import type { ContainerRole, PodView } from './view.ts';

interface ConditionsInput {
  readonly view: PodView;
  readonly phase: PodPhase;
  /** The phase that the conditions follow. It may be terminal while containers still run, unlike the published phase (C2). */
  readonly comingPhase: PodPhase;
  /** Those of init containers, sidecars and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  readonly previous?: PodStatus | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly observedGeneration?: number | undefined;
}

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const TRUE: Verdict = { status: 'True' };
const OURS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
/**
 * Set on pods with a rule that can restart all containers, without an observedGeneration
 * (`GenerateAllContainersRestartingCondition` in `pkg/kubelet/status/generate.go`).
 */
const RESTARTING = 'AllContainersRestarting';

/** Whether it is for the node to say a condition of this type. */
export const isOwnCondition = (type: string): boolean =>
  [...OURS, RESTARTING].includes(type) || RESIZE_CONDITIONS.includes(type);

/** Whether others than the node say it. */
export const isOfOthers = ({ type }: PodCondition): boolean => !isOwnCondition(type);

/** The conditions that others than the node tell of a pod, as its source has them (C14); undefined where it has none at all. */
export const conditionsOfOthers = ({ status }: Pod): readonly PodCondition[] | undefined =>
  status?.conditions?.filter(isOfOthers);

/** The conditions of a pod (C15): those of others as they are (C14), then ours; a time only changes with the status. */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const { view, now, observedGeneration } = input;
  const before = input.previous?.conditions ?? view.pod.status?.conditions ?? [];
  const others = (view.conditions ?? before).filter(isOfOthers);
  const containersReady = containersReadyVerdict(input);
  const verdicts: Record<string, Verdict> = {
    PodReadyToStartContainers: { status: hasNetwork(view) ? 'True' : 'False' },
    Initialized: initializedVerdict(input, before),
    Ready: containersReady.status === 'True' ? gatesVerdict(view, others) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: TRUE,
    [RESTARTING]: restartingVerdict(input),
  };
  const ours = [...OURS, ...(couldRestartAll(view.pod) ? [RESTARTING] : [])].map((type): PodCondition => {
    const verdict = lookUp(verdicts, type) ?? TRUE;
    const old = before.find((condition) => condition.type === type);
    const since = old?.status === verdict.status ? old.lastTransitionTime : undefined;
    const first = before.length === 0 ? firstTime(view, type, verdict) : undefined;
    return {
      type,
      ...(observedGeneration === undefined || type === RESTARTING ? {} : { observedGeneration }),
      ...verdict,
      lastTransitionTime: since ?? rfc3339(first ?? now),
    };
  });
  const told = [...others, ...before].find(({ type }) => type === DISRUPTION);
  return [
    ...others.filter(({ type }) => type !== DISRUPTION),
    ...disruption(input, told),
    ...resizeConditions(view, { before, now, observedGeneration }),
    ...ours,
  ];
}

function restartingVerdict({ view, comingPhase: phase }: ConditionsInput): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (!view.restartsAll) return { status: 'False' };
  const message = 'container exited with restart policy rule';
  return { status: 'True', reason: 'RestartAllContainersStarted', message };
}

const DISRUPTION = 'DisruptionTarget';

/** Told with the terminal phase of a pod that the node ended for its own reasons, and for ever after; else it is somebody else's to tell. */
function disruption({ view, phase, previous, now, observedGeneration }: ConditionsInput, told?: PodCondition) {
  const message = view.termination?.disruption;
  if (message === undefined || !isTerminalPhase(phase) || isTerminalPhase(previous?.phase)) return told ? [told] : [];
  const since = told?.status === 'True' ? told.lastTransitionTime : undefined;
  const condition: PodCondition = {
    type: DISRUPTION,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastTransitionTime: since ?? rfc3339(now),
  };
  return [condition];
}

/** Since when a condition holds that was never told before, as after a restart of the agent: what runs tells it. */
function firstTime(view: PodView, type: string, { status }: Verdict): number | undefined {
  if (type !== 'Ready' && type !== 'ContainersReady') return view.startedAt;
  if (status !== 'True') return undefined;
  const starts = view.containers.flatMap(({ now }) => (now.kind === 'running' ? [now.startedAt] : []));
  return starts.length > 0 ? Math.max(...starts) : undefined;
}

/** Whether the pod has a sandbox with its network: what containers need before they can start. */
function hasNetwork({ pod, sandbox }: PodView): boolean {
  return sandbox?.state === 'ready' && (pod.spec.hostNetwork === true || (sandbox.ips ?? []).length > 0);
}

function initializedVerdict(
  { view, comingPhase: phase, statuses }: ConditionsInput,
  before: readonly PodCondition[],
): Verdict {
  const init = [...containersOf(view.pod.spec)].filter(({ role }) => role === 'init' || role === 'sidecar');
  if (statuses.length === 0 && init.length > 0) return { status: 'False', reason: 'UnknownContainerStatuses' };
  const { unknown, lacking } = sortOut(init, statuses, ({ role }, status) =>
    role === 'sidecar' ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  if (hasRegularRun(view, statuses)) return TRUE;
  // A pod stays initialized, also while its init containers run again (`GeneratePodInitializedCondition`).
  if (before.some(({ type, status }) => type === 'Initialized' && status === 'True')) return TRUE;
  return lackVerdict('ContainersNotInitialized', unknown, 'incomplete', lacking);
}

/** Containers that run prove that the pod was initialized, even while its sidecars restart. */
function hasRegularRun({ pod }: PodView, statuses: readonly ContainerStatus[]): boolean {
  const names = new Set(pod.spec.containers.map(({ name }) => name));
  return statuses.some(({ name, state }) => names.has(name) && (state?.running ?? state?.terminated) !== undefined);
}

function containersReadyVerdict({ view, comingPhase: phase, statuses }: ConditionsInput): Verdict {
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (statuses.length === 0) return { status: 'False', reason: 'UnknownContainerStatuses' };
  const lasting = [...containersOf(view.pod.spec)].filter(({ role }) => role === 'sidecar' || role === 'regular');
  const { unknown, lacking } = sortOut(lasting, statuses, (_, status) => status.ready);
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'False', reason: 'PodCompleted' };
  return lackVerdict('ContainersNotReady', unknown, 'unready', lacking);
}

interface Part {
  readonly container: Container;
  readonly role: ContainerRole;
}

function sortOut(
  parts: readonly Part[],
  statuses: readonly ContainerStatus[],
  suffices: (part: Part, status: ContainerStatus) => boolean,
): { unknown: string[]; lacking: string[] } {
  const unknown: string[] = [];
  const lacking: string[] = [];
  const byName = new Map(statuses.map((status) => [status.name, status]));
  for (const part of parts) {
    const status = byName.get(part.container.name);
    if (!status) unknown.push(part.container.name);
    else if (!suffices(part, status)) lacking.push(part.container.name);
  }
  return { unknown, lacking };
}

function lackVerdict(reason: string, unknown: string[], word: string, lacking: string[]): Verdict {
  const messages = [
    ...(unknown.length > 0 ? [`containers with unknown status: [${unknown.join(' ')}]`] : []),
    ...(lacking.length > 0 ? [`containers with ${word} status: [${lacking.join(' ')}]`] : []),
  ];
  return messages.length === 0 ? TRUE : { status: 'False', reason, message: messages.join(', ') };
}

function gatesVerdict(view: PodView, others: readonly PodCondition[]): Verdict {
  const messages = (view.pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = others.find(({ type }) => type === conditionType);
    if (!condition) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return TRUE;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
