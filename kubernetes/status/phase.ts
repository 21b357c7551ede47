import { containersOf } from '../api/pods/containers.ts';
import { isStaticPod } from '../api/pods/staticPod.ts';
import type { Container } from '../api/schema/container.ts';
import type { PodPhase } from '../api/schema/status.ts';
import { hasFailed, shouldRestart } from '../lifecycle/restart.ts';
import type { ContainerRole, ContainerView, PodView, TerminatedRun } from './view.ts';

/** Message in the status and in the event of a pod that has exceeded its activeDeadlineSeconds. */
export const DEADLINE_EXCEEDED = 'Pod was active on the node longer than the specified deadline';

/** Whether a pod in this phase can never run again. */
export function isTerminalPhase(phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * Returns the phase of a pod (C1). A terminal phase is final, so it is not published until all containers have
 * terminated (C2). Meanwhile, the result is `previous`, the last published phase.
 */
export function podPhase(view: PodView, previous?: PodPhase): PodPhase {
  if (isTerminalPhase(previous)) return previous;
  const phase = intendedPhase(view);
  if (!isTerminalPhase(phase)) return forcedPhase(view) ?? (hasLostContainers(view) ? previous : undefined) ?? phase;
  if (view.hasEnded) return phase;
  const hasStarted = view.containers.some((container) => container.role === 'regular' && hasRun(container));
  return previous ?? (hasStarted ? 'Running' : 'Pending');
}

/**
 * Whether the actors of the containers have stopped together with their pod, in which case the exit codes are no longer
 * available.
 */
const hasLostContainers = ({ hasEnded, containers }: PodView): boolean => hasEnded && containers.length === 0;

/** Returns the phase that the conditions reflect. It becomes terminal earlier than `status.phase` (C2, C15). */
export function conditionPhase(view: PodView, phase: PodPhase): PodPhase {
  const unforcedPhase = overridingPhase(view) ?? phaseFromContainers(view);
  if (isTerminalPhase(unforcedPhase)) return unforcedPhase;
  // For a pod that never ran, the conditions reflect this fact rather than the forced phase `Failed`.
  return forcedPhase(view) === phase && view.termination?.phase === undefined && !view.refusal ? unforcedPhase : phase;
}

/** Whether the pod has a terminal phase that must not be published until all containers have terminated (C2). */
export const isTerminalPhasePending = (view: PodView): boolean =>
  !view.hasEnded && (view.isCompleting === true || isTerminalPhase(intendedPhase(view)));

/**
 * Returns the phase to publish once the pod has terminated. The phase that preemption or eviction sets is only a
 * default. A terminal phase from the exits of the containers takes precedence (see the three-way merge in
 * `generateAPIPodStatus` of `pkg/kubelet/kubelet_pods.go`).
 */
function intendedPhase(view: PodView): PodPhase {
  if (view.refusal) return 'Failed';
  const phaseOverride = overridingPhase(view);
  if (phaseOverride !== undefined) return phaseOverride;
  const phase = phaseFromContainers(view);
  return isTerminalPhase(phase) ? phase : (view.termination?.phase ?? phase);
}

/**
 * Returns the phase that overrides the exit codes of the containers, if any. This is the case if the pod has exceeded
 * its activeDeadlineSeconds or already has a terminal phase at the API server (see the end of `generateAPIPodStatus`).
 */
function overridingPhase({ exceedsDeadline = false, termination }: PodView): PodPhase | undefined {
  if (exceedsDeadline) return 'Failed';
  const overridesExits = termination?.reason === 'DeadlineExceeded' || termination?.reason === 'EndedElsewhere';
  return overridesExits ? termination.phase : undefined;
}

/**
 * Returns `Failed` for a pod that has terminated, because the states of its containers may not result in a terminal
 * phase, e.g. if they never ran. Returns undefined for any other pod, and for a static pod that was stopped, because
 * its phase always results from its containers (C24).
 */
function forcedPhase(view: PodView): PodPhase | undefined {
  const retainsContainerPhase = view.termination !== undefined && isStaticPod(view.pod);
  return view.hasEnded && !retainsContainerPhase ? 'Failed' : undefined;
}

function phaseFromContainers(view: PodView): PodPhase {
  const viewsByName = new Map(view.containers.map((each) => [each.name, each]));
  const outcomes = containersOf(view.pod.spec).map((placedContainer) =>
    outcomeOf(view, placedContainer, viewsByName.get(placedContainer.container.name)),
  );
  const hasOutcome = (outcome: Outcome) => outcomes.includes(outcome);
  // An earlier agent may have left a pod whose spec, and thus whose containers, are unknown here.
  if (outcomes.length === 0) return 'Pending';
  if (hasOutcome('initFailed')) return 'Failed';
  if (hasOutcome('pending') || hasOutcome('unknown')) return 'Pending';
  if (hasOutcome('running')) return 'Running';
  if (hasOutcome('restarting')) return 'Running';
  return hasOutcome('failed') ? 'Failed' : 'Succeeded';
}

/** Effect of a container on the phase of its pod. `ignored` means that it has none. */
type Outcome = 'initFailed' | 'pending' | 'unknown' | 'running' | 'restarting' | 'failed' | 'succeeded' | 'ignored';

interface RoleContainer {
  readonly container: Container;
  readonly role: ContainerRole;
}

function outcomeOf(
  view: PodView,
  { container, role }: RoleContainer,
  containerView: ContainerView | undefined,
): Outcome {
  switch (role) {
    case 'init':
      return view.isInitialized ? 'ignored' : initOutcome(view, container, containerView);
    case 'sidecar':
      return sidecarOutcome(view, containerView);
    case 'regular':
      return regularOutcome(view, container, containerView);
    case 'ephemeral':
      return 'ignored';
  }
}

function initOutcome(view: PodView, container: Container, containerView: ContainerView | undefined): Outcome {
  if (!containerView || containerView.now.kind === 'running') return 'pending';
  const run = lastRunOf(containerView);
  if (run === undefined) return 'pending';
  return hasFailed('init', run) && !willRestart(view, container, containerView, run) ? 'initFailed' : 'ignored';
}

/**
 * Returns the outcome of a sidecar. Ignores a sidecar that has exited. A sidecar that has not started yet makes the pod
 * pending until a regular container has run.
 */
function sidecarOutcome(view: PodView, containerView: ContainerView | undefined): Outcome {
  if (!containerView) return 'unknown';
  if (containerView.now.kind === 'running') return containerView.started || isInitialized(view) ? 'running' : 'pending';
  return hasRun(containerView) ? 'ignored' : 'pending';
}

function regularOutcome(view: PodView, container: Container, containerView: ContainerView | undefined): Outcome {
  if (!containerView) return 'unknown';
  if (containerView.now.kind === 'running') return 'running';
  const run = lastRunOf(containerView);
  if (run === undefined) return 'pending';
  if (willRestart(view, container, containerView, run)) return 'restarting';
  // Treat the container as failed. Its pod is terminating, so the run that it waits for will never start, and its exit
  // status remains unknown (C13).
  if (view.termination && containerView.now.kind === 'waiting') return 'failed';
  return hasFailed('regular', run) ? 'failed' : 'succeeded';
}

function isInitialized(view: PodView): boolean {
  return view.isInitialized || view.containers.some(({ role, now }) => role === 'regular' && now.kind !== 'waiting');
}

/** Whether the container is running or is known to have run. */
function hasRun(container: ContainerView): boolean {
  return container.now.kind !== 'waiting' || container.lastRun !== undefined;
}

function lastRunOf({ now, lastRun }: ContainerView): TerminatedRun | undefined {
  return now.kind === 'terminated' ? now.run : lastRun;
}

/**
 * Whether the container will run again. No container restarts in a terminating pod, but the phase of a static pod
 * follows the restart policy even then (C24).
 */
function willRestart(
  { pod, termination }: PodView,
  container: Container,
  containerView: ContainerView,
  run: TerminatedRun,
): boolean {
  if (!termination || !isStaticPod(pod)) return containerView.willRestart;
  return shouldRestart({ pod, container, role: containerView.role, run, isPodTerminating: false });
}
