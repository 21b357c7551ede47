/** Stories of situations that random stories rarely reach, because several events have to coincide. */
import { adoptions } from './adoptions.ts';
import { ambiguousStates } from './ambiguousStates.ts';
import { claims } from './claims.ts';
import { adoptedRestarts, earlyExits, lostRuns, overlaps, runtimeRestarts, sharedCgroups } from './coincidences.ts';
import { devices } from './devices.ts';
import { corruptedManifests, unusualFileNames } from './files.ts';
import { temporaryPods, unusualHosts } from './foreignPods.ts';
import { images } from './images.ts';
import { largePods } from './largePods.ts';
import { launches } from './launches.ts';
import { objects } from './objects.ts';
import { podRestarts } from './podRestarts.ts';
import { earlyEvents, edits, removals, sandboxes } from './pods.ts';
import type { PointedStory } from './pointedStory.ts';
import { arrivals, cgroups, preemptions, recreations, resizes, volumes } from './resources.ts';
import { shortages } from './shortages.ts';
import { repeatedShutdowns, shutdowns } from './shutdowns.ts';
import { waits } from './waits.ts';

/** Stories by title. */
export const pointedStories: Readonly<Record<string, PointedStory>> = {
  ...arrivals,
  ...earlyEvents,
  ...preemptions,
  ...recreations,
  ...resizes,
  ...sandboxes,
  ...edits,
  ...removals,
  ...podRestarts,
  ...launches,
  ...volumes,
  ...cgroups,
  ...earlyExits,
  ...runtimeRestarts,
  ...adoptedRestarts,
  ...lostRuns,
  ...overlaps,
  ...sharedCgroups,
  ...adoptions,
  ...waits,
  ...ambiguousStates,
  ...temporaryPods,
  ...unusualHosts,
  ...corruptedManifests,
  ...unusualFileNames,
  ...objects,
  ...largePods,
  ...images,
  ...shortages,
  ...shutdowns,
  ...repeatedShutdowns,
  ...devices,
  ...claims,
};
