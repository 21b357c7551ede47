/** Builds the tree of actors for the page. Its order, texts and filters are the same as in the terminal commands. */
import type { ShownActor } from '../../../inspect/protocol.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { type ActorTrees, mostSevereActor, type RowPod, treeRows } from '../../../show/actors/treeRows.ts';
import { categoryOf, compareSeverity } from '../../../show/category.ts';
import { type QueueLookup, queuePositions } from '../../../show/explain/explainText.ts';
import type { World } from '../server/world.ts';

/** Path of the node agent, which is the root of the tree. */
export const ROOT = '';

/** Whether the path is that of a pod's top-level actor. */
const isPod = (path: string): boolean => /^pod\/[^/]+$/.test(path);

/** Returns the tree of the given actor and its descendants. The tree of the node agent does not include the pods. */
export function nodeAt(world: World, actor: ShownActor): ActorNode {
  const { parent: _, order: __, ...view } = actor;
  const childPaths = world.children.get(actor.path) ?? [];
  return {
    ...view,
    tags: tagsOf(world, actor),
    children: childPaths.filter((path) => !isPod(path)).flatMap((path) => nodesAt(world, path)),
  };
}

/**
 * Returns the tags of an actor. A failed pod is tagged as failed, because the machine tags all completed pods as `done`
 * but users need to see the difference.
 */
function tagsOf(world: World, { path, id, tags }: ShownActor): readonly string[] {
  const hasFailed = isPod(path) && world.pods.get(id.replace(/^pod\//, ''))?.phase === 'Failed';
  return hasFailed ? tags.map((tag) => (tag === 'done' ? 'failed' : tag)) : tags;
}

function nodesAt(world: World, path: string): ActorNode[] {
  const actor = world.actors.get(path);
  return actor ? [nodeAt(world, actor)] : [];
}

/** Returns the actor trees of the node and its pods. Undefined until the page has received the node agent's actor. */
export function actorTrees(world: World): ActorTrees | undefined {
  const [node] = nodesAt(world, ROOT);
  if (!node) return undefined;
  return {
    at: world.at,
    node: { ...node, name: world.node.name },
    pods: [...world.actors.values()].filter(({ path }) => isPod(path)).map((actor) => toRowPod(world, actor)),
  };
}

/** Returns the limiters in whose queues pods and containers may wait. */
const limiterQueues = ({ node: { gates } }: World) => [gates.start, gates.pull];

function toRowPod(world: World, actor: ShownActor): RowPod {
  const tree = nodeAt(world, actor);
  const uid = actor.id.replace(/^pod\//, '');
  const pod = world.pods.get(uid);
  let positions: QueueLookup | undefined;
  return {
    tree,
    uid,
    namespace: pod?.namespace ?? '',
    name: pod?.name ?? actor.name,
    createdAt: actor.since,
    statusColumns: () => ({ status: pod?.status ?? '', ready: pod?.ready ?? '' }),
    containerReasonAt: (path) => statusWordOf(world, path),
    queuePositionOf(container) {
      const containerNames = tree.children.filter(({ machine }) => machine === 'container').map(({ name }) => name);
      positions ??= queuePositions(uid, containerNames, limiterQueues(world));
      return positions(container);
    },
  };
}

/** Returns the reason for the failure of the container at `path`. Undefined if the container has not failed. */
function statusWordOf(world: World, path: string): string | undefined {
  const actor = world.actors.get(path);
  return actor?.machine === 'container' && actor.tags.includes('failed') ? actor.lastRun?.reason : undefined;
}

/**
 * Returns the path of the container with the most severe state in the first pod of the tree. Returns the pod's path if
 * it has no containers, e.g. because it was rejected, or if its own actor is broken. Undefined if there are no pods.
 */
export function worstPath(world: World): string | undefined {
  const tree = actorTrees(world);
  const pod = tree && treeRows(tree, { isOpen: () => false }).find(({ pod }) => pod !== undefined)?.actor;
  const [first, ...others] = (pod?.children ?? []).filter(({ machine }) => machine === 'container');
  if (first === undefined || (pod && categoryOf(pod) === 'broken')) return pod?.path;
  const worstCategory = (container: ActorNode) => categoryOf(mostSevereActor(container));
  return others.reduce(
    (worst, each) => (compareSeverity(worstCategory(each), worstCategory(worst)) < 0 ? each : worst),
    first,
  ).path;
}
