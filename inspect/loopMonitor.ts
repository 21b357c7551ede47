/** How late the event loop is, measured only while somebody looks. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import type { ShownNode } from './protocol.ts';

/** Measures until it is stopped. */
export interface LoopMonitor {
  now(): NonNullable<ShownNode['loop']>;
  stop(): void;
}

const SAMPLE_MS = 3_000;
/** Of one minute. */
const SAMPLES = 20;
const RESOLUTION_MS = 10;

/** Begins to measure; `onSample` is called when there is something new. */
export function monitorLoop(clock: Clock, onSample: () => void): LoopMonitor {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const recent: number[] = [];
  let timer: unknown;
  const sample = () => {
    recent.push(p99Of(histogram.percentile(99)));
    if (recent.length > SAMPLES) recent.shift();
    histogram.reset();
    timer = clock.setTimeout(sample, SAMPLE_MS);
    onSample();
  };
  timer = clock.setTimeout(sample, SAMPLE_MS);
  return {
    now: () => ({ p99Ms: Math.max(0, ...recent), recentMs: [...recent] }),
    stop: () => {
      clock.clearTimeout(timer);
      histogram.disable();
    },
  };
}

/** What is measured is the time between two timers, theirs included; in milliseconds with one decimal. */
const p99Of = (nanoseconds: number): number => Math.round(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) * 10) / 10;
