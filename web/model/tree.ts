/** The actors of a world as the tree that terminals show too: the same order, the same words, the same filters. */
import type { ShownActor } from '../../inspect/protocol.ts';
import type { ActorNode } from '../../show/actorNode.ts';
import { categoryOf, compareSeverity } from '../../show/category.ts';
import { type QueueLookup, queuePositions } from '../../show/explainText.ts';
import { type ActorTrees, type RowPod, treeRows, worstOf } from '../../show/treeRows.ts';
import type { World } from './world.ts';

/** The path of the node agent, the root of all. */
export const ROOT = '';

/** Whether it is the actor of a pod, and none below one. */
const isPod = (path: string): boolean => /^pod\/[^/]+$/.test(path);

/** An actor with those below it. */
export function nodeAt(world: World, actor: ShownActor): ActorNode {
  const { parent: _, order: __, ...view } = actor;
  const below = world.children.get(actor.path) ?? [];
  return {
    ...view,
    tags: tagsOf(world, actor),
    children: below.filter((path) => !isPod(path)).flatMap((path) => nodesAt(world, path)),
  };
}

/** The machine of a pod is done with one that has failed as with any other that has ended; who looks is to see it. */
function tagsOf(world: World, { path, id, tags }: ShownActor): readonly string[] {
  const hasFailed = isPod(path) && world.pods.get(id.replace(/^pod\//, ''))?.phase === 'Failed';
  return hasFailed ? tags.map((tag) => (tag === 'done' ? 'failed' : tag)) : tags;
}

function nodesAt(world: World, path: string): ActorNode[] {
  const actor = world.actors.get(path);
  return actor ? [nodeAt(world, actor)] : [];
}

/** All actors of a world; nothing before the node agent itself is known. */
export function seenTree(world: World): ActorTrees | undefined {
  const [node] = nodesAt(world, ROOT);
  if (!node) return undefined;
  return {
    at: world.at,
    node: { ...node, name: world.node.name },
    pods: [...world.actors.values()].filter(({ path }) => isPod(path)).map((actor) => rowPodAt(world, actor)),
  };
}

/** Where pods and containers stand in line, as the limiters show it. */
const queuesOf = ({ node: { gates } }: World) => [gates.start, gates.pull];

function rowPodAt(world: World, actor: ShownActor): RowPod {
  const tree = nodeAt(world, actor);
  const uid = actor.id.replace(/^pod\//, '');
  const pod = world.pods.get(uid);
  let places: QueueLookup | undefined;
  return {
    tree,
    uid,
    namespace: pod?.namespace ?? '',
    name: pod?.name ?? actor.name,
    createdAt: actor.since,
    statusColumns: () => ({ status: pod?.status ?? '', ready: pod?.ready ?? '' }),
    containerReasonAt: (path) => wordOf(world, path),
    queuePositionOf(container) {
      const names = tree.children.filter(({ machine }) => machine === 'container').map(({ name }) => name);
      places ??= queuePositions(uid, names, queuesOf(world));
      return places(container);
    },
  };
}

/** Of a container that has ended badly: how. */
function wordOf(world: World, path: string): string | undefined {
  const actor = world.actors.get(path);
  return actor?.machine === 'container' && actor.tags.includes('failed') ? actor.lastRun?.reason : undefined;
}

/**
 * Returns the path of the worst container of the first pod of the tree, whose pods are ordered by the worst of their actors.
 * A pod that has none, as one that was rejected, or whose own actor is broken, stands for itself. Undefined if there are no
 * pods.
 */
export function worstPath(world: World): string | undefined {
  const tree = seenTree(world);
  const pod = tree && treeRows(tree, { isOpen: () => false }).find(({ pod }) => pod !== undefined)?.actor;
  const [first, ...others] = (pod?.children ?? []).filter(({ machine }) => machine === 'container');
  if (first === undefined || (pod && categoryOf(pod) === 'broken')) return pod?.path;
  const worstIn = (container: ActorNode) => categoryOf(worstOf(container));
  return others.reduce((worst, each) => (compareSeverity(worstIn(each), worstIn(worst)) < 0 ? each : worst), first)
    .path;
}
