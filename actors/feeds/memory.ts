/**
 * Reports when the available memory drops below an eviction threshold, so that the eviction does not have to wait for
 * the next periodic check. The kubelet is notified by the kernel (`kernelMemcgNotification`). Node.js cannot receive
 * these notifications, so this feed reads the memory every second instead.
 */
import type { Clock } from '../../base/time/clock.ts';
import { thresholdsMet } from '../../kubernetes/eviction/pressure.ts';
import { resourceOf } from '../../kubernetes/eviction/signals.ts';
import { type Threshold, thresholdKey } from '../../kubernetes/eviction/thresholds.ts';
import { createAlarm } from '../alarm.ts';
import type { FactFeed } from '../boundary.ts';
import type { ResourceMeter } from '../services/eviction/eviction.ts';

interface MemoryFeedDependencies {
  /** Undefined if the node evicts no pods. */
  readonly resourceMeter?: Pick<ResourceMeter, 'readMemory'> | undefined;
  readonly thresholds: readonly Threshold[];
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
}

const CHECK_INTERVAL_MS = 1_000;

/** Creates the feed. It sends a fact for each threshold that is newly met. */
export function createMemoryFeed({ resourceMeter, thresholds, clock, onError }: MemoryFeedDependencies): FactFeed {
  const memoryThresholds = thresholds.filter(({ signal }) => resourceOf(signal) === 'memory');
  return (send, { signal }) => {
    if (resourceMeter === undefined || memoryThresholds.length === 0) return;
    const alarm = createAlarm(clock, signal);
    let metThresholdKeys: readonly string[] = [];
    const checkThresholds = () => {
      const currentThresholdKeys = thresholdsMet(memoryThresholds, resourceMeter.readMemory()).map(thresholdKey);
      const isNewlyMet = currentThresholdKeys.some((key) => !metThresholdKeys.includes(key));
      metThresholdKeys = currentThresholdKeys;
      if (isNewlyMet) send({ type: 'memory.thresholdMet', at: clock.now() });
    };
    const checkRepeatedly = async () => {
      while (!signal.aborted) {
        try {
          checkThresholds();
        } catch (error) {
          onError('memory', error);
        }
        await alarm.waitUntil(clock.now() + CHECK_INTERVAL_MS);
      }
    };
    return checkRepeatedly();
  };
}
