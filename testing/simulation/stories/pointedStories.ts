/** Stories for situations that drawn stories rarely reach, because several events have to coincide. */
import { adoptions } from './pointed/adoptions.ts';
import { ambiguousStates } from './pointed/ambiguousStates.ts';
import {
  adoptedRestarts,
  earlyExits,
  lostRuns,
  overlaps,
  runtimeRestarts,
  sharedCgroups,
} from './pointed/coincidences.ts';
import { corruptedManifests, unusualFileNames } from './pointed/files.ts';
import { temporaryPods, unusualHosts } from './pointed/foreignPods.ts';
import { largePods } from './pointed/largePods.ts';
import { launches } from './pointed/launches.ts';
import { objects } from './pointed/objects.ts';
import { podRestarts } from './pointed/podRestarts.ts';
import { earlyEvents, edits, removals, sandboxes } from './pointed/pods.ts';
import type { PointedStory } from './pointed/pointedStory.ts';
import { arrivals, cgroups, preemptions, recreations, resizes, volumes } from './pointed/resources.ts';
import { waits } from './pointed/waits.ts';

/** The stories, keyed by title. */
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
};
