/** What every actor shows of itself: its state, since when, what it waits for and until when. */
import type { AnyActorRef } from 'xstate';
import type { Failure } from '../../pod/failure.ts';
import type { ActorView } from '../../pod/show/view.ts';
import { type StateMeta, statePath } from './stateMeta.ts';

/** The part of a machine's snapshot that a view reads. */
interface ShownSnapshot {
  readonly value: unknown;
  readonly tags: ReadonlySet<string>;
  getMeta(): unknown;
}

/** The moments that `StateMeta.until` can name, in milliseconds since the epoch. */
type Moments = Readonly<Partial<Record<NonNullable<StateMeta['until']>, number | undefined>>>;

export function actorView(actor: {
  readonly path: string;
  readonly since: number;
  readonly snapshot: ShownSnapshot;
  readonly moments: Moments;
  readonly failure: Failure | undefined;
}): ActorView {
  const { path, since, snapshot, moments, failure } = actor;
  const meta = innermostMeta(snapshot);
  const until = (meta?.until && moments[meta.until]) ?? (meta?.afterMs && since + meta.afterMs);
  return {
    path,
    state: statePath(snapshot.value),
    tags: [...snapshot.tags],
    since,
    ...(meta?.waitsFor ? { waitingFor: meta.waitsFor } : {}),
    ...(until ? { until } : {}),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

/** The longest id is that of the innermost state. */
function innermostMeta(snapshot: ShownSnapshot): StateMeta | undefined {
  // Every machine here declares StateMeta as its meta type.
  const all = Object.entries(snapshot.getMeta() as Record<string, StateMeta | undefined>);
  return all.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

/** The children of an actor whose ids begin so. */
export function childrenOf<R extends AnyActorRef>(snapshot: { children: object }, prefix: string): R[] {
  // The prefix of an id says of which machine its actor is.
  const children = Object.values(snapshot.children) as (R | undefined)[];
  return children.filter((child): child is R => child?.id.startsWith(prefix) === true);
}

/** Remembers the latest view of each actor, together with all that it was made of. */
export function latestViews<View>() {
  const known = new WeakMap<AnyActorRef, { readonly from: readonly unknown[]; readonly view: View }>();
  return (ref: AnyActorRef, from: readonly unknown[], make: () => View): View => {
    const latest = known.get(ref);
    const isSame = latest?.from.length === from.length && latest.from.every((each, index) => each === from[index]);
    if (isSame) return latest.view;
    const view = make();
    known.set(ref, { from, view });
    return view;
  };
}
