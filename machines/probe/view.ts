/** What the probes of a container show of themselves. */
import type { ActorRefFrom, AnyActorRef } from 'xstate';
import type { ProbeView } from '../../pod/show/view.ts';
import { actorView, childrenOf } from '../shared/actorTree.ts';
import type { probeMachine } from './chart.ts';
import { failuresOf } from './context.ts';

export type ProbeRef = ActorRefFrom<typeof probeMachine>;

/** The probes that a container has at present. */
export const probeRefs = (snapshot: { children: object }): ProbeRef[] => childrenOf<ProbeRef>(snapshot, 'probe/');

/** What a probe's tries have come to, as its state tells. */
export const resultOf = (probe: ProbeRef): ProbeView['result'] => {
  const snapshot = probe.getSnapshot();
  return snapshot.hasTag('passing') ? 'passing' : snapshot.hasTag('failing') ? 'failing' : 'unknown';
};

/** The views of the probes that a container has at present; `container` is its path. */
export function probeViews(
  container: string,
  snapshot: { children: object },
  sinceOf: (ref: AnyActorRef) => number,
): ProbeView[] {
  return probeRefs(snapshot).map((ref) => {
    const own = ref.getSnapshot();
    const { kind } = own.context;
    const failures = failuresOf(own.context);
    const actor = actorView(ref, `${container}/${ref.id}`, sinceOf);
    return { ...actor, kind, result: resultOf(ref), ...(failures ? { failures } : {}) };
  });
}
