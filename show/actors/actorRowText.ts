/**
 * Formats a row of the actor tree. The row shows any deviation from the normal state, and one duration. The row of a
 * healthy actor shows only its age.
 */
import { humanDuration } from '../../base/time/duration.ts';
import { categoryOf, isHealthy } from '../category.ts';
import type { QueuePosition } from '../explain/explainText.ts';
import type { ActorNode } from './actorNode.ts';
import type { ActorRow, RowPod } from './treeRows.ts';

/** The cells of a row, except the name. */
export interface RowCells {
  /** Text such as `CrashLoopBackOff`, `pull queue 1/2`, a state path or `1/2`. Empty if the actor is healthy. */
  readonly detail: string;
  /**
   * For an unhealthy actor with a deadline, the time left, e.g. `in 48s`. Otherwise the time spent in the current
   * state.
   */
  readonly time: string;
}

/** Formats the cells of a row, except the name. `now` is in milliseconds since the epoch. */
export function rowCells(row: ActorRow, now: number): RowCells {
  const { actor, subject, pod } = row;
  const rowTimeText = rowTime(subject, now);
  if (pod === undefined || actor.machine !== 'pod')
    return { detail: problemText(actor, subject, pod), time: rowTimeText };
  const position = pod.queuePositionOf() ?? (subject === actor ? undefined : queuePositionOf(subject, pod));
  return { detail: position ? queuePositionText(position) : podDetail(row, pod, now), time: rowTimeText };
}

type OptionalPod = RowPod | undefined;

/** Returns the time shown for an actor. A deadline that has passed is shown as `now`. */
export function rowTime(actor: ActorNode, now: number): string {
  const { until, since } = actor;
  if (until === undefined || isHealthy(categoryOf(actor))) return humanDuration(Math.max(0, now - since));
  return timeLeft(until, now);
}

/** Formats the time left until a deadline, e.g. `in 48s`. */
export const timeLeft = (until: number, now: number): string =>
  until > now ? `in ${humanDuration(until - now)}` : 'now';

/** Formats a queue position, e.g. `pull queue 1/2`. */
const queuePositionText = ({ limiter, place, length }: QueuePosition): string => `${limiter} queue ${place}/${length}`;

const queuePositionOf = ({ machine, name }: ActorNode, pod: OptionalPod): QueuePosition | undefined =>
  machine === 'container' ? pod?.queuePositionOf(name) : undefined;

/**
 * Returns the detail of a pod's row. This is kubectl's STATUS unless that is `Running` or `Completed`. The row of an
 * expanded healthy pod omits the STATUS, because the rows of its containers show the reasons. Without a STATUS, the
 * detail is the ready count if some containers of a steady pod are not ready, or else the most severe problem.
 */
function podDetail({ actor, subject, isExpanded }: ActorRow, pod: RowPod, now: number): string {
  const { status, ready } = pod.statusColumns(now);
  const [count, total] = ready.split('/');
  const category = categoryOf(actor);
  if (category === 'steady' && (isExpanded || (status === 'Running' && subject === actor)) && count !== total)
    return ready;
  if (status !== 'Running' && status !== 'Completed' && !(isExpanded && isHealthy(category))) return status;
  return problemText(actor, subject, pod);
}

/**
 * Describes the problem of an actor. A problem of a descendant is prefixed with the descendant's name, unless the
 * descendant is an image, whose state counts as that of its parent.
 */
function problemText(actor: ActorNode, subject: ActorNode, pod: OptionalPod): string {
  const problem = ownProblem(subject, pod);
  if (subject === actor || subject.machine === 'image' || problem === '') return problem;
  return `${subject.name}: ${problem}`;
}

function ownProblem(actor: ActorNode, pod: OptionalPod): string {
  const position = queuePositionOf(actor, pod);
  if (position) return queuePositionText(position);
  const reason = pod?.containerReasonAt(actor.path);
  if (reason) return reason;
  const category = categoryOf(actor);
  if (isHealthy(category)) return '';
  return (category === 'retrying' || category === 'failed' ? actor.lastFailure?.reason : undefined) ?? actor.state;
}
