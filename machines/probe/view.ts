/** What the probes of a container show of themselves. */
import type { ActorRefFrom, AnyActorRef } from 'xstate';
import type { ProbeView } from '../../pod/show/view.ts';
import { actorView, childrenOf } from '../shared/actorTree.ts';
import type { probeMachine } from './chart.ts';
import { failuresOf } from './context.ts';

type ProbeRef = ActorRefFrom<typeof probeMachine>;

/** The probes that a container has at present. */
export const probeRefs = (snapshot: { children: object }): ProbeRef[] => childrenOf<ProbeRef>(snapshot, 'probe/');

/** The views of the probes that a container has at present; `container` is its path. */
export function probeViews(
  container: string,
  snapshot: { children: object },
  sinceOf: (ref: AnyActorRef) => number,
): ProbeView[] {
  return probeRefs(snapshot).map((ref) => {
    const own = ref.getSnapshot();
    const { kind } = own.context;
    const result = own.hasTag('passing') ? 'passing' : own.hasTag('failing') ? 'failing' : 'unknown';
    const failures = failuresOf(own.context);
    return { ...actorView(ref, `${container}/${ref.id}`, sinceOf), kind, result, ...(failures ? { failures } : {}) };
  });
}
