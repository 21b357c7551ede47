/** Why something is not as it should be, cause first and as short as a column of a table is. */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actorNode.ts';
import { endCause } from './explainText.ts';
import type { PodActors, SeenContainer } from './seenPod.ts';

/** `; retried in 17s`: when the wait ends, where it does. */
function then(words: string, { until }: ActorNode, what: string, now: number): string {
  return until === undefined ? words : `${words}; ${what} in ${humanDuration(Math.max(0, until - now))}`;
}

/** What it waits for, and for how much longer. */
function wait({ waitingFor, until }: ActorNode, now: number): string {
  if (waitingFor === undefined) return '';
  const left = until === undefined ? '' : ` (${humanDuration(Math.max(0, until - now))} left)`;
  return `waiting for ${waitingFor}${left}`;
}

/** The failure that it waits to get over; one that it has got over is no reason any more. */
function failed(actor: ActorNode, now: number): string | undefined {
  const { waitingFor, lastFailure } = actor;
  if (waitingFor === undefined || lastFailure === undefined) return undefined;
  const { reason, message } = lastFailure;
  return then(message === '' ? reason : rootCause(message), actor, 'retry', now);
}

/** About so long are the words that a column has room for. */
const ROOM = 72;

/** The end of a chain of errors, `what: why: why of that`: as many links as there is room for. */
function rootCause(message: string): string {
  const links = message.replace(/\s+/g, ' ').trim().split(': ');
  let cause = links.pop() ?? '';
  for (let link = links.pop(); link !== undefined && cause.length + link.length + 2 <= ROOM; link = links.pop()) {
    cause = `${link}: ${cause}`;
  }
  return cause;
}

function runningReason({ actor, role, status }: SeenContainer, now: number): string {
  if (role === 'init') return 'running; the other containers wait for it';
  const kind = status?.started ? 'readiness' : 'startup';
  const probe = actor.children.find(({ machine, name }) => machine === 'probe' && name === kind);
  if (status?.ready || !probe?.lastFailure) return wait(actor, now);
  const count = kind === 'startup' ? probe.facts.map((fact) => ` (${fact})`).join('') : '';
  return rootCause(probe.lastFailure.message) + count;
}

/** How a container stands, in a word as kubectl's column STATUS has them. */
export function containerWord({ status }: SeenContainer): string {
  const { state = {}, ready, started } = status ?? {};
  if (state.running) return ready || !started ? 'Running' : 'NotReady';
  return state.terminated?.reason ?? state.waiting?.reason ?? '';
}

/** Why a container is not ready; empty when it is, and when it has done its part. */
export function containerReason(container: SeenContainer, now: number): string {
  const { actor, status: { state = {} } = {}, willRestart } = container;
  const { lastRun } = actor;
  if (state.running) return runningReason(container, now);
  if (state.terminated?.exitCode === 0 && !willRestart) return '';
  const crashed = state.terminated || state.waiting?.reason === 'CrashLoopBackOff';
  if (lastRun && crashed) return then(endCause(lastRun), actor, 'restart', now);
  return waitReason(actor, now);
}

/** Why an actor waits: to get over a failure, or for what; empty when it does not. */
export const waitReason = (actor: ActorNode, now: number): string => failed(actor, now) ?? wait(actor, now);

/** What keeps the pod itself, apart from its containers and volumes. */
export function podReason({ tree }: PodActors, now: number): string {
  const { refused, facts, termination, tags } = tree;
  if (refused) return refused.cause ?? refused.message;
  if (facts[0] !== undefined) return facts[0];
  if (termination && !tags.includes('reclaimed'))
    return then(`terminating: ${termination.reason}`, tree, 'killed', now);
  return waitReason(tree, now);
}
