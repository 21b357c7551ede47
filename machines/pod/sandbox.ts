/** Decides how the pod's sandboxes in the runtime are used (C8). Sandboxes of other agents are taken into account. */

import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type AttemptIdentity, hasChangedId } from '../../kubernetes/lifecycle/changedId.ts';
import { foreignSandboxReason, type ObservedPod, type ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import { couldRestartAllContainers, shouldRestart } from '../../kubernetes/lifecycle/restart.ts';
import { sandboxDecision } from '../../kubernetes/lifecycle/sandboxDecision.ts';
import type { PortTypes } from '../shared/ports.ts';
import { retryFields } from '../shared/waiting/failure.ts';
import { podRestartingExit } from './containers/restartedAll.ts';
import { mayRun, type PodContext, runsOf } from './context.ts';
import { remainsAfterTermination } from './termination.ts';

/** Decides whether the pod retains its sandbox, needs a new one or needs none, based on the runtime's state (C8). */
export const decideSandbox = (context: PodContext) => {
  const { allocated: pod, observed } = context;
  const mustRestartAll = podRestartingExit(context) !== undefined;
  return sandboxDecision({
    pod,
    observed,
    hasContainersToStart: hasContainersToStart(pod, observed),
    restartsAll: mustRestartAll,
  });
};

/**
 * Whether no container of the pod runs or will run, in which case its admitted resources are about to be released (C9).
 */
export function isFinished(context: PodContext): boolean {
  if (decideSandbox(context) === 'none') return true;
  const { allocated: pod, observed } = context;
  if (observed.containers.length === 0 || observed.containers.some(mayRun)) return false;
  return !hasContainersToStart(pod, observed) && podRestartingExit(context) === undefined;
}

/** Whether the runtime has a sandbox that the pod can use and that contains containers unknown to this agent. */
export const showsUnknownContainers = (context: PodContext): boolean => {
  const { sandboxes, containers } = context.observed;
  const [newestSandbox] = sandboxes;
  if (newestSandbox === undefined || newestSandbox.attempt < context.attempt) return false;
  return decideSandbox(context) === 'keep' && containers.some(({ sandboxId }) => sandboxId === newestSandbox.id);
};

/**
 * Returns the reason why an inspected sandbox is unusable for the pod, or undefined if it is usable. Checks the
 * sandbox's readiness, network mode and addresses (C8).
 */
function sandboxFlaw({ allocated: pod }: PodContext, sandbox: ObservedSandbox): string | undefined {
  const observed = { sandboxes: [sandbox], containers: [] };
  const decision = sandboxDecision({ pod, observed, hasContainersToStart: true });
  return typeof decision === 'object' ? decision.reason : undefined;
}

export const isSandboxUsable = (context: PodContext, sandbox: ObservedSandbox): boolean =>
  sandboxFlaw(context, sandbox) === undefined;

/**
 * Returns the failure for an unusable new sandbox, which is treated as a failed attempt with the usual back-off (C8).
 */
export const unusableSandboxFailure = (
  context: PodContext,
  sandbox: PortTypes['runSandbox']['output'],
): Pick<PodContext, 'failure' | 'retryAt'> =>
  retryFields({
    reason: 'FailedCreatePodSandBox',
    message: `the new sandbox is unusable: ${sandboxFlaw(context, sandbox)}`,
    at: sandbox.madeAt,
  });

/**
 * Whether the pod never gets another sandbox (C8). This is the case if its containers run only once, none of them can
 * restart the whole pod (C5), and a container has already been created, even if it was never started.
 */
export const isLastSandbox = ({ allocated, observed, containerIds }: PodContext): boolean =>
  allocated.spec.restartPolicy === 'Never' &&
  !couldRestartAllContainers(allocated) &&
  (Object.keys(containerIds).length > 0 || observed.containers.length > 0);

/**
 * Whether any regular container has yet to run, or would run again after its last exit. A running container is
 * terminated together with its sandbox. Init containers and sidecars run only for the sake of regular containers.
 */
function hasContainersToStart(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.some((container) => {
    const [newestRun] = runsOf(observed, container.name);
    return (
      newestRun === undefined ||
      shouldRestart({ pod, container, role: 'regular', run: newestRun, isPodTerminating: false })
    );
  });
}

const readySandboxIds = ({ sandboxes }: ObservedPod): string[] =>
  sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [id] : []));

/**
 * Returns the new ID of a sandbox that the runtime no longer has under its known ID, or undefined if its ID has not
 * changed.
 */
const changedSandboxId = (knownSandbox: AttemptIdentity, { sandboxes }: ObservedPod): string | undefined =>
  sandboxes.some(({ id }) => id === knownSandbox.id)
    ? undefined
    : sandboxes.find((observedSandbox) => hasChangedId(knownSandbox, observedSandbox))?.id;

/** Updates the IDs of the pod's sandboxes if the runtime reports them under new IDs. */
export function withObservedSandboxIds(
  { sandbox, stale: staleSandboxes, stopped: stoppedSandboxes, observed, termination }: PodContext,
  newlyObserved: ObservedPod,
): Partial<Pick<PodContext, 'sandbox' | 'stale' | 'stopped'>> {
  const ids = new Map(
    [...observed.sandboxes, ...(sandbox ? [sandbox] : [])].flatMap((existingSandbox) => {
      const id = changedSandboxId(existingSandbox, newlyObserved);
      return id === undefined ? [] : [[existingSandbox.id, id]];
    }),
  );
  if (ids.size === 0) return {};
  const currentId = (id: string): string => ids.get(id) ?? id;
  // Record stopped sandboxes under their new IDs, so that they are removed under these IDs. Exclude ready sandboxes,
  // which cannot have been stopped under their former IDs.
  const stoppedIds = new Set(newlyObserved.sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [] : [id])));
  return {
    ...(sandbox ? { sandbox: { ...sandbox, id: currentId(sandbox.id) } } : {}),
    stale: staleSandboxes.map(currentId),
    ...(stoppedSandboxes && remainsAfterTermination(termination)
      ? { stopped: stoppedSandboxes.map((id) => (stoppedIds.has(currentId(id)) ? currentId(id) : id)) }
      : {}),
  };
}

/**
 * Whether the pod's sandbox is not ready, not listed or without an address, or whether another sandbox of the pod is
 * ready as well (C8).
 */
export function shouldVerifySandbox(previousContext: PodContext, observed: ObservedPod): boolean {
  const context = { ...previousContext, ...withObservedSandboxIds(previousContext, observed) };
  const { sandbox } = context;
  if (sandbox === undefined) return false;
  return readySandboxIds(observed).join() !== sandbox.id || observed.sandboxes.some((each) => isFlawed(context, each));
}

const isFlawed = (context: PodContext, observedSandbox: ObservedSandbox): boolean =>
  observedSandbox.id === context.sandbox?.id && !isSandboxUsable(context, observedSandbox);

/**
 * Whether an inspection shows that the pod can continue in its sandbox. A list of the runtime's sandboxes that does not
 * contain this sandbox is older than the inspection, and does not prove that another sandbox exists.
 */
export function isSandboxStillUsable(context: PodContext, sandbox: ObservedSandbox): boolean {
  const readyIds = readySandboxIds(context.observed);
  return isSandboxUsable(context, sandbox) && (readyIds.length <= 1 || !readyIds.includes(sandbox.id));
}

/** Returns the attempt number that follows the highest one among the pod's sandboxes (C8). */
export const nextSandboxAttempt = ({ attempt, sandbox, observed }: PodContext): number => {
  const knownAttempts = [...observed.sandboxes, ...(sandbox ? [sandbox] : [])].map((each) => each.attempt);
  return knownAttempts.length === 0 ? attempt : Math.max(...knownAttempts) + 1;
};

/** Returns every sandbox of the pod that may exist in the runtime. */
export const allSandboxIds = ({ sandbox, stale: staleSandboxes, observed }: PodContext): string[] => [
  ...new Set([...(sandbox ? [sandbox.id] : []), ...staleSandboxes, ...observed.sandboxes.map(({ id }) => id)]),
];

/** Whether the runtime has a sandbox that did not exist when the sandboxes of the terminating pod were stopped. */
export const hasLateSandbox = ({ stopped: stoppedSandboxes, observed }: PodContext): boolean =>
  stoppedSandboxes !== undefined && observed.sandboxes.some(({ id }) => !stoppedSandboxes.includes(id));

/** Whether another agent has a sandbox of the pod while this agent has no ready sandbox of the pod. */
export const isRunByOtherAgent = ({ observed }: PodContext): boolean =>
  (observed.foreignSandboxes ?? []).length > 0 && readySandboxIds(observed).length === 0;

/** Returns a failure that names the agent whose sandbox the pod waits for. */
export function otherAgentFailure({ observed: { foreignSandboxes = [] }, spawnedAt: at }: PodContext): Failure {
  const [owner = ''] = foreignSandboxes.flatMap((sandbox) => sandbox.owner ?? []);
  return { reason: 'FailedCreatePodSandBox', message: foreignSandboxReason(owner), at };
}
