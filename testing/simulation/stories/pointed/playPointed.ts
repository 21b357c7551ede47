import { simulatedCluster } from '../../cluster/simulatedCluster.ts';
import { type Outcome, type PlayOptions, play } from '../play.ts';
import { planTargetedFaults } from '../variants/targetedFaults.ts';
import type { PointedStory } from './pointedStory.ts';

/** Plays a pointed story. `options` cannot set the cluster and the faults, because the story defines them. */
export function playPointed(
  { targetedFaults, inCluster = false, ...story }: PointedStory,
  options: Omit<PlayOptions, 'faults' | 'cluster'>,
): Promise<Outcome> {
  const cluster = inCluster ? simulatedCluster : undefined;
  return play({ seed: 1, faults: [], ...story }, { ...options, cluster, faults: planTargetedFaults(targetedFaults) });
}
