/** Explains how far the node is from evicting pods, and which pods it would evict. */
import { humanDuration } from '../../base/time/duration.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { amountText, roundedAmountText } from '../../kubernetes/eviction/amounts.ts';
import {
  type EvictionFigures,
  nextVictim,
  type PredictedVictim,
  predictEvictions,
  timeUntilBelow,
} from '../../kubernetes/eviction/outlook.ts';
import type { Observations } from '../../kubernetes/eviction/pressure.ts';
import type { Signal } from '../../kubernetes/eviction/signals.ts';
import { explainedThreshold, isHard, type Threshold, thresholdAmount } from '../../kubernetes/eviction/thresholds.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';

/** A hypothetical shortage, given as the amount of a signal's resource that would be left. */
export interface HypotheticalShortage {
  readonly signal: Signal;
  readonly available: number;
}

/**
 * Returns a sentence for each threshold, such as `memory.available: 2Gi of 4Gi left, evicts below 100Mi; at the present
 * rate in 12m`. `earlier` contains older observations, from which the rates are computed.
 */
export function thresholdSentences(
  thresholds: readonly Threshold[],
  observations: Observations,
  earlier: Observations = {},
): string[] {
  return thresholds.map((threshold) => {
    const { signal, value } = threshold;
    const observation = observations[signal];
    if (observation === undefined) return `${signal}: not measured, evicts below ${value}${graceText(threshold)}`;
    const { available, capacity } = observation;
    const amounts = `${roundedAmountText(signal, available)} of ${roundedAmountText(signal, capacity)} left`;
    const limit = `evicts below ${explainedThreshold(threshold, capacity)}${graceText(threshold)}`;
    const remainingMs = timeUntilBelow(thresholdAmount(value, capacity), observation, earlier[signal]);
    return `${signal}: ${amounts}, ${limit}${remainingText(remainingMs)}`;
  });
}

const graceText = (threshold: Threshold): string =>
  isHard(threshold) ? '' : ` for ${humanDuration(threshold.graceMs)}`;

function remainingText(remainingMs: number | undefined): string {
  if (remainingMs === undefined) return '';
  return remainingMs === 0 ? '; it is below that now' : `; at the present rate in ${humanDuration(remainingMs)}`;
}

/**
 * Returns sentences about the pods that the node would evict first or, if `shortage` is set, about the pods that it
 * would evict in this hypothetical shortage.
 */
export function evictionSentences(
  allPods: readonly Pod[],
  figures: EvictionFigures,
  shortage?: HypotheticalShortage,
): string[] {
  const pods = allPods.filter(({ status }) => !isTerminalPhase(status?.phase));
  return shortage === undefined ? victimSentences(pods, figures) : predictionSentences(pods, figures, shortage);
}

/**
 * Returns one sentence for each pod that would be the first to be evicted for at least one eviction signal. The
 * sentence starts with a list of these signals.
 */
function victimSentences(pods: readonly Pod[], figures: EvictionFigures): string[] {
  const signals = [...new Set(figures.thresholds.map(({ signal }) => signal))];
  const signalsBySentence = Map.groupBy(signals, (signal) => victimSentence(nextVictim(pods, figures, signal)));
  return Array.from(signalsBySentence, ([sentence, victimSignals]) => `${victimSignals.join(', ')}: ${sentence}`);
}

const victimSentence = (victim: PredictedVictim | undefined): string =>
  victim === undefined
    ? 'no pod could be evicted, because all of them are critical'
    : `the first pod to be evicted would be ${victim.pod}, because ${victim.reason}`;

function predictionSentences(
  pods: readonly Pod[],
  figures: EvictionFigures,
  { signal, available }: HypotheticalShortage,
): string[] {
  const { threshold, victims, isSufficient } = predictEvictions(pods, figures, { signal, available });
  const shortage = `if ${signal} were ${amountText(signal, available)}`;
  if (threshold === undefined) return [`${shortage}, no pod would be evicted, because no threshold would be met`];
  const capacity = figures.observations[signal]?.capacity;
  const limit = `below ${explainedThreshold(threshold, capacity)}${graceText(threshold)}`;
  if (victims.length === 0)
    return [`${shortage}, which is ${limit}, no pod could be evicted, because all are critical`];
  return [
    `${shortage}, which is ${limit}, these pods would be evicted in this order, if nothing else could be reclaimed:`,
    ...victims.map(({ pod, reason }) => `${pod}: ${reason}`),
    ...(isSufficient ? [] : ['and even that would not suffice']),
  ];
}
