/** Computes the state of the node for the bar at the top of the page. */
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { ActorNode, RuntimeView } from '../../show/actors/actorNode.ts';
import type { ShownGate, ShownNode } from '../protocol.ts';
import { shownGate } from '../shown.ts';

/** The state of a node, live or replayed. */
export interface NodeBarState {
  readonly name: string;
  readonly version: string;
  readonly simulated: boolean;
  readonly state: string;
  readonly tags: readonly string[];
  readonly runtime: ShownNode['runtime'];
  readonly trouble?: string | undefined;
  readonly gates: { readonly start: ShownGate; readonly pull: ShownGate };
  /** The node's own actors. */
  readonly children: readonly ActorNode[];
  readonly loop?: ShownNode['loop'] | undefined;
}

export function shownNode({ children, trouble, loop, ...own }: NodeBarState): ShownNode {
  const why = trouble ?? runtimeTrouble(own);
  return {
    ...own,
    ...(why === undefined ? {} : { trouble: why }),
    ...(loop === undefined ? {} : { loop }),
    sources: children.filter(({ machine }) => machine === 'sources').map(shownSource),
  };
}

function shownSource({ name, lastFailure }: ActorNode): ShownNode['sources'][number] {
  return { name, ...(lastFailure === undefined ? {} : { trouble: lastFailure.message }) };
}

const runtimeTrouble = ({ runtime }: Pick<NodeBarState, 'runtime'>): string | undefined =>
  runtime.ready ? undefined : `the container runtime is not ready: ${runtime.message ?? 'no reason given'}`;

/** Returns the runtime's state according to its last responses. */
export const shownRuntime = (
  { name, version, message }: Pick<RuntimeView, 'name' | 'version' | 'message'>,
  ready: boolean,
): ShownNode['runtime'] => ({ name, version, ready, ...(message === undefined ? {} : { message }) });

/** Returns the state of a replayed node. `version` is the version of the program that recorded it. */
export function shownReplayedNode(agent: NodeAgent, version: string): ShownNode {
  const { node, name } = agent.explainNode();
  const { state, tags, runtime, limiters } = agent.overview();
  return shownNode({
    name,
    version,
    simulated: false,
    state,
    tags,
    children: node.children,
    runtime: shownRuntime(runtime, runtime.ready),
    gates: { start: shownGate(limiters.start), pull: shownGate(limiters.pull) },
  });
}
