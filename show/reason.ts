/**
 * Formats the reason why an actor is not healthy. The cause comes first, and the text is short enough for a table
 * column.
 */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actors/actorNode.ts';
import type { ContainerWithActor, PodActors } from './actors/podActors.ts';
import { endCause } from './explain/explainText.ts';

/** Appends the time left until the deadline, e.g. `; retry in 17s`. Appends nothing if there is no deadline. */
function withDeadline(text: string, { until }: ActorNode, action: string, now: number): string {
  return until === undefined ? text : `${text}; ${action} in ${humanDuration(Math.max(0, until - now))}`;
}

/** Describes what the actor is waiting for and the time left. */
function waitText({ waitingFor, until }: ActorNode, now: number): string {
  if (waitingFor === undefined) return '';
  const timeLeft = until === undefined ? '' : ` (${humanDuration(Math.max(0, until - now))} left)`;
  return `waiting for ${waitingFor}${timeLeft}`;
}

/**
 * Describes the failure that the actor is recovering from. A failure that it has already recovered from is not a
 * reason.
 */
function recoveryText(actor: ActorNode, now: number): string | undefined {
  const { waitingFor, lastFailure } = actor;
  if (waitingFor === undefined || lastFailure === undefined) return undefined;
  const { reason, message } = lastFailure;
  return withDeadline(message === '' ? reason : rootCause(message), actor, 'retry', now);
}

/** Approximate number of characters that fit into the column. */
const MAX_CAUSE_LENGTH = 72;

/** Returns the end of a chain of errors, such as `step failed: cause: root cause`, with as many links as fit. */
function rootCause(message: string): string {
  const links = message.replace(/\s+/g, ' ').trim().split(': ');
  let cause = links.pop() ?? '';
  for (
    let link = links.pop();
    link !== undefined && cause.length + link.length + 2 <= MAX_CAUSE_LENGTH;
    link = links.pop()
  ) {
    cause = `${link}: ${cause}`;
  }
  return cause;
}

function runningReason({ actor, role, status }: ContainerWithActor, now: number): string {
  if (role === 'init') return 'running; the other containers wait for it';
  const kind = status?.started ? 'readiness' : 'startup';
  const probe = actor.children.find(({ machine, name }) => machine === 'probe' && name === kind);
  if (status?.ready || !probe?.lastFailure) return waitText(actor, now);
  const count = kind === 'startup' ? probe.facts.map((fact) => ` (${fact})`).join('') : '';
  return rootCause(probe.lastFailure.message) + count;
}

/** Returns the state of a container in the words of kubectl's column STATUS. */
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
  const crashed = state.terminated || state.waiting?.reason === 'CrashLoopBackOff';
  if (lastRun && crashed) return withDeadline(endCause(lastRun), actor, 'restart', now);
  return waitReason(actor, now);
}

/** Returns the failure or the wait of an actor. Empty if it is not waiting. */
export const waitReason = (actor: ActorNode, now: number): string => recoveryText(actor, now) ?? waitText(actor, now);

/** Returns the reason why the pod itself is waiting, not counting its containers and volumes. */
export function podReason({ tree }: PodActors, now: number): string {
  const { refused, facts, termination, tags } = tree;
  if (refused) return refused.cause ?? refused.message;
  if (facts[0] !== undefined) return facts[0];
  if (termination && !tags.includes('reclaimed'))
    return withDeadline(`terminating: ${termination.reason}`, tree, 'killed', now);
  return waitReason(tree, now);
}
