import type { ForeignPod } from '../../kubernetes/lifecycle/observed.ts';
import type { NodeContext } from '../../machines/node/context.ts';
import { foreignPods } from '../../machines/node/pods/own.ts';
import { runtimeView } from '../../machines/node/view.ts';
import { actorView } from '../../machines/shared/views/actorTree.ts';
import { limiterView } from '../../machines/shared/views/views.ts';
import type { ActorView, RuntimeView } from '../../show/actors/actorNode.ts';
import type { StateEntryMap } from '../status/sinceMap.ts';
import type { RootActor } from './rootActor.ts';

/** The state of the node, as shown in tables and served on the socket. */
export interface NodeOverview extends Pick<ActorView, 'state' | 'tags' | 'since' | 'waitingFor' | 'until'> {
  readonly runtime: RuntimeView;
  readonly foreign: readonly ForeignPod[];
  readonly problems: NodeContext['problems'][string];
  readonly warnings: NodeContext['warnings'][string];
  readonly limiters: { readonly start: ReturnType<typeof limiterView>; readonly pull: ReturnType<typeof limiterView> };
}

export function readLimiters(root: RootActor): NodeOverview['limiters'] {
  const { startLimiter, pullLimiter } = root.getSnapshot().children;
  return { start: limiterView(startLimiter), pull: limiterView(pullLimiter) };
}

export function createOverview({
  root,
  since,
}: {
  readonly root: RootActor;
  readonly since: StateEntryMap;
}): NodeOverview {
  const { context } = root.getSnapshot();
  return {
    ...actorView(root, since.enteredAt),
    runtime: runtimeView(context.health),
    foreign: foreignPods(context),
    problems: Object.values(context.problems).flat(),
    warnings: Object.values(context.warnings).flat(),
    limiters: readLimiters(root),
  };
}
