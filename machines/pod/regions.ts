/** The parts of a pod's chart, for those who look at it. */
import type { Region } from '../drawing/region.ts';

/** Each state is in one of these. */
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
