/** Regions of the container's chart, for its drawings. */
import type { Region } from '../drawing/region.ts';

/** Each state belongs to exactly one region. */
export const containerRegions: readonly Region[] = [
  {
    id: 'run',
    title: 'run and restart',
    holds: ['pending', 'launching', 'running', 'ended'],
    open: ['ended'],
    straight: [
      'pending.restarting',
      'pending.choosing',
      'pending.gettingImage',
      'launching.readyToCreate',
      'launching.making.queued',
      'launching.making.creating',
      'launching.making.starting',
      'running.steady',
    ],
    columns: [
      ['pending', 'ended.backingOff'],
      ['launching', 'ended.startFailed'],
      ['running', 'ended.choosing', 'ended.succeeded', 'ended.failed'],
    ],
  },
  { id: 'adoption', title: 'adoption', holds: ['new', 'adopting'] },
  { id: 'stopping', title: 'stopping', holds: ['stopping', 'stopped', 'removing', 'removed'] },
  { id: 'reset', title: 'reset', holds: ['pending.reset', 'ended.awaitingReset'] },
];
