/** Measures the delay of the event loop while the page has viewers. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../base/time/clock.ts';
import type { ShownNode } from '../protocol.ts';

export interface LoopMonitor {
  now(): NonNullable<ShownNode['loop']>;
  stop(): void;
}

const SAMPLE_INTERVAL_MS = 3_000;
/** Number of samples that cover one minute. */
const MAX_SAMPLES = 20;
const RESOLUTION_MS = 10;

/** Starts measuring. `onSample` is called after each sample. */
export function startLoopMonitor(clock: Clock, onSample: () => void): LoopMonitor {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const recentDelaysMs: number[] = [];
  let timer: unknown;
  const takeSample = () => {
    recentDelaysMs.push(toDelayMs(histogram.percentile(99)));
    if (recentDelaysMs.length > MAX_SAMPLES) recentDelaysMs.shift();
    histogram.reset();
    timer = clock.setTimeout(takeSample, SAMPLE_INTERVAL_MS);
    onSample();
  };
  timer = clock.setTimeout(takeSample, SAMPLE_INTERVAL_MS);
  return {
    now: () => ({ p99Ms: Math.max(0, ...recentDelaysMs), recentMs: [...recentDelaysMs] }),
    stop: () => {
      clock.clearTimeout(timer);
      histogram.disable();
    },
  };
}

/**
 * Converts a delay to milliseconds with one decimal. Subtracts the timer's interval, because the histogram measures the
 * time between two timer events.
 */
const toDelayMs = (nanoseconds: number): number => Math.round(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) * 10) / 10;
