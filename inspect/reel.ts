/** A part of a recording as it is played for the first time: any moment that was played is there at once from then on. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { shownNodeOf } from './nodeBar.ts';
import type { ShownActor, ShownNode, ShownPod, Snapshot } from './protocol.ts';
import { ShownActors, ShownPods, treesOf } from './shown.ts';

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
  #last: { readonly pods: readonly ShownPod[]; readonly node: string } | undefined;

  /** `version` is that of the program that recorded it. */
  constructor(version: string) {
    this.#version = version;
  }

  /** Takes note of the agent as it is at a moment, which is not before those that were noted. */
  note(agent: NodeAgent, at: number): void {
    const { node: tree } = agent.explainNode();
    const { actors, gone } = this.#shown.changes(treesOf(tree, agent.trees()));
    const pods = agent.pods().map((pod) => this.#pods.of(pod, at));
    const node = shownNodeOf(agent, this.#version);
    const text = JSON.stringify(node);
    const isSameNode = text === this.#last?.node;
    const arePods =
      this.#last?.pods.length === pods.length && pods.every((pod, index) => pod === this.#last?.pods[index]);
    this.#last = { pods, node: text };
    if (actors.length === 0 && gone.length === 0 && isSameNode && arePods) return;
    this.#changes.push({ at, actors, gone, ...(arePods ? {} : { pods }), ...(isSameNode ? {} : { node }) });
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
