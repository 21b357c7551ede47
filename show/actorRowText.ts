/** What a row of the tree of actors says: what differs from well, and one time. Of a row that is well, nothing but its age. */
import { humanDuration } from '../base/duration.ts';
import type { ActorNode } from './actorNode.ts';
import { categoryOf, isWell } from './category.ts';
import type { QueuePlace } from './explainText.ts';
import type { ActorRow, RowPod } from './treeRows.ts';

/** The words of a row beside its name. */
export interface RowText {
  /** `CrashLoopBackOff`, `pull queue 1/2`, a state's path, `1/2`; empty when it is well. */
  readonly what: string;
  /** `in 48s` until the deadline of what is not well, else for how long it has been in its state. */
  readonly time: string;
}

/** The text of a row at a moment, in milliseconds since the epoch. */
export function rowText(row: ActorRow, now: number): RowText {
  const { actor, told, of } = row;
  const time = timeOf(told, now);
  if (of === undefined || actor.machine !== 'pod') return { what: whatOf(actor, told, of), time };
  const place = of.placeOf() ?? (told === actor ? undefined : placeOf(told, of));
  return { what: place ? queued(place) : podWhat(row, of, now), time };
}

type PodOf = RowPod | undefined;

/** The one time of an actor, as of a row. Of a deadline that has passed nothing is known but that it has. */
export function timeOf(actor: ActorNode, now: number): string {
  const { until, since } = actor;
  if (until === undefined || isWell(categoryOf(actor))) return humanDuration(Math.max(0, now - since));
  return deadlineText(until, now);
}

/** `in 48s` */
export const deadlineText = (until: number, now: number): string =>
  until > now ? `in ${humanDuration(until - now)}` : 'now';

/** `pull queue 1/2` */
const queued = ({ limiter, place, length }: QueuePlace): string => `${limiter} queue ${place}/${length}`;

const placeOf = ({ machine, name }: ActorNode, of: PodOf): QueuePlace | undefined =>
  machine === 'container' ? of?.placeOf(name) : undefined;

/** Of an open pod its containers say themselves what keeps them; else it is told in the words of kubectl, where they say something. */
function podWhat({ actor, told, isOpen }: ActorRow, of: RowPod, now: number): string {
  const { status, ready } = of.columns(now);
  const [count, all] = ready.split('/');
  const category = categoryOf(actor);
  if (category === 'steady' && (isOpen || (status === 'Running' && told === actor)) && count !== all) return ready;
  if (status !== 'Running' && status !== 'Completed' && !(isOpen && isWell(category))) return status;
  return whatOf(actor, told, of);
}

/** What is not well with an actor or, by its name, with the worst one below it. An image needs none: it is its parent's. */
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
