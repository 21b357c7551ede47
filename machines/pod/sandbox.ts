/** What a pod makes of its sandboxes at the runtime (C8), and of those that another agent has of it. */

import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type AttemptIdentity, hasChangedId } from '../../kubernetes/lifecycle/changedId.ts';
import { foreignSandboxReason, type ObservedPod, type ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import { couldRestartAll, shouldRestart } from '../../kubernetes/lifecycle/restart.ts';
import { sandboxDecision } from '../../kubernetes/lifecycle/sandboxDecision.ts';
import { retryAfter } from '../shared/failure.ts';
import type { PortTypes } from '../shared/ports.ts';
import { mayRun, type PodContext, runsOf } from './context.ts';
import { exitThatRestartsAll } from './restartedAll.ts';
import { staysAfterwards } from './termination.ts';

/** What to do about the sandbox, from what the runtime shows when the actor is born (C8). */
export const decideSandbox = (context: PodContext) => {
  const { allocated: pod, observed } = context;
  const restartsAll = exitThatRestartsAll(context) !== undefined;
  return sandboxDecision({ pod, observed, hasContainersToStart: hasSomethingToStart(pod, observed), restartsAll });
};

/** Whether nothing of the pod runs, or is to run: what it was admitted for is about to be released (C9). */
export function isOver(context: PodContext): boolean {
  if (decideSandbox(context) === 'none') return true;
  const { allocated: pod, observed } = context;
  if (observed.containers.length === 0 || observed.containers.some(mayRun)) return false;
  return !hasSomethingToStart(pod, observed) && exitThatRestartsAll(context) === undefined;
}

/**
 * The runtime shows a sandbox that the pod can keep, with containers in it, and none that it had before: this agent has not
 * made them.
 */
export const showsUnknownContainers = (context: PodContext): boolean => {
  const { sandboxes, containers } = context.observed;
  const [newest] = sandboxes;
  if (newest === undefined || newest.attempt < context.attempt) return false;
  return decideSandbox(context) === 'keep' && containers.some(({ sandboxId }) => sandboxId === newest.id);
};

/** Why the pod can not live in a sandbox of which the runtime has told all: its readiness, network mode, addresses (C8). */
function flawOf({ allocated: pod }: PodContext, sandbox: ObservedSandbox): string | undefined {
  const observed = { sandboxes: [sandbox], containers: [] };
  const decision = sandboxDecision({ pod, observed, hasContainersToStart: true });
  return typeof decision === 'object' ? decision.reason : undefined;
}

export const fits = (context: PodContext, sandbox: ObservedSandbox): boolean => flawOf(context, sandbox) === undefined;

/** What came of a sandbox that was made in vain: it counts as a failed try, and the next one waits like after any (C8). */
export const unfit = (
  context: PodContext,
  sandbox: PortTypes['runSandbox']['output'],
): Pick<PodContext, 'failure' | 'retryAt'> =>
  retryAfter({
    reason: 'FailedCreatePodSandBox',
    message: `the new sandbox is unusable: ${flawOf(context, sandbox)}`,
    at: sandbox.madeAt,
  });

/**
 * Whether the pod gets no other sandbox (C8): its containers run once, none of them restarts all (C5), and the runtime or
 * their actors have told of any, be it of one that was made and has yet to start.
 */
export const isSandboxLast = ({ allocated, observed, containerIds }: PodContext): boolean =>
  allocated.spec.restartPolicy === 'Never' &&
  !couldRestartAll(allocated) &&
  (Object.keys(containerIds).length > 0 || observed.containers.length > 0);

/**
 * Whether any regular container has yet to run, or would run again after its last end. A running one dies with its sandbox.
 * Init containers and sidecars run for the sake of these alone.
 */
function hasSomethingToStart(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.some((container) => {
    const [newest] = runsOf(observed, container.name);
    return newest === undefined || shouldRestart({ pod, container, role: 'regular', run: newest, podEnding: false });
  });
}

const readySandboxes = ({ sandboxes }: ObservedPod): string[] =>
  sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [id] : []));

/** The id under which the runtime shows a sandbox that it does not show under the one that is known. */
const otherIdOf = (known: AttemptIdentity, { sandboxes }: ObservedPod): string | undefined =>
  sandboxes.some(({ id }) => id === known.id) ? undefined : sandboxes.find((shown) => hasChangedId(known, shown))?.id;

/** What is known of the pod's sandboxes again, where the runtime shows them under other ids. */
export function knownAgain(
  { sandbox, stale, stopped, observed, termination }: PodContext,
  shown: ObservedPod,
): Partial<Pick<PodContext, 'sandbox' | 'stale' | 'stopped'>> {
  const ids = new Map(
    [...observed.sandboxes, ...(sandbox ? [sandbox] : [])].flatMap((known) => {
      const id = otherIdOf(known, shown);
      return id === undefined ? [] : [[known.id, id]];
    }),
  );
  if (ids.size === 0) return {};
  const now = (id: string): string => ids.get(id) ?? id;
  // One that is ready was not stopped under the id that it had; and what is to be removed has to be under its new one.
  const hasStopped = new Set(shown.sandboxes.flatMap(({ id, state }) => (state === 'ready' ? [] : [id])));
  return {
    ...(sandbox ? { sandbox: { ...sandbox, id: now(sandbox.id) } } : {}),
    stale: stale.map(now),
    ...(stopped && staysAfterwards(termination)
      ? { stopped: stopped.map((id) => (hasStopped.has(now(id)) ? now(id) : id)) }
      : {}),
  };
}

/** The sandbox that the pod had is not ready any more, not even listed, without an address, or another is ready beside it (C8). */
export function doubtsSandbox(before: PodContext, observed: ObservedPod): boolean {
  const context = { ...before, ...knownAgain(before, observed) };
  const { sandbox } = context;
  if (sandbox === undefined) return false;
  return readySandboxes(observed).join() !== sandbox.id || observed.sandboxes.some((each) => isFlawed(context, each));
}

const isFlawed = (context: PodContext, shown: ObservedSandbox): boolean =>
  shown.id === context.sandbox?.id && !fits(context, shown);

/** By the runtime's own word the pod can go on in its sandbox. A list without it, being older, tells nothing of another. */
export function isStillSound(context: PodContext, sandbox: ObservedSandbox): boolean {
  const ready = readySandboxes(context.observed);
  return fits(context, sandbox) && (ready.length <= 1 || !ready.includes(sandbox.id));
}

/** The number of the sandbox after the latest one (C8). */
export const nextSandbox = ({ attempt, sandbox, observed }: PodContext): number => {
  const known = [...observed.sandboxes, ...(sandbox ? [sandbox] : [])].map((each) => each.attempt);
  return known.length === 0 ? attempt : Math.max(...known) + 1;
};

/** Every sandbox of the pod that may exist at the runtime. */
export const allSandboxes = ({ sandbox, stale, observed }: PodContext): string[] => [
  ...new Set([...(sandbox ? [sandbox.id] : []), ...stale, ...observed.sandboxes.map(({ id }) => id)]),
];

/** The runtime shows a sandbox that was not there when those of the ending pod were stopped. */
export const hasLateSandbox = ({ stopped, observed }: PodContext): boolean =>
  stopped !== undefined && observed.sandboxes.some(({ id }) => !stopped.includes(id));

/** Another agent has a sandbox of the pod, and this one has none that lives. */
export const isRunByOthers = ({ observed }: PodContext): boolean =>
  (observed.others ?? []).length > 0 && readySandboxes(observed).length === 0;

/** Whose sandbox it is that the pod waits for. */
export function othersFailure({ observed: { others = [] }, bornAt: at }: PodContext): Failure {
  const [owner = ''] = others.flatMap((sandbox) => sandbox.owner ?? []);
  return { reason: 'FailedCreatePodSandBox', message: foreignSandboxReason(owner), at };
}
