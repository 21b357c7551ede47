/** Stores the states of a replay as a reel, so that any time that has been replayed can be shown immediately. */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { toShownReplayedNode } from '../../live/nodeBar.ts';
import { type ChangedTrees, NODE_KEY } from '../../live/touched.ts';
import type { ShownActor, ShownNode, ShownPod, Snapshot } from '../../protocol.ts';
import { type ActorChanges, ActorDiffer, allTrees, PodRowCache } from '../../shown.ts';

/** The changes at one point in time. */
interface ReelChange {
  readonly at: number;
  readonly actors: readonly ShownActor[];
  readonly removedPaths: readonly string[];
  /** All pods in order. Undefined if no pod has changed. */
  readonly pods?: readonly ShownPod[];
  readonly node?: ShownNode;
}

/** The part of a snapshot that a replay can provide. */
export type ShownState = Pick<Snapshot, 'node' | 'pods' | 'actors'>;

/** The changes of a replayed agent in chronological order. */
export class Reel {
  readonly #version: string;
  readonly #actorDiffer = new ActorDiffer();
  readonly #changes: ReelChange[] = [];
  readonly #pods = new PodRowCache();
  readonly #previousState: { pods?: readonly ShownPod[]; node?: string } = {};

  /** `version` is the version of statelet that recorded the node. */
  constructor(version: string) {
    this.#version = version;
  }

  /**
   * Adds the agent's state at the given time, which must not be before the time of the previous state. Compares only
   * the actors in `moved`, or all actors if `moved` is undefined.
   */
  addState(agent: NodeAgent, at: number, moved?: ChangedTrees): void {
    const { actors, removedPaths } = this.#compareActors(agent, moved);
    const changedPods = moved?.havePodsChanged === false ? undefined : this.findChangedPods(agent, at);
    const node = moved?.treeKeys.has(NODE_KEY) === false ? undefined : this.findChangedNode(agent);
    if (actors.length === 0 && removedPaths.length === 0 && node === undefined && changedPods === undefined) return;
    this.#changes.push({ at, actors, removedPaths, ...(changedPods && { pods: changedPods }), ...(node && { node }) });
  }

  #compareActors(agent: NodeAgent, changedTrees: ChangedTrees | undefined): ActorChanges {
    const partialChanges =
      changedTrees && !changedTrees.havePodsChanged ? this.#compareTrees(agent, changedTrees.treeKeys) : undefined;
    return partialChanges ?? this.#actorDiffer.compareAll(allTrees(agent.explainNode().node, agent.trees()));
  }

  /**
   * Compares only the trees with the given keys. Returns undefined if an actor was added or removed, because this
   * changes the positions of other actors.
   */
  #compareTrees(agent: NodeAgent, keys: ReadonlySet<string>): ActorChanges | undefined {
    const trees = new Map<string, ActorNode>();
    for (const key of keys) {
      const tree = key === NODE_KEY ? agent.explainNode().node : agent.tree(key);
      if (tree === undefined) return undefined;
      trees.set(key, tree);
    }
    return this.#actorDiffer.compareSome(trees);
  }

  findChangedPods(agent: NodeAgent, at: number): readonly ShownPod[] | undefined {
    const previousPods = this.#previousState.pods;
    const pods = agent.pods().map((pod) => this.#pods.rowOf(pod, at));
    this.#previousState.pods = pods;
    return previousPods?.length === pods.length && pods.every((pod, index) => pod === previousPods[index])
      ? undefined
      : pods;
  }

  findChangedNode(agent: NodeAgent): ShownNode | undefined {
    const node = toShownReplayedNode(agent, this.#version);
    const nodeJson = JSON.stringify(node);
    const isUnchanged = nodeJson === this.#previousState.node;
    this.#previousState.node = nodeJson;
    return isUnchanged ? undefined : node;
  }

  /** Whether the first stored state is at or before the given time. */
  covers(at: number): boolean {
    const [first] = this.#changes;
    return first !== undefined && first.at <= at;
  }

  /**
   * Returns the state at the given time, or the first stored state if all states are later. Returns undefined if no
   * state is stored.
   */
  stateAt(at: number): ShownState | undefined {
    const actors = new Map<string, ShownActor>();
    let [pods, node]: [readonly ShownPod[], ShownNode | undefined] = [[], undefined];
    for (const [index, change] of this.#changes.entries()) {
      if (change.at > at && index > 0) break;
      for (const path of change.removedPaths) actors.delete(path);
      for (const actor of change.actors) actors.set(actor.path, actor);
      pods = change.pods ?? pods;
      node = change.node ?? node;
    }
    return node && { node, pods, actors: [...actors.values()] };
  }
}
