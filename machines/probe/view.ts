/** Collects the results of a container's probes. */
import type { ActorRefFrom } from 'xstate';
import { childrenOf } from '../shared/views/actorTree.ts';
import type { probeMachine } from './chart.ts';

export type ProbeRef = ActorRefFrom<typeof probeMachine>;

export const probeRefs = (snapshot: { children: object }): ProbeRef[] => childrenOf<ProbeRef>(snapshot, 'probe/');

export const probeState = (probe: ProbeRef): 'unknown' | 'passing' | 'failing' => {
  const snapshot = probe.getSnapshot();
  return snapshot.hasTag('passing') ? 'passing' : snapshot.hasTag('failing') ? 'failing' : 'unknown';
};
