/** What every actor shows of itself, made in one way for all machines, feeds and calls in flight. */
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Failure } from '../../pod/failure.ts';
import { lookUp } from '../../pod/lookUp.ts';
import { type ActorNode, CALL } from '../../pod/show/actorNode.ts';
import type { ActorView } from '../../pod/show/view.ts';
import { isFacet, type Moments, type Seen, type SinceOf, type StateMeta, statePath } from './stateMeta.ts';

/** What all contexts here have in common: the last failure, and moments under their names. */
interface CommonContext extends Moments {
  readonly failure?: Failure | undefined;
}

interface SeenMachine extends Seen<CommonContext> {
  readonly snapshot: Seen<CommonContext>['snapshot'] &
    Pick<AnyMachineSnapshot, 'value' | 'tags' | 'machine' | 'getMeta'>;
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
    readonly [K in 'moments' | 'facts']?: (actor: SeenMachine) => ReturnType<NonNullable<StateMeta[K]>>;
  };

/** The state of a machine's actor: since when, what it waits for and until when. */
export const actorView = (ref: AnyActorRef, path: string, sinceOf: SinceOf): ActorView =>
  viewOf(seenBy(ref, sinceOf), path);

function viewOf(actor: SeenMachine, path: string): ActorView {
  const { since, snapshot } = actor;
  const { failure } = snapshot.context;
  const meta = innermostMeta(snapshot);
  const moment = meta?.until && (rootMeta(actor).moments?.(actor)[meta.until] ?? snapshot.context[meta.until]);
  const until = moment ?? (meta?.afterMs && since + meta.afterMs);
  return {
    path,
    state: statePath(snapshot.value),
    tags: worstFirst(snapshot.tags),
    since,
    ...(meta?.waitsFor ? { waitingFor: meta.waitsFor } : {}),
    ...(until ? { until } : {}),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

/** The longest id is that of the innermost state. */
function innermostMeta(snapshot: SeenMachine['snapshot']): StateMeta | undefined {
  const all = Object.entries<StateMeta | undefined>(snapshot.getMeta());
  return all.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

const WORST_FIRST = ['broken', 'retrying', 'failed', 'waiting', 'working', 'steady', 'done'] as const;

/** Where regions run in parallel there are several of the seven tags: the worst is shown, and what else is asked of the states. */
function worstFirst(tags: ReadonlySet<string>): string[] {
  const worst = WORST_FIRST.find((tag) => tags.has(tag));
  const others = [...tags].filter(isFacet);
  return [...(worst ? [worst] : []), ...others];
}

/** Which actors a tree is made of; what is below one that is left out is left out too. */
export interface TreeScope {
  readonly sinceOf: SinceOf;
  readonly leavesOut?: (ref: AnyActorRef) => boolean;
}

/** The tree of an actor of a machine and all that it has made: made when somebody asks, so it costs nothing else. */
export function actorTree(ref: AnyActorRef, path: string, scope: TreeScope): ActorNode {
  const actor = seenBy(ref, scope.sinceOf);
  const { kind, name, facts = [], lists, feeds } = rootMeta(actor).facts?.(actor) ?? {};
  const view = viewOf(actor, path);
  const [prefix = '', ...rest] = ref.id.split('/');
  const children = Object.values(actor.snapshot.children).filter((child) => child !== undefined);
  return {
    ...identity(ref),
    ...{ kind: kind ?? (rest.length > 0 ? prefix : 'actor'), name: name ?? (rest.join('/') || prefix) },
    // It is a child still, for its parent goes on without it.
    ...(ref.getSnapshot().status === 'error' ? { ...view, state: 'broken', tags: ['broken'] } : view),
    facts,
    ...(lists ? { lists } : {}),
    children: children
      // A timer is what its parent waits for until a moment.
      .filter((child) => child.src !== 'timer' && !scope.leavesOut?.(child))
      .sort((one, other) => Number(isMachine(one)) - Number(isMachine(other)))
      .flatMap((child) => childNodes(child, path, { ...scope, feeds })),
  };
}

const isMachine = (ref: AnyActorRef): boolean => 'value' in ref.getSnapshot();

const identity = (ref: AnyActorRef): Pick<ActorNode, 'id' | 'machine'> => ({
  id: ref.id,
  machine: typeof ref.src === 'string' ? ref.src : ref.id,
});

interface Family extends TreeScope {
  readonly feeds: ReturnType<NonNullable<StateMeta['facts']>>['feeds'];
}

/** A machine with all below it; a feed as it has told of itself; a call as long as it has no answer. */
function childNodes(ref: AnyActorRef, parent: string, { feeds, ...scope }: Family): ActorNode[] {
  const snapshot = ref.getSnapshot();
  const own = identity(ref);
  const path = `${parent}/${ref.id}`;
  if (isMachine(ref)) return [actorTree(ref, path, scope)];
  const told = feeds && lookUp(feeds, own.machine);
  if (told) return told.map((feed) => ({ ...own, kind: 'actor', facts: [], children: [], ...feed }));
  if (snapshot.status !== 'active') return [];
  // A call has an input, a feed has none.
  const isCall = 'input' in snapshot && snapshot.input !== undefined;
  const since = scope.sinceOf(ref);
  const state = isCall ? { state: 'called', tags: ['working'] } : { state: 'active', tags: ['steady'] };
  return [{ ...own, kind: isCall ? CALL : 'feed', name: own.machine, path, since, ...state, facts: [], children: [] }];
}

/** The children of an actor whose ids begin so. */
export function childrenOf<R extends AnyActorRef>(snapshot: { children: object }, prefix: string): R[] {
  // The prefix of an id says of which machine its actor is.
  const children = Object.values(snapshot.children) as (R | undefined)[];
  return children.filter((child): child is R => child?.id.startsWith(prefix) === true);
}
