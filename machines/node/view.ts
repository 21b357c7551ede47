import type { ActorRefFrom, AnyActorRef } from 'xstate';
import { namespacedName } from '../../kubernetes/shownName.ts';
import type { NodeView, RuntimeView } from '../../show/actors/actorNode.ts';
import type { RuntimeHealth } from '../shared/events/events.ts';
import type { GetStateSince } from '../shared/stateMeta.ts';
import { actorTree, childrenOf } from '../shared/views/actorTree.ts';
import type { PodRef } from '../shared/views/views.ts';
import type { nodeAgentMachine } from './chart.ts';
import { foreignPods } from './pods/own.ts';

export const runtimeView = ({ name, version, ready, since, message, networkNotReady }: RuntimeHealth): RuntimeView => ({
  name,
  version,
  ready,
  ...(since === 0 ? {} : { since }),
  ...(message === undefined ? {} : { message }),
  ...(networkNotReady === undefined ? {} : { networkNotReady }),
});

const isPod = ({ id }: AnyActorRef): boolean => id.startsWith('pod/');

/** Returns the view of the node agent, with all its actors except pods. */
export function nodeView(ref: ActorRefFrom<typeof nodeAgentMachine>, getStateSince: GetStateSince): NodeView {
  const snapshot = ref.getSnapshot();
  const { context } = snapshot;
  return {
    tree: actorTree(ref, { getStateSince, isExcluded: isPod }),
    pods: Object.fromEntries(Object.entries(context.pods).map(([uid, { pod }]) => [uid, namespacedName(pod)])),
    ended: childrenOf<PodRef>(snapshot, 'pod/').filter((pod) => pod.getSnapshot().hasTag('ended')).length,
    runtime: runtimeView(context.health),
    foreign: foreignPods(context),
  };
}
