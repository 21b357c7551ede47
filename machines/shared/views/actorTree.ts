/** Builds the actor tree: the view of every machine, feed and call in flight. */
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { type ActorNode, type ActorView, CALL_KIND, type ReportedDetails } from '../../../show/actors/actorNode.ts';
import { findCategory } from '../../../show/category.ts';
import {
  type ActorInfo,
  type Deadlines,
  type GetStateSince,
  isNonCategoryTag,
  type StateMeta,
  statePath,
} from '../stateMeta.ts';
import { actorPath } from './actorRefs.ts';
import { createViewCache } from './viewCache.ts';

/** Optional fields that all machine contexts share: the last failure, and deadlines by name. */
interface CommonContext extends Deadlines {
  readonly failure?: Failure | undefined;
}

interface MachineActor extends ActorInfo<CommonContext> {
  readonly snapshot: ActorInfo<CommonContext>['snapshot'] &
    Pick<AnyMachineSnapshot, 'value' | 'status' | 'tags' | 'machine' | 'getMeta'>;
}

const machineActor = (ref: AnyActorRef, getStateSince: GetStateSince): MachineActor => ({
  id: ref.id,
  since: getStateSince(ref),
  snapshot: ref.getSnapshot(),
  getStateSince,
});

/**
 * Returns the `meta` of a machine's root. Safe cast: every machine declares StateMeta as its meta type, and its
 * functions receive only snapshots of their own machine.
 */
const rootMeta = ({ snapshot }: MachineActor) =>
  (snapshot.machine.root.meta ?? {}) as {
    readonly deadlines?: (actor: MachineActor) => Deadlines;
    readonly formatWait?: (waitsFor: string, actor: MachineActor) => string;
    readonly facts?: (actor: MachineActor) => ReportedDetails;
  };

/** Returns the view of one actor, without its children. */
export const actorView = (ref: AnyActorRef, getStateSince: GetStateSince): ActorView =>
  createView(ref, machineActor(ref, getStateSince));

function createView(ref: AnyActorRef, actor: MachineActor): ActorView {
  const { since, snapshot } = actor;
  const { failure } = snapshot.context;
  const { waitsFor, until: deadlineName, afterMs } = innermostWait(snapshot) ?? {};
  const { deadlines, formatWait } = rootMeta(actor);
  const deadline = deadlineName && (deadlines?.(actor)[deadlineName] ?? snapshot.context[deadlineName]);
  const until = deadline ?? (afterMs && since + afterMs);
  return {
    path: actorPath(ref).join('/'),
    // A failed actor remains a child if its parent continues without it.
    ...(snapshot.status === 'error'
      ? { state: 'broken', tags: ['broken'] }
      : { state: statePath(snapshot.value), tags: sortedTags(snapshot.tags) }),
    since,
    ...(waitsFor === undefined ? {} : { waitingFor: formatWait?.(waitsFor, actor) ?? waitsFor }),
    ...(until ? { until } : {}),
    ...(failure ? { lastFailure: failure } : {}),
  };
}

/** Returns the `meta` of the innermost state that declares a wait, which is the one with the longest ID. */
function innermostWait(snapshot: MachineActor['snapshot']): StateMeta | undefined {
  const waitMetas = Object.entries<StateMeta | undefined>(snapshot.getMeta()).filter(([, meta]) => meta?.waitsFor);
  return waitMetas.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

/**
 * Returns the most severe category among an actor's tags, followed by the tags that are not categories. An actor may
 * have several categories, one for each parallel region.
 */
function sortedTags(tags: ReadonlySet<string>): string[] {
  const worstCategory = findCategory(tags);
  const otherTags = [...tags].filter(isNonCategoryTag);
  return [...(worstCategory ? [worstCategory] : []), ...otherTags];
}

/** Selects the actors of a tree. The descendants of an excluded actor are excluded as well. */
export interface TreeScope {
  readonly getStateSince: GetStateSince;
  readonly isExcluded?: (ref: AnyActorRef) => boolean;
}

const treeNodes = createViewCache<ActorNode>();

/** Returns the tree of an actor and its descendants. Nodes that have not changed since the last call are reused. */
export function actorTree(ref: AnyActorRef, scope: TreeScope): ActorNode {
  const actor = machineActor(ref, scope.getStateSince);
  const { snapshot, since } = actor;
  // Timers are omitted, because a timer is part of its parent's state.
  const allChildren = childrenOf(snapshot).filter((child) => child.src !== 'timer');
  const children = allChildren.filter((child) => !scope.isExcluded?.(child));
  const machines = children.filter(isMachine).map((child) => actorTree(child, scope));
  const nonMachines = children.filter((child) => !isMachine(child));
  // Take the excluded children into account as well, because the actor's own deadlines may depend on them.
  const excludedChildren = allChildren.filter((child) => scope.isExcluded?.(child));
  const dependencies = [
    snapshot,
    since,
    ...[...nonMachines, ...excludedChildren].map((child) => child.getSnapshot()),
    ...machines,
  ];
  return treeNodes(ref, dependencies, () => createNode(ref, actor, { machines, nonMachines }));
}

/** Whether the actor or one of its descendants has a failure. Cheaper than building the tree. */
export function hasFailureInTree(ref: AnyActorRef): boolean {
  const snapshot: AnyMachineSnapshot = ref.getSnapshot();
  const { failure }: CommonContext = snapshot.context;
  return failure !== undefined || childrenOf(snapshot).some((child) => isMachine(child) && hasFailureInTree(child));
}

const isMachine = (ref: AnyActorRef): boolean => 'value' in ref.getSnapshot();

interface ActorChildren {
  readonly machines: readonly ActorNode[];
  /** Feeds and calls in flight. */
  readonly nonMachines: readonly AnyActorRef[];
}

function createNode(ref: AnyActorRef, actor: MachineActor, { machines, nonMachines }: ActorChildren): ActorNode {
  const { feedViews, waitDescriptions, ...details } = rootMeta(actor).facts?.(actor) ?? {};
  const machine = actor.snapshot.machine.id;
  return {
    id: ref.id,
    machine,
    kind: machine,
    name: ref.id.slice(ref.id.indexOf('/') + 1),
    ...createView(ref, actor),
    facts: [],
    ...details,
    children: [
      ...nonMachines.flatMap((child) => feedAndCallNodes(child, actor.getStateSince, feedViews)),
      ...machines.map((child) => {
        const waitingFor = lookUp(waitDescriptions, child.id);
        return waitingFor === undefined ? child : { ...child, waitingFor };
      }),
    ],
  };
}

/**
 * Returns the tree nodes for a child actor that is not a machine. A feed may have several, and a completed call has
 * none.
 */
function feedAndCallNodes(
  ref: AnyActorRef,
  getStateSince: GetStateSince,
  feedViewsByName: ReportedDetails['feedViews'],
): ActorNode[] {
  const snapshot = ref.getSnapshot();
  const machine = typeof ref.src === 'string' ? ref.src : ref.id;
  const feedViews = lookUp(feedViewsByName, machine);
  const commonNodeFields = { id: ref.id, machine, facts: [], children: [] };
  if (feedViews) return feedViews.map((feed) => ({ ...commonNodeFields, kind: 'feed', ...feed }));
  if (snapshot.status !== 'active') return [];
  // A call has an input, whereas a feed has none.
  const isCall = 'input' in snapshot && snapshot.input !== undefined;
  const commonFields = { path: actorPath(ref).join('/'), since: getStateSince(ref) };
  return [
    isCall
      ? { ...commonNodeFields, ...commonFields, kind: CALL_KIND, name: machine, state: 'called', tags: ['working'] }
      : { ...commonNodeFields, ...commonFields, kind: 'feed', name: machine, state: 'active', tags: ['steady'] },
  ];
}

/** Returns those children of an actor whose IDs start with `prefix`. */
export function childrenOf<R extends AnyActorRef>(snapshot: { children: object }, prefix = ''): R[] {
  // Safe cast: the prefix of an actor's ID identifies its machine.
  const children = Object.values(snapshot.children) as (R | undefined)[];
  return children.filter((child): child is R => child?.id.startsWith(prefix) === true);
}
