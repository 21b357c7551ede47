/**
 * Eviction thresholds, i.e. the amounts of available resources below which the node evicts pods
 * (`pkg/kubelet/eviction/helpers.go`).
 */

import { lookUp } from '../../base/values/lookUp.ts';
import { parseDuration } from '../api/values/parseDuration.ts';
import { canonicalQuantity, nanosOf } from '../api/values/quantity.ts';
import { formatBinary, roundedAmountText } from './amounts.ts';
import type { DiskLayout } from './layout.ts';
import { isSignal, SIGNALS, type Signal } from './signals.ts';

/** A threshold. It is met while less than `value` of the signal's resource is available. */
export interface Threshold {
  readonly signal: Signal;
  /** A quantity such as `100Mi`, or a percentage of the capacity such as `10%`. */
  readonly value: string;
  /** Time in milliseconds for which a soft threshold has to be met before it takes effect. 0 for a hard threshold. */
  readonly graceMs: number;
  /** Amount that must be available beyond `value` before a threshold that has taken effect is considered resolved. */
  readonly minReclaim?: string;
}

type SignalTexts = Readonly<Record<string, string | undefined>>;

/** The validated settings from which thresholds are compiled. Each setting maps signals to strings. */
export interface ThresholdSettings {
  readonly hard?: SignalTexts | undefined;
  readonly soft?: SignalTexts | undefined;
  readonly softGracePeriod?: SignalTexts | undefined;
  readonly minimumReclaim?: SignalTexts | undefined;
  /**
   * Whether the resource limit for all pods together is enforced, in which case the total memory of the pods has
   * thresholds of its own.
   */
  readonly enforcesAllocatable: boolean;
}

/**
 * Compiles the thresholds, hard ones first (`ParseThresholdConfig`). The hard threshold for the node's memory also
 * applies to the total memory of all pods. A threshold of 0% or 100% is disabled.
 */
export function compileThresholds(settings: ThresholdSettings): readonly Threshold[] {
  const { hard, soft, softGracePeriod, minimumReclaim, enforcesAllocatable } = settings;
  const compile = (texts: SignalTexts = {}, graceMs: (signal: Signal) => number): Threshold[] =>
    SIGNALS.flatMap((signal) => {
      const value = lookUp(texts, signal);
      if (value === undefined || value === '0%' || value === '100%') return [];
      const minReclaim = lookUp(minimumReclaim, signal);
      return [{ signal, value, graceMs: graceMs(signal), ...(minReclaim === undefined ? {} : { minReclaim }) }];
    });
  const thresholds = [
    ...compile(hard, () => 0),
    ...compile(soft, (signal) => parseDuration(lookUp(softGracePeriod, signal) ?? '') ?? 0),
  ];
  const memoryThresholds = thresholds.filter((each) => each.signal === 'memory.available' && isHard(each));
  const allocatableThresholds = memoryThresholds.map(
    (each): Threshold => ({ ...each, signal: 'allocatableMemory.available' }),
  );
  return enforcesAllocatable ? [...thresholds, ...allocatableThresholds] : thresholds;
}

/** Whether a threshold takes effect as soon as it is met. */
export const isHard = ({ graceMs }: Threshold): boolean => graceMs === 0;

/**
 * Replaces the thresholds of containerfs with those of the file system that contains the writable layers of containers
 * (`UpdateContainerFsThresholds`), because Kubernetes does not support separate thresholds for containerfs.
 */
export function withContainerFsThresholds(thresholds: readonly Threshold[], layout: DiskLayout): readonly Threshold[] {
  const source = layout === 'separateImages' ? 'imagefs' : 'nodefs';
  const otherThresholds = thresholds.filter(({ signal }) => !signal.startsWith('containerfs.'));
  const containerFsThresholds = otherThresholds.flatMap((threshold): Threshold[] => {
    const [fileSystem, amount] = threshold.signal.split('.');
    const signal = `containerfs.${amount}`;
    return fileSystem === source && isSignal(signal) ? [{ ...threshold, signal }] : [];
  });
  return [...otherThresholds, ...containerFsThresholds];
}

/** Returns a key that identifies a threshold across eviction passes. */
export const thresholdKey = ({ signal, value, graceMs }: Threshold): string => `${signal}<${value}/${graceMs}`;

/** Returns the fraction of a percentage such as `10%`, with the precision of the kubelet. */
function fractionOf(percentage: string): number {
  return Math.fround(Math.fround(Number.parseFloat(percentage)) / 100);
}

const isPercentage = (value: string): boolean => value.endsWith('%');

/** Returns the amount of a threshold or minimum reclaim in units of its resource (`GetThresholdQuantity`). */
export function thresholdAmount(value: string, capacity: number): number {
  return isPercentage(value) ? Math.trunc(capacity * fractionOf(value)) : Number(nanosOf(value)) / 1e9;
}

/** Formats the amount of a threshold for messages. */
export const thresholdText = (value: string, capacity: number): string =>
  isPercentage(value) ? formatBinary(thresholdAmount(value, capacity)) : canonicalQuantity(value);

/**
 * Formats a threshold for explanations, as it is written in the settings. A percentage is followed by the amount that
 * it stands for, e.g. `10% (25802Mi)`.
 */
export const explainedThreshold = ({ signal, value }: Threshold, capacity: number | undefined): string =>
  isPercentage(value) && capacity !== undefined
    ? `${value} (${roundedAmountText(signal, thresholdAmount(value, capacity))})`
    : value;
