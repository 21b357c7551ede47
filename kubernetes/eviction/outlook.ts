/**
 * Predicts when thresholds will be met and which pods would then be evicted. The predictions are only explanations and
 * do not affect any decision.
 */

import type { Pod } from '../api/schema/pod.ts';
import { displayName } from '../shownName.ts';
import type { DiskLayout } from './layout.ts';
import { type Observation, type Observations, thresholdsMet } from './pressure.ts';
import { isEvictable, type RankedPod, rankingReason, rankPods, selectVictim } from './ranking.ts';
import type { Signal } from './signals.ts';
import { type Threshold, thresholdAmount } from './thresholds.ts';
import type { PodUsages } from './usage.ts';

/** Minimum time in milliseconds over which a rate is computed, because short-term rates fluctuate. */
const MIN_RATE_MS = 60_000;

/**
 * Returns the time in milliseconds until less than `amount` is available, provided that the available amount continues
 * to fall as fast as it has since an earlier observation. Returns 0 if less is already available. Returns undefined if
 * the amount has not fallen, or if the earlier observation is less than a minute older than the current one.
 */
export function timeUntilBelow(
  amount: number,
  { available, at }: Observation,
  earlierObservation: Observation | undefined,
): number | undefined {
  if (available < amount) return 0;
  if (
    earlierObservation === undefined ||
    at - earlierObservation.at < MIN_RATE_MS ||
    earlierObservation.available <= available
  )
    return undefined;
  const fallPerMs = (earlierObservation.available - available) / (at - earlierObservation.at);
  return (available - amount) / fallPerMs;
}

export interface EvictionFigures {
  /** The thresholds, including those of containerfs. */
  readonly thresholds: readonly Threshold[];
  readonly layout: DiskLayout;
  readonly observations: Observations;
  readonly usages: PodUsages;
}

/** A pod that would be evicted, with the reason for its rank. */
export interface PredictedVictim {
  readonly pod: string;
  readonly reason: string;
}

export interface PredictedEvictions {
  /** The threshold that would take effect first. Undefined if none is met. */
  readonly threshold: Threshold | undefined;
  /** The pods in the order in which they would be evicted. */
  readonly victims: readonly PredictedVictim[];
  /** Whether evicting these pods would resolve the threshold. */
  readonly isSufficient: boolean;
}

/** Returns the pod that would be evicted first for a signal, whether or not a threshold is met. */
export function nextVictim(
  pods: readonly Pod[],
  { usages, layout }: EvictionFigures,
  signal: Signal,
): PredictedVictim | undefined {
  const victim = selectVictim(rankPods({ pods, usages, signal, layout }));
  return victim && predictedVictim(signal, victim);
}

/**
 * Predicts the evictions if only `available` remained of the signal's resource, assuming that each eviction frees the
 * pod's current usage. Pods may be evicted later than predicted, or not at all, because the node first tries to reclaim
 * an amount that cannot be predicted.
 */
export function predictEvictions(
  pods: readonly Pod[],
  { thresholds, layout, observations, usages }: EvictionFigures,
  { signal, available }: { readonly signal: Signal; readonly available: number },
): PredictedEvictions {
  const capacity = observations[signal]?.capacity ?? available;
  const hypotheticalObservations = { [signal]: { available, capacity, at: 0 } };
  const [threshold] = thresholdsMet(thresholds, hypotheticalObservations);
  if (threshold === undefined) return { threshold, victims: [], isSufficient: true };
  const { value, minReclaim } = threshold;
  const wantedAmount = thresholdAmount(value, capacity) + (minReclaim ? thresholdAmount(minReclaim, capacity) : 0);
  const victims: PredictedVictim[] = [];
  let expectedAmount = available;
  for (const rankedPod of rankPods({ pods, usages, signal, layout }).filter(isEvictable)) {
    if (expectedAmount >= wantedAmount) break;
    victims.push(predictedVictim(signal, rankedPod));
    expectedAmount += rankedPod.used;
  }
  return { threshold, victims, isSufficient: expectedAmount >= wantedAmount };
}

const predictedVictim = (signal: Signal, rankedPod: RankedPod): PredictedVictim => ({
  pod: displayName(rankedPod.pod.metadata),
  reason: rankingReason(signal, rankedPod),
});
