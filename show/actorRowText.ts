/**
 * The text of a row in the tree of actors, which is any deviation from the normal state and one time. A healthy row
 * only shows its age.
 */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actorNode.ts';
import { categoryOf, isWell } from './category.ts';
import type { QueuePlace } from './explainText.ts';
import type { ActorRow, RowPod } from './treeRows.ts';

/** The cells of a row besides its name. */
export interface RowText {
  /** E.g. `CrashLoopBackOff`, `pull queue 1/2`, a state path or `1/2`. Empty if the actor is healthy. */
  readonly what: string;
  /**
   * For an unhealthy actor with a deadline, the time left, e.g. `in 48s`. Otherwise the time spent in the current
   * state.
   */
  readonly time: string;
}

/** Returns the text of a row at a time in milliseconds since the epoch. */
export function rowText(row: ActorRow, now: number): RowText {
  const { actor, told, of } = row;
  const time = timeOf(told, now);
  if (of === undefined || actor.machine !== 'pod') return { what: whatOf(actor, told, of), time };
  const place = of.placeOf() ?? (told === actor ? undefined : placeOf(told, of));
  return { what: place ? queued(place) : podWhat(row, of, now), time };
}

type PodOf = RowPod | undefined;

/** Returns the time shown for an actor. A deadline that has passed is shown as `now`. */
export function timeOf(actor: ActorNode, now: number): string {
  const { until, since } = actor;
  if (until === undefined || isWell(categoryOf(actor))) return humanDuration(Math.max(0, now - since));
  return deadlineText(until, now);
}

/** Formats the time left until a deadline, e.g. `in 48s`. */
export const deadlineText = (until: number, now: number): string =>
  until > now ? `in ${humanDuration(until - now)}` : 'now';

/** Formats a queue position, e.g. `pull queue 1/2`. */
const queued = ({ limiter, place, length }: QueuePlace): string => `${limiter} queue ${place}/${length}`;

const placeOf = ({ machine, name }: ActorNode, of: PodOf): QueuePlace | undefined =>
  machine === 'container' ? of?.placeOf(name) : undefined;

/**
 * Returns the text of a pod. An expanded pod leaves the reasons to the rows of its containers. A collapsed pod shows
 * kubectl's STATUS if it is informative.
 */
function podWhat({ actor, told, isOpen }: ActorRow, of: RowPod, now: number): string {
  const { status, ready } = of.columns(now);
  const [count, all] = ready.split('/');
  const category = categoryOf(actor);
  if (category === 'steady' && (isOpen || (status === 'Running' && told === actor)) && count !== all) return ready;
  if (status !== 'Running' && status !== 'Completed' && !(isOpen && isWell(category))) return status;
  return whatOf(actor, told, of);
}

/**
 * Describes the problem of an actor. A problem of a descendant is prefixed with the descendant's name, unless that is
 * an image, whose state belongs to its parent.
 */
function whatOf(actor: ActorNode, told: ActorNode, of: PodOf): string {
  const what = ownWhat(told, of);
  if (told === actor || told.machine === 'image' || what === '') return what;
  return `${told.name}: ${what}`;
}

function ownWhat(actor: ActorNode, of: PodOf): string {
  const place = placeOf(actor, of);
  if (place) return queued(place);
  const word = of?.wordOf(actor.path);
  if (word) return word;
  const category = categoryOf(actor);
  if (isWell(category)) return '';
  return (category === 'retrying' || category === 'failed' ? actor.lastFailure?.reason : undefined) ?? actor.state;
}
