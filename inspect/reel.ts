/** A part of a recording as it is played for the first time: any moment that was played is there at once from then on. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import type { ActorNode } from '../show/actorNode.ts';
import { shownNodeOf } from './nodeBar.ts';
import type { ShownActor, ShownNode, ShownPod, Snapshot } from './protocol.ts';
import { type ActorChanges, ShownActors, ShownPods, treesOf } from './shown.ts';
import { type Moved, NODE } from './touched.ts';

/** What became another at a moment. */
interface Change {
  readonly at: number;
  readonly actors: readonly ShownActor[];
  readonly gone: readonly string[];
  /** All pods, in their order; absent where they are the same. */
  readonly pods?: readonly ShownPod[];
  readonly node?: ShownNode;
}

/** Everything of a node at a moment, as a snapshot has it. */
export type ShownMoment = Pick<Snapshot, 'node' | 'pods' | 'actors'>;

/** What was seen of an agent that is played, the earliest first. */
export class Reel {
  readonly #version: string;
  readonly #shown = new ShownActors();
  readonly #changes: Change[] = [];
  readonly #pods = new ShownPods();
  readonly #last: { pods?: readonly ShownPod[]; node?: string } = {};

  /** `version` is that of the program that recorded it. */
  constructor(version: string) {
    this.#version = version;
  }

  /**
   * Takes note of the agent as it is at a moment, which is not before those that were noted. All but what has moved is as
   * it was noted last; without `moved` all is looked at.
   */
  note(agent: NodeAgent, at: number, moved?: Moved): void {
    const { actors, gone } = this.#changesOf(agent, moved);
    const pods = moved?.pods === false ? undefined : this.#otherPods(agent, at);
    const node = moved?.trees.has(NODE) === false ? undefined : this.#otherNode(agent);
    if (actors.length === 0 && gone.length === 0 && node === undefined && pods === undefined) return;
    this.#changes.push({ at, actors, gone, ...(pods && { pods }), ...(node && { node }) });
  }

  #changesOf(agent: NodeAgent, moved: Moved | undefined): ActorChanges {
    const partly = moved && !moved.pods ? this.#changesIn(agent, moved.trees) : undefined;
    return partly ?? this.#shown.changes(treesOf(agent.explainNode().node, agent.trees()));
  }

  /** Undefined where an actor has come or gone that others stand beside. */
  #changesIn(agent: NodeAgent, keys: ReadonlySet<string>): ActorChanges | undefined {
    const trees = new Map<string, ActorNode>();
    for (const key of keys) {
      const tree = key === NODE ? agent.explainNode().node : agent.tree(key);
      if (tree === undefined) return undefined;
      trees.set(key, tree);
    }
    return this.#shown.changesOf(trees);
  }

  #otherPods(agent: NodeAgent, at: number): readonly ShownPod[] | undefined {
    const before = this.#last.pods;
    const pods = agent.pods().map((pod) => this.#pods.of(pod, at));
    this.#last.pods = pods;
    return before?.length === pods.length && pods.every((pod, index) => pod === before[index]) ? undefined : pods;
  }

  #otherNode(agent: NodeAgent): ShownNode | undefined {
    const node = shownNodeOf(agent, this.#version);
    const text = JSON.stringify(node);
    const isSame = text === this.#last.node;
    this.#last.node = text;
    return isSame ? undefined : node;
  }

  /** Whether a moment is not before the first one that was noted. */
  covers(moment: number): boolean {
    const [first] = this.#changes;
    return first !== undefined && first.at <= moment;
  }

  /** As it was at a moment, or at the first one that was noted; undefined where none was. */
  at(moment: number): ShownMoment | undefined {
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
