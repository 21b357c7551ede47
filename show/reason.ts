/**
 * Formats the reason why an actor is not healthy. The cause comes first, and the text is short enough for a table
 * column.
 */
import { humanDuration } from '../base/time/duration.ts';
import type { ActorNode } from './actors/actorNode.ts';
import type { ContainerWithActor, PodActors } from './actors/podActors.ts';
import { terminationCause } from './explain/explainText.ts';

/** Appends the time left until the actor's deadline, e.g. `; retry in 17s`. Appends nothing if there is no deadline. */
function withDeadline(text: string, { until }: ActorNode, action: string, now: number): string {
  return until === undefined ? text : `${text}; ${action} in ${humanDuration(Math.max(0, until - now))}`;
}

/** Describes what the actor is waiting for and how much time is left. */
function waitText({ waitingFor, until }: ActorNode, now: number): string {
  if (waitingFor === undefined) return '';
  const timeLeftText = until === undefined ? '' : ` (${humanDuration(Math.max(0, until - now))} left)`;
  return `waiting for ${waitingFor}${timeLeftText}`;
}

/**
 * Describes the failure that the actor is recovering from. Undefined if the actor is not waiting or nothing has failed.
 */
function recoveryText(actor: ActorNode, now: number): string | undefined {
  const { waitingFor, lastFailure } = actor;
  if (waitingFor === undefined || lastFailure === undefined) return undefined;
  const { reason, message } = lastFailure;
  return withDeadline(message === '' ? reason : rootCause(message), actor, 'retry', now);
}

/** Approximate maximum length of a cause that fits into the table column. */
const MAX_CAUSE_LENGTH = 72;

/** Returns the end of an error chain such as `step failed: cause: root cause`, with as many links as fit. */
function rootCause(message: string): string {
  const causes = message.replace(/\s+/g, ' ').trim().split(': ');
  let cause = causes.pop() ?? '';
  for (
    let outerCause = causes.pop();
    outerCause !== undefined && cause.length + outerCause.length + 2 <= MAX_CAUSE_LENGTH;
    outerCause = causes.pop()
  ) {
    cause = `${outerCause}: ${cause}`;
  }
  return cause;
}

function runningReason({ actor, role, status }: ContainerWithActor, now: number): string {
  if (role === 'init') return 'running; the other containers wait for it';
  const kind = status?.started ? 'readiness' : 'startup';
  const probe = actor.children.find(({ machine, name }) => machine === 'probe' && name === kind);
  if (status?.ready || !probe?.lastFailure) return waitText(actor, now);
  const failureCountText = kind === 'startup' ? probe.facts.map((fact) => ` (${fact})`).join('') : '';
  return rootCause(probe.lastFailure.message) + failureCountText;
}

/** Returns the state of a container as kubectl's STATUS column shows it. */
export function containerStatusWord({ status }: ContainerWithActor): string {
  const { state = {}, ready, started } = status ?? {};
  if (state.running) return ready || !started ? 'Running' : 'NotReady';
  return state.terminated?.reason ?? state.waiting?.reason ?? '';
}

/** Returns the reason why a container is not ready. Empty if the container is ready or has completed. */
export function containerReason(container: ContainerWithActor, now: number): string {
  const { actor, status: { state = {} } = {}, willRestart } = container;
  const { lastRun } = actor;
  if (state.running) return runningReason(container, now);
  if (state.terminated?.exitCode === 0 && !willRestart) return '';
  const hasCrashed = state.terminated || state.waiting?.reason === 'CrashLoopBackOff';
  if (lastRun && hasCrashed) return withDeadline(terminationCause(lastRun), actor, 'restart', now);
  return waitReason(actor, now);
}

/**
 * Describes the failure that an actor is recovering from or the condition that it is waiting for. Empty if it is not
 * waiting.
 */
export const waitReason = (actor: ActorNode, now: number): string => recoveryText(actor, now) ?? waitText(actor, now);

/** Returns the reason why the pod itself is waiting, regardless of its containers and volumes. */
export function podReason({ tree }: PodActors, now: number): string {
  const { refused, facts, termination, tags } = tree;
  if (refused) return refused.cause ?? refused.message;
  if (facts[0] !== undefined) return facts[0];
  if (termination && !tags.includes('reclaimed'))
    return withDeadline(`terminating: ${termination.reason}`, tree, 'killed', now);
  return waitReason(tree, now);
}
