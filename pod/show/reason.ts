/** Why something is not as it should be, cause first and as short as a column of a table is. */
import { humanDuration } from '../api/duration.ts';
import { AWAITS_ROOM, endCause } from './explainText.ts';
import type { ActorView, ContainerView, PodView, VolumeView } from './view.ts';

/** `; retried in 17s`: when the wait ends, where it does. */
function then(words: string, { until }: ActorView, what: string, now: number): string {
  return until === undefined ? words : `${words}; ${what} in ${humanDuration(Math.max(0, until - now))}`;
}

/** What it waits for, and for how much longer. */
function wait(view: ActorView, now: number): string {
  const { waitingFor, until } = view;
  if (waitingFor === undefined) return '';
  const left = until === undefined ? '' : ` (${humanDuration(Math.max(0, until - now))} left)`;
  return `waiting for ${waitingFor}${left}`;
}

/** The failure that it waits to get over; one that it has got over is no reason any more. */
function failed(view: ActorView, now: number): string | undefined {
  const { waitingFor, lastFailure } = view;
  if (waitingFor === undefined || lastFailure === undefined) return undefined;
  const { reason, message } = lastFailure;
  return then(message === '' ? reason : rootCause(message), view, 'retry', now);
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

function runningReason(view: ContainerView, now: number): string {
  const { started, ready, role, probes = [] } = view;
  if (role === 'init') return 'running; the other containers wait for it';
  if (ready) return wait(view, now);
  const probe = probes.find(({ kind }) => kind === (started ? 'readiness' : 'startup'));
  if (!probe?.lastFailure) return wait(view, now);
  const { failures } = probe;
  const count = !started && failures ? ` (${failures.count} of ${failures.limit} failures)` : '';
  return rootCause(probe.lastFailure.message) + count;
}

/** Why a container is not ready; empty when it is, and when it has done its part. */
export function containerReason(view: ContainerView, now: number): string {
  const { now: state, last, willRestart } = view;
  if (state.kind === 'running') return runningReason(view, now);
  if (state.kind === 'terminated' && state.run.exitCode === 0 && !willRestart) return '';
  const run = state.kind === 'terminated' ? state.run : last;
  const crashed = state.kind === 'terminated' || state.reason === 'CrashLoopBackOff';
  if (run && crashed) return then(endCause(run), view, 'restart', now);
  return failed(view, now) ?? wait(view, now);
}

/** Why a volume is not mounted; empty when it is. */
export const volumeReason = (view: VolumeView, now: number): string => failed(view, now) ?? wait(view, now);

/** What keeps the pod itself, apart from its containers and volumes. */
export function podReason(view: PodView, now: number): string {
  if (view.refused) return view.refused.cause ?? view.refused.message;
  if (view.unadmitted) return `update not admitted: ${view.unadmitted.cause ?? view.unadmitted.message}`;
  if (view.awaitsRoom) return AWAITS_ROOM;
  if (view.termination && !view.reclaimed) return then(`terminating: ${view.termination.reason}`, view, 'killed', now);
  return failed(view, now) ?? wait(view, now);
}
