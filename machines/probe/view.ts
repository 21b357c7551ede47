/** What the probes of a container have come to. */
import type { ActorRefFrom } from 'xstate';
import { childrenOf } from '../shared/actorTree.ts';
import type { probeMachine } from './chart.ts';

export type ProbeRef = ActorRefFrom<typeof probeMachine>;

/** The probes that a container has at present. */
export const probeRefs = (snapshot: { children: object }): ProbeRef[] => childrenOf<ProbeRef>(snapshot, 'probe/');

/** What a probe's tries have come to, as its state tells. */
export const resultOf = (probe: ProbeRef): 'unknown' | 'passing' | 'failing' => {
  const snapshot = probe.getSnapshot();
  return snapshot.hasTag('passing') ? 'passing' : snapshot.hasTag('failing') ? 'failing' : 'unknown';
};
