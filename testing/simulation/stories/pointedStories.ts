/** Stories for situations that drawn stories rarely reach, because several events have to coincide. */
import { adoptions } from './pointed/adoptions.ts';
import { endings, foundRestarts, lostRuns, overlaps, returns, sharedCgroups } from './pointed/coincidences.ts';
import { crowds } from './pointed/crowds.ts';
import { doubts } from './pointed/doubts.ts';
import { oddFiles, spoiled } from './pointed/files.ts';
import { launches } from './pointed/launches.ts';
import { objects } from './pointed/objects.ts';
import { hosts, visits } from './pointed/others.ts';
import { beginnings, edits, removals, sandboxes } from './pointed/pods.ts';
import type { PointedStory } from './pointed/pointedStory.ts';
import { cgroups, preemptions, recreations, resizes, volumes } from './pointed/resources.ts';
import { restartsOfAll } from './pointed/restartsOfAll.ts';
import { waits } from './pointed/waits.ts';

/** The stories, keyed by title. */
export const pointedStories: Readonly<Record<string, PointedStory>> = {
  ...beginnings,
  ...preemptions,
  ...recreations,
  ...resizes,
  ...sandboxes,
  ...edits,
  ...removals,
  ...restartsOfAll,
  ...launches,
  ...volumes,
  ...cgroups,
  ...endings,
  ...returns,
  ...foundRestarts,
  ...lostRuns,
  ...overlaps,
  ...sharedCgroups,
  ...adoptions,
  ...waits,
  ...doubts,
  ...visits,
  ...hosts,
  ...spoiled,
  ...oddFiles,
  ...objects,
  ...crowds,
};
