/** Decides which thresholds take effect, and which conditions the node has (`synchronize` in `eviction_manager.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import { conditionOf, PRESSURE_TYPES, type PressureCondition, type Signal } from './signals.ts';
import { type Threshold, thresholdAmount, thresholdKey } from './thresholds.ts';

/** The measured state of a signal. Amounts are in bytes, inodes or processes. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
  /** Time of the measurement, in milliseconds since the epoch. */
  readonly at: number;
}

export type Observations = Readonly<Partial<Record<Signal, Observation>>>;

/** State that an eviction pass needs from earlier passes. Times are in milliseconds of the monotonic clock. */
export interface PressureState {
  /** Time since which each threshold has been met without interruption, by `thresholdKey`. */
  readonly metSince: Readonly<Record<string, number>>;
  /** Thresholds that have taken effect and are not resolved yet. */
  readonly unresolved: readonly Threshold[];
  /** Time at which any threshold of a condition was last met, by condition. */
  readonly conditionMetAt: Readonly<Partial<Record<PressureCondition, number>>>;
  readonly observations: Observations;
}

export const initialPressure: PressureState = { metSince: {}, unresolved: [], conditionMetAt: {}, observations: {} };

interface PressureInput {
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  /** Time in milliseconds for which a condition remains after its thresholds were last met. */
  readonly transitionMs: number;
  /** Time of the eviction pass, in milliseconds of the monotonic clock. */
  readonly now: number;
}

export interface PressureResult {
  readonly state: PressureState;
  readonly conditions: readonly PressureCondition[];
  /** The thresholds that take effect in this eviction pass, the most urgent first. */
  readonly acting: readonly Threshold[];
}

/**
 * Assesses the observations of an eviction pass. A soft threshold causes a condition even during its grace period. A
 * threshold takes effect only if its signal has been measured again since the previous pass.
 */
export function assessPressure(previous: PressureState, input: PressureInput): PressureResult {
  const { thresholds, observations, transitionMs, now } = input;
  const metThresholds = mergeThresholds(
    thresholdsMet(thresholds, observations),
    thresholdsMet(previous.unresolved, observations, { withMinReclaim: true }),
  );
  const metSince = Object.fromEntries(
    metThresholds.map(thresholdKey).map((key) => [key, lookUp(previous.metSince, key) ?? now] as const),
  );
  const metConditions = new Set(metThresholds.map(({ signal }) => conditionOf(signal)));
  const lastMetAt = (condition: PressureCondition): number =>
    metConditions.has(condition) ? now : (previous.conditionMetAt[condition] ?? -Infinity);
  const conditions = PRESSURE_TYPES.filter((each) => now - lastMetAt(each) < transitionMs);
  const conditionMetAt = Object.fromEntries(conditions.map((each) => [each, lastMetAt(each)] as const));
  const unresolved = metThresholds.filter(
    (each) => now - (lookUp(metSince, thresholdKey(each)) ?? now) >= each.graceMs,
  );
  return {
    state: { metSince, unresolved, conditionMetAt, observations },
    conditions,
    acting: inEvictionOrder(unresolved.filter(({ signal }) => isNewer(signal, observations, previous.observations))),
  };
}

/**
 * Returns the thresholds that are met, regardless of their grace periods. A threshold without an observation of its
 * signal is never met.
 */
export function thresholdsMet(
  thresholds: readonly Threshold[],
  observations: Observations,
  { withMinReclaim = false }: { readonly withMinReclaim?: boolean } = {},
): Threshold[] {
  return thresholds.filter(({ signal, value, minReclaim }) => {
    const observation = observations[signal];
    if (observation === undefined) return false;
    const { available, capacity } = observation;
    const reclaimAmount = withMinReclaim && minReclaim !== undefined ? thresholdAmount(minReclaim, capacity) : 0;
    return available < thresholdAmount(value, capacity) + reclaimAmount;
  });
}

function mergeThresholds(first: readonly Threshold[], second: readonly Threshold[]): Threshold[] {
  const keys = new Set(first.map(thresholdKey));
  return [...first, ...second.filter((each) => !keys.has(thresholdKey(each)))];
}

function isNewer(signal: Signal, observations: Observations, previous: Observations): boolean {
  const [observation, previousObservation] = [observations[signal], previous[signal]];
  if (observation === undefined) return false;
  return previousObservation === undefined || observation.at > previousObservation.at;
}

const MEMORY_SIGNALS: readonly Signal[] = ['memory.available', 'allocatableMemory.available'];

/** Sorts thresholds by urgency. Memory comes first, because the kernel's OOM killer acts when memory runs out. */
export function inEvictionOrder(thresholds: readonly Threshold[]): Threshold[] {
  const rank = ({ signal }: Threshold) => (MEMORY_SIGNALS.includes(signal) ? MEMORY_SIGNALS.indexOf(signal) : 2);
  return thresholds.toSorted((first, second) => rank(first) - rank(second));
}
