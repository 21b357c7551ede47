/** Regions of the pod's chart, for its drawings. */
import type { Region } from '../drawing/region.ts';

/** Each state belongs to exactly one region. */
export const podRegions: readonly Region[] = [
  {
    id: 'start',
    title: 'admission and preparation',
    holds: ['new', 'recalling', 'recalled', 'awaitingOthers', 'admitting', 'refused', 'preparing'],
  },
  { id: 'sandbox', title: 'sandbox', holds: ['sandboxing', 'resetting'] },
  { id: 'run', title: 'run', holds: ['active'] },
  { id: 'end', title: 'termination', holds: ['terminating', 'finished', 'terminated', 'broken'] },
];
