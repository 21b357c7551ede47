import { containersOf } from '../api/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { PodPhase } from '../api/schema/status.ts';
import { isStaticPod } from '../api/staticPod.ts';
import { hasFailed, shouldRestart } from '../lifecycle/restart.ts';
import type { ContainerRole, ContainerView, PodView, TerminatedRun } from './view.ts';

/** The message of a pod that was active for longer than its activeDeadlineSeconds, in its status and in its event. */
export const DEADLINE_EXCEEDED = 'Pod was active on the node longer than the specified deadline';

/** Whether a pod of this phase will never run again. */
export function isTerminalPhase(phase: PodPhase | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/**
 * The phase of a pod (C1). A terminal phase stays for ever, and none is told while a container may still run (C2):
 * until then it is the `previous` phase, the one that was told last.
 */
export function podPhase(view: PodView, previous?: PodPhase): PodPhase {
  if (isTerminalPhase(previous)) return previous;
  const phase = intendedPhase(view);
  if (!isTerminalPhase(phase)) return forcedPhase(view) ?? phase;
  if (view.ended) return phase;
  const hasBegun = view.containers.some((container) => container.role === 'regular' && hasRun(container));
  return previous ?? (hasBegun ? 'Running' : 'Pending');
}

/** The phase that the conditions of a pod follow. They show a terminal phase before `status.phase` does (C2, C15). */
export function comingPhase(view: PodView, phase: PodPhase): PodPhase {
  const coming = fixedPhase(view) ?? phaseOfContainers(view);
  if (isTerminalPhase(coming)) return coming;
  // Of a pod that never ran they tell that, not that it has failed for it.
  return forcedPhase(view) === phase && view.termination?.phase === undefined && !view.refused ? coming : phase;
}

/** Whether a terminal phase is due that is not published before the pod has ended (C2). */
export const isPhaseDue = (view: PodView): boolean =>
  !view.ended && (view.completes === true || isTerminalPhase(intendedPhase(view)));

/**
 * The phase to which the pod comes. The phase that preemption or eviction sets is only a default, because the phase that
 * the exits of the containers yield wins if it is terminal (the three-way merge in `generateAPIPodStatus` of
 * `pkg/kubelet/kubelet_pods.go`).
 */
function intendedPhase(view: PodView): PodPhase {
  if (view.refused) return 'Failed';
  const fixed = fixedPhase(view);
  if (fixed !== undefined) return fixed;
  const phase = phaseOfContainers(view);
  return isTerminalPhase(phase) ? phase : (view.termination?.phase ?? phase);
}

/**
 * The phase that holds whatever the containers exit with. An exceeded activeDeadlineSeconds overrides their exits, as does
 * a terminal phase at the API server (the end of `generateAPIPodStatus`).
 */
function fixedPhase({ exceedsDeadline = false, termination }: PodView): PodPhase | undefined {
  if (exceedsDeadline) return 'Failed';
  const overridesExits = termination?.reason === 'DeadlineExceeded' || termination?.reason === 'EndedElsewhere';
  return overridesExits ? termination.phase : undefined;
}

/**
 * A pod that has ended has a terminal phase, whatever its containers say, as one that never ran says nothing; a static
 * pod that was ended keeps what they say (C24).
 */
function forcedPhase(view: PodView): PodPhase | undefined {
  const keeps = view.termination !== undefined && isStaticPod(view.pod);
  return view.ended && !keeps ? 'Failed' : undefined;
}

function phaseOfContainers(view: PodView): PodPhase {
  const shown = new Map(view.containers.map((each) => [each.name, each]));
  const seen = containersOf(view.pod.spec).map((part) => observe(view, part, shown.get(part.container.name)));
  const any = (outcome: Outcome) => seen.includes(outcome);
  // Of one that an earlier agent has left nothing may be known but that it is there.
  if (seen.length === 0) return 'Pending';
  if (any('initFailed')) return 'Failed';
  if (any('pending') || any('unknown')) return 'Pending';
  if (any('running')) return 'Running';
  if (any('restarting')) return 'Running';
  return any('failed') ? 'Failed' : 'Succeeded';
}

/** What one container contributes to the phase of its pod; `ignored` contributes nothing. */
type Outcome = 'initFailed' | 'pending' | 'unknown' | 'running' | 'restarting' | 'failed' | 'succeeded' | 'ignored';

interface Part {
  readonly container: Container;
  readonly role: ContainerRole;
}

function observe(view: PodView, { container, role }: Part, seen: ContainerView | undefined): Outcome {
  switch (role) {
    case 'init':
      return view.initialized ? 'ignored' : observeInit(view, container, seen);
    case 'sidecar':
      return observeSidecar(view, seen);
    case 'regular':
      return observeRegular(view, container, seen);
    case 'ephemeral':
      return 'ignored';
  }
}

function observeInit(view: PodView, container: Container, seen: ContainerView | undefined): Outcome {
  if (!seen || seen.now.kind === 'running') return 'pending';
  const run = runOf(seen);
  if (run === undefined) return 'pending';
  return hasFailed('init', run) && !restarts(view, container, seen, run) ? 'initFailed' : 'ignored';
}

/** A sidecar that exited does not count; one that has yet to start holds the pod back until a regular one has run. */
function observeSidecar(view: PodView, seen: ContainerView | undefined): Outcome {
  if (!seen) return 'unknown';
  if (seen.now.kind === 'running') return seen.started || isInitialized(view) ? 'running' : 'pending';
  return hasRun(seen) ? 'ignored' : 'pending';
}

function observeRegular(view: PodView, container: Container, seen: ContainerView | undefined): Outcome {
  if (!seen) return 'unknown';
  if (seen.now.kind === 'running') return 'running';
  const run = runOf(seen);
  if (run === undefined) return 'pending';
  if (restarts(view, container, seen, run)) return 'restarting';
  // It waits for a run that never comes, so that its own end is unknown (C13).
  if (view.termination && seen.now.kind === 'waiting') return 'failed';
  return hasFailed('regular', run) ? 'failed' : 'succeeded';
}

function isInitialized(view: PodView): boolean {
  return view.initialized || view.containers.some(({ role, now }) => role === 'regular' && now.kind !== 'waiting');
}

/** Whether it runs or has ever run, as far as is known. */
function hasRun(container: ContainerView): boolean {
  return container.now.kind !== 'waiting' || container.last !== undefined;
}

function runOf({ now, last }: ContainerView): TerminatedRun | undefined {
  return now.kind === 'terminated' ? now.run : last;
}

/** Nothing restarts in a pod that ends; but a static one gets no other phase for it, so its policy counts (C24). */
function restarts(
  { pod, termination }: PodView,
  container: Container,
  seen: ContainerView,
  run: TerminatedRun,
): boolean {
  if (!termination || !isStaticPod(pod)) return seen.willRestart;
  return shouldRestart({ pod, container, role: seen.role, run, podEnding: false });
}
