/** What every actor shows of itself, made in one way for all machines, feeds and calls in flight. */
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { type ActorNode, type ActorView, CALL, type ReportedDetails } from '../../show/actors/actorNode.ts';
import { findCategory } from '../../show/category.ts';
import { pathOf } from './actorRefs.ts';
import { latestViews } from './latestViews.ts';
import { isFacet, type Moments, type Seen, type SinceOf, type StateMeta, statePath } from './stateMeta.ts';

/** What all contexts here have in common: the last failure, and moments under their names. */
interface CommonContext extends Moments {
  readonly failure?: Failure | undefined;
}

interface SeenMachine extends Seen<CommonContext> {
  readonly snapshot: Seen<CommonContext>['snapshot'] &
    Pick<AnyMachineSnapshot, 'value' | 'status' | 'tags' | 'machine' | 'getMeta'>;
}

/** The actor of a machine, with what its root declares. */
const seenBy = (ref: AnyActorRef, sinceOf: SinceOf): SeenMachine => ({
  id: ref.id,
  since: sinceOf(ref),
  snapshot: ref.getSnapshot(),
  sinceOf,
});

/** Every machine here declares StateMeta as its meta type; the functions in it are given snapshots of that machine alone. */
const rootMeta = ({ snapshot }: SeenMachine) =>
  (snapshot.machine.root.meta ?? {}) as {
    readonly moments?: (actor: SeenMachine) => Moments;
    readonly named?: (waitsFor: string, actor: SeenMachine) => string;
    readonly facts?: (actor: SeenMachine) => ReportedDetails;
  };

/** The state of a machine's actor: since when, what it waits for and until when. */
export const actorView = (ref: AnyActorRef, sinceOf: SinceOf): ActorView => viewOf(ref, seenBy(ref, sinceOf));

function viewOf(ref: AnyActorRef, actor: SeenMachine): ActorView {
  const { since, snapshot } = actor;
  const { failure } = snapshot.context;
  const { waitsFor, until: ends, afterMs } = innermostMeta(snapshot) ?? {};
  const { moments, named } = rootMeta(actor);
  const moment = ends && (moments?.(actor)[ends] ?? snapshot.context[ends]);
  const until = moment ?? (afterMs && since + afterMs);
  return {
    path: pathOf(ref).join('/'),
    // It is a child still, for its parent goes on without it.
    ...(snapshot.status === 'error'
      ? { state: 'broken', tags: ['broken'] }
      : { state: statePath(snapshot.value), tags: worstFirst(snapshot.tags) }),
    since,
    ...(waitsFor === undefined ? {} : { waitingFor: named?.(waitsFor, actor) ?? waitsFor }),
    ...(until ? { until } : {}),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

/** The longest id is that of the innermost state. */
function innermostMeta(snapshot: SeenMachine['snapshot']): StateMeta | undefined {
  const all = Object.entries<StateMeta | undefined>(snapshot.getMeta());
  return all.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

/** Where regions run in parallel there are several of the seven tags: the worst is shown, and what else is asked of the states. */
function worstFirst(tags: ReadonlySet<string>): string[] {
  const worst = findCategory(tags);
  const others = [...tags].filter(isFacet);
  return [...(worst ? [worst] : []), ...others];
}

/** Which actors a tree is made of; what is below one that is left out is left out too. */
export interface TreeScope {
  readonly sinceOf: SinceOf;
  readonly leavesOut?: (ref: AnyActorRef) => boolean;
}

const nodes = latestViews<ActorNode>();

/**
 * The tree of an actor of a machine and all that it has made. It is made when somebody asks, and of it only the nodes
 * that show something else than when somebody asked before.
 */
export function actorTree(ref: AnyActorRef, scope: TreeScope): ActorNode {
  const actor = seenBy(ref, scope.sinceOf);
  const { snapshot, since } = actor;
  // A timer is what its parent waits for until a moment.
  const all = childrenOf(snapshot).filter((child) => child.src !== 'timer');
  const children = all.filter((child) => !scope.leavesOut?.(child));
  const machines = children.filter(isMachine).map((child) => actorTree(child, scope));
  const others = children.filter((child) => !isMachine(child));
  // Of those that are left out its own moments may tell.
  const untold = all.filter((child) => scope.leavesOut?.(child));
  const shows = [snapshot, since, ...[...others, ...untold].map((child) => child.getSnapshot()), ...machines];
  return nodes(ref, shows, () => nodeOf(ref, actor, { machines, others }));
}

/** Whether the actor or one below it shows a failure: what a look at its whole tree would tell. */
export function showsFailure(ref: AnyActorRef): boolean {
  const snapshot: AnyMachineSnapshot = ref.getSnapshot();
  const { failure }: CommonContext = snapshot.context;
  return failure !== undefined || childrenOf(snapshot).some((child) => isMachine(child) && showsFailure(child));
}

const isMachine = (ref: AnyActorRef): boolean => 'value' in ref.getSnapshot();

interface Family {
  readonly machines: readonly ActorNode[];
  /** Feeds, and calls in flight. */
  readonly others: readonly AnyActorRef[];
}

function nodeOf(ref: AnyActorRef, actor: SeenMachine, { machines, others }: Family): ActorNode {
  const { feeds, waits, ...own } = rootMeta(actor).facts?.(actor) ?? {};
  const machine = actor.snapshot.machine.id;
  return {
    id: ref.id,
    machine,
    kind: machine,
    name: ref.id.slice(ref.id.indexOf('/') + 1),
    ...viewOf(ref, actor),
    facts: [],
    ...own,
    children: [
      ...others.flatMap((child) => othersOf(child, actor.sinceOf, feeds)),
      ...machines.map((child) => {
        const waitingFor = lookUp(waits, child.id);
        return waitingFor === undefined ? child : { ...child, waitingFor };
      }),
    ],
  };
}

/** A feed as it has told of itself; a call as long as it has no answer. */
function othersOf(ref: AnyActorRef, sinceOf: SinceOf, feeds: ReportedDetails['feeds']): ActorNode[] {
  const snapshot = ref.getSnapshot();
  const machine = typeof ref.src === 'string' ? ref.src : ref.id;
  const told = lookUp(feeds, machine);
  const own = { id: ref.id, machine, facts: [], children: [] };
  if (told) return told.map((feed) => ({ ...own, kind: 'feed', ...feed }));
  if (snapshot.status !== 'active') return [];
  // A call has an input, a feed has none.
  const isCall = 'input' in snapshot && snapshot.input !== undefined;
  const shown = { path: pathOf(ref).join('/'), since: sinceOf(ref) };
  return [
    isCall
      ? { ...own, ...shown, kind: CALL, name: machine, state: 'called', tags: ['working'] }
      : { ...own, ...shown, kind: 'feed', name: machine, state: 'active', tags: ['steady'] },
  ];
}

/** The children of an actor; those whose ids begin so. */
export function childrenOf<R extends AnyActorRef>(snapshot: { children: object }, prefix = ''): R[] {
  // The prefix of an id says of which machine its actor is.
  const children = Object.values(snapshot.children) as (R | undefined)[];
  return children.filter((child): child is R => child?.id.startsWith(prefix) === true);
}
