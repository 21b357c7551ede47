/** Stores the states of a replay, so any time that has been replayed can be shown immediately. */
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import { shownReplayedNode } from '../live/nodeBar.ts';
import { type ChangedTrees, NODE } from '../live/touched.ts';
import type { ShownActor, ShownNode, ShownPod, Snapshot } from '../protocol.ts';
import { type ActorChanges, ActorDiffer, allTrees, PodRowCache } from '../shown.ts';

/** The changes at one point in time. */
interface Change {
  readonly at: number;
  readonly actors: readonly ShownActor[];
  readonly gone: readonly string[];
  /** All pods in order. Undefined if none has changed. */
  readonly pods?: readonly ShownPod[];
  readonly node?: ShownNode;
}

/** The contents of a snapshot that a replay can provide. */
export type ShownMoment = Pick<Snapshot, 'node' | 'pods' | 'actors'>;

/** The changes of a replayed agent, from earliest to latest. */
export class Reel {
  readonly #version: string;
  readonly #actorDiffer = new ActorDiffer();
  readonly #changes: Change[] = [];
  readonly #pods = new PodRowCache();
  readonly #previous: { pods?: readonly ShownPod[]; node?: string } = {};

  /** `version` is the version of the program that recorded the node. */
  constructor(version: string) {
    this.#version = version;
  }

  /**
   * Adds the state of the agent at a time, which must not be before that of the previous state. Only the actors in
   * `moved` are compared. If `moved` is undefined, all actors are compared.
   */
  addState(agent: NodeAgent, at: number, moved?: ChangedTrees): void {
    const { actors, gone } = this.#compareActors(agent, moved);
    const pods = moved?.pods === false ? undefined : this.#changedPods(agent, at);
    const node = moved?.trees.has(NODE) === false ? undefined : this.#changedNode(agent);
    if (actors.length === 0 && gone.length === 0 && node === undefined && pods === undefined) return;
    this.#changes.push({ at, actors, gone, ...(pods && { pods }), ...(node && { node }) });
  }

  #compareActors(agent: NodeAgent, moved: ChangedTrees | undefined): ActorChanges {
    const partialChanges = moved && !moved.pods ? this.#compareTrees(agent, moved.trees) : undefined;
    return partialChanges ?? this.#actorDiffer.compareAll(allTrees(agent.explainNode().node, agent.trees()));
  }

  /**
   * Compares some trees. Returns undefined if an actor was added or removed, because this shifts the order of other
   * actors.
   */
  #compareTrees(agent: NodeAgent, keys: ReadonlySet<string>): ActorChanges | undefined {
    const trees = new Map<string, ActorNode>();
    for (const key of keys) {
      const tree = key === NODE ? agent.explainNode().node : agent.tree(key);
      if (tree === undefined) return undefined;
      trees.set(key, tree);
    }
    return this.#actorDiffer.compareSome(trees);
  }

  #changedPods(agent: NodeAgent, at: number): readonly ShownPod[] | undefined {
    const previousPods = this.#previous.pods;
    const pods = agent.pods().map((pod) => this.#pods.rowOf(pod, at));
    this.#previous.pods = pods;
    return previousPods?.length === pods.length && pods.every((pod, index) => pod === previousPods[index])
      ? undefined
      : pods;
  }

  #changedNode(agent: NodeAgent): ShownNode | undefined {
    const node = shownReplayedNode(agent, this.#version);
    const text = JSON.stringify(node);
    const isSame = text === this.#previous.node;
    this.#previous.node = text;
    return isSame ? undefined : node;
  }

  /** Whether a time is not before the first stored state. */
  covers(moment: number): boolean {
    const [first] = this.#changes;
    return first !== undefined && first.at <= moment;
  }

  /**
   * Returns the state at a time, or the first stored state if the time is earlier. Returns undefined if nothing is
   * stored.
   */
  stateAt(moment: number): ShownMoment | undefined {
    const actors = new Map<string, ShownActor>();
    let [pods, node]: [readonly ShownPod[], ShownNode | undefined] = [[], undefined];
    for (const [index, change] of this.#changes.entries()) {
      if (change.at > moment && index > 0) break;
      for (const path of change.gone) actors.delete(path);
      for (const actor of change.actors) actors.set(actor.path, actor);
      pods = change.pods ?? pods;
      node = change.node ?? node;
    }
    return node && { node, pods, actors: [...actors.values()] };
  }
}
