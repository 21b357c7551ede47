/** Computes the state of the node for the bar at the top of the page. */
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { ActorNode, RuntimeView } from '../../show/actors/actorNode.ts';
import type { ShownGate, ShownNode } from '../protocol.ts';
import { toShownGate } from '../shown.ts';

/** The state of a live or replayed node. */
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

export function toShownNode({ children, trouble, loop, ...nodeFields }: NodeBarState): ShownNode {
  const why = trouble ?? runtimeTrouble(nodeFields);
  return {
    ...nodeFields,
    ...(why === undefined ? {} : { trouble: why }),
    ...(loop === undefined ? {} : { loop }),
    sources: children.filter(({ machine }) => machine === 'sources').map(toShownSource),
  };
}

function toShownSource({ name, lastFailure }: ActorNode): ShownNode['sources'][number] {
  return { name, ...(lastFailure === undefined ? {} : { trouble: lastFailure.message }) };
}

const runtimeTrouble = ({ runtime }: Pick<NodeBarState, 'runtime'>): string | undefined =>
  runtime.ready ? undefined : `the container runtime is not ready: ${runtime.message ?? 'no reason given'}`;

/** Selects the fields of the container runtime that the page shows. */
export const toShownRuntime = (
  { name, version, message }: Pick<RuntimeView, 'name' | 'version' | 'message'>,
  ready: boolean,
): ShownNode['runtime'] => ({ name, version, ready, ...(message === undefined ? {} : { message }) });

/** Returns the state of a replayed node. `version` is the version of statelet that recorded the node. */
export function toShownReplayedNode(agent: NodeAgent, version: string): ShownNode {
  const { node, name } = agent.explainNode();
  const { state, tags, runtime, limiters } = agent.overview();
  return toShownNode({
    name,
    version,
    simulated: false,
    state,
    tags,
    children: node.children,
    runtime: toShownRuntime(runtime, runtime.ready),
    gates: { start: toShownGate(limiters.start), pull: toShownGate(limiters.pull) },
  });
}
