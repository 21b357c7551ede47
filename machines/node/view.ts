/** The plain view of the node's own actors: those that serve all pods. */

import type { ActorRefFrom, AnyActorRef, SnapshotFrom } from 'xstate';
import { lookUp } from '../../pod/lookUp.ts';
import { namespacedName } from '../../pod/show/shownName.ts';
import type { ActorView, NamedView, NodeView, RuntimeView, SharedLimiterView } from '../../pod/show/view.ts';
import type { admissionMachine } from '../admission/chart.ts';
import type { Request } from '../admission/context.ts';
import type { cgroupsMachine } from '../cgroups/chart.ts';
import type { limiterMachine } from '../limiter/chart.ts';
import { deadlineOf } from '../pod/context.ts';
import { actorView, childrenOf } from '../shared/actorView.ts';
import type { RuntimeHealth } from '../shared/events.ts';
import { limiterView, type PodRef, type SinceOf } from '../shared/views.ts';
import type { statusSinkMachine } from '../statusSink/chart.ts';
import type { nodeAgentMachine } from './chart.ts';
import type { garbageMachine } from './garbage.ts';
import type { logRotationMachine } from './logRotation.ts';
import { foreignPods } from './own.ts';
import { plegView } from './pleg.ts';
import { sourceView } from './source.ts';

type NodeRef = ActorRefFrom<typeof nodeAgentMachine>;
type SinkRef = ActorRefFrom<typeof statusSinkMachine>;
type NodeSnapshot = SnapshotFrom<typeof nodeAgentMachine>;
type Cyclic =
  | ActorRefFrom<typeof cgroupsMachine>
  | ActorRefFrom<typeof garbageMachine>
  | ActorRefFrom<typeof logRotationMachine>;

/** What the node itself waits for: while it drains, until the last of its pods has had its grace. */
export function nodeOwnView(ref: NodeRef, sinceOf: SinceOf): ActorView {
  const snapshot = ref.getSnapshot();
  const ends = childrenOf<PodRef>(snapshot, 'pod/').flatMap((child) => {
    const pod = child.getSnapshot();
    const { termination } = pod.context;
    return termination && pod.hasTag('stoppingContainers') ? [deadlineOf(termination)] : [];
  });
  const deadline = ends.length > 0 ? Math.max(...ends) : undefined;
  const { fault: failure } = snapshot.context;
  return actorView({ path: ref.id, since: sinceOf(ref), snapshot, moments: { deadline }, failure });
}

/** What the node knows of its runtime. */
export const runtimeView = ({ name, version, ready, since, message, networkNotReady }: RuntimeHealth): RuntimeView => ({
  ...{ name, version, ready },
  ...(since === 0 ? {} : { since }),
  ...(message === undefined ? {} : { message }),
  ...(networkNotReady === undefined ? {} : { networkNotReady }),
});

/** The view of the node agent, with its limiters, admission and what looks after its disk. */
export function nodeView(ref: NodeRef, sinceOf: SinceOf): NodeView {
  const snapshot = ref.getSnapshot();
  const { context } = snapshot;
  return {
    ...nodeOwnView(ref, sinceOf),
    name: context.nodeName,
    pods: Object.fromEntries(Object.entries(context.pods).map(([uid, { pod }]) => [uid, namespacedName(pod)])),
    runtime: runtimeView(context.health),
    limiters: [...sharedLimiter(snapshot, 'start', sinceOf), ...sharedLimiter(snapshot, 'pull', sinceOf)],
    admissions: admissionView(snapshot, sinceOf),
    parts: [
      ...(snapshot.hasTag('steady') ? [cyclicView(ref, 'garbage', sinceOf)] : []),
      cyclicView(ref, 'logRotation', sinceOf),
      ...(isUnused(snapshot) ? [] : [cyclicView(ref, 'cgroups', sinceOf)]),
      plegView(context.pleg, sinceOf(ref)),
      ...sourceViews(ref, sinceOf),
      ...childrenOf<SinkRef>(snapshot, 'statusSink/').map((sink) => sinkView(sink, sinceOf)),
    ],
    foreign: foreignPods(context),
  };
}

function sourceViews(ref: NodeRef, sinceOf: SinceOf): NamedView[] {
  const { sources, sourceStates, desired } = ref.getSnapshot().context;
  const begun = sinceOf(ref);
  return sources.map((source) =>
    sourceView(source, lookUp(sourceStates, source), { begun, hasListed: Object.hasOwn(desired, source) }),
  );
}

function sharedLimiter(node: NodeSnapshot, name: 'start' | 'pull', sinceOf: SinceOf): SharedLimiterView[] {
  return childrenOf<ActorRefFrom<typeof limiterMachine>>(node, `${name}Limiter`).map((ref) => {
    const own = ref.getSnapshot();
    const { slowAfterMs } = own.context;
    // It counts again for whoever gets a slot that is given back, which the limiter's state does not show.
    const [timer] = childrenOf<AnyActorRef>(own, '');
    const moments = timer && slowAfterMs !== undefined ? { dueAt: sinceOf(timer) + slowAfterMs } : {};
    return { ...plainView(ref, sinceOf, moments), ...limiterView(ref), name };
  });
}

function admissionView(node: NodeSnapshot, sinceOf: SinceOf): NodeView['admissions'] {
  const nameOf = ({ pod: { metadata } }: Request) => `${metadata.namespace}/${metadata.name}`;
  return childrenOf<ActorRefFrom<typeof admissionMachine>>(node, 'admission').map((ref) => {
    const { entries, waiting, refused } = ref.getSnapshot().context;
    return {
      ...plainView(ref, sinceOf),
      name: 'admission',
      admitted: entries.filter(({ allocated }) => allocated !== null).length,
      waiting: waiting.map(nameOf),
      refused: refused.map(nameOf),
    };
  });
}

const plainView = (
  ref: ActorRefFrom<typeof limiterMachine> | ActorRefFrom<typeof admissionMachine>,
  sinceOf: SinceOf,
  moments: { readonly dueAt?: number } = {},
) =>
  actorView({
    ...{ path: `nodeAgent/${ref.id}`, since: sinceOf(ref), snapshot: ref.getSnapshot() },
    ...{ moments, failure: undefined },
  });

/** Whether the runtime alone makes cgroups: then there is nothing to tell of them. */
const isUnused = (node: NodeSnapshot): boolean =>
  childrenOf<ActorRefFrom<typeof cgroupsMachine>>(node, 'cgroups').some((ref) => ref.getSnapshot().hasTag('unused'));

/** A sink of statuses, and how many it has yet to take. */
function sinkView(ref: SinkRef, sinceOf: SinceOf): NamedView {
  const snapshot = ref.getSnapshot();
  const { name, due, failed, failure, retryAt } = snapshot.context;
  const left = due.length + failed.length;
  const path = `nodeAgent/${ref.id}`;
  return {
    ...actorView({ path, since: sinceOf(ref), snapshot, moments: { retryAt }, failure }),
    name: `status sink ${name}`,
    notes: left === 0 ? [] : [`${left} ${left === 1 ? 'status' : 'statuses'} to send`],
  };
}

/** What comes round by itself; of one that a fault of its own has ended, that it is broken. */
function cyclicView(node: NodeRef, id: 'cgroups' | 'garbage' | 'logRotation', sinceOf: SinceOf): NamedView {
  const [ref] = childrenOf<Cyclic>(node.getSnapshot(), id);
  const snapshot = ref?.getSnapshot();
  const path = `nodeAgent/${id}`;
  if (ref === undefined || snapshot?.status !== 'active') {
    return { path, name: id, state: 'broken', tags: ['broken'], since: sinceOf(ref ?? node) };
  }
  const { context } = snapshot;
  const since = sinceOf(ref);
  const moments = 'everyMs' in context ? { retryAt: since + context.everyMs } : {};
  const view = { ...actorView({ path, since, snapshot, moments, failure: context.failure }), name: id };
  return 'warnings' in context ? { ...view, notes: context.warnings } : view;
}
