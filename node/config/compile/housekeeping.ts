import { parseQuantity, wholeValue } from '../../../kubernetes/api/values/quantity.ts';
import type { ImageGarbagePolicy } from '../../../kubernetes/images/imageGarbage.ts';
import type { GarbagePolicy } from '../../../kubernetes/lifecycle/garbage.ts';
import type { SettingValues } from '../settings/settingValues.ts';

/** Settings for log rotation and for the removal of dead containers and unused images. */
export interface HousekeepingConfig {
  readonly logRotation: {
    /** Size in bytes at which a log is rotated. Infinity if logs are never rotated. */
    readonly maxBytes: number;
    readonly maxFiles: number;
    readonly workers: number;
    readonly checkMs: number;
  };
  /** Maximum number of dead containers that are retained, per container and in total. */
  readonly deadContainerLimits: Required<GarbagePolicy>;
  readonly imageGarbage: ImageGarbagePolicy;
}

/** Converts a configured limit. A negative number means no limit. */
const toLimit = (count: number): number => (count < 0 ? Infinity : count);

export function compileHousekeeping(values: SettingValues): HousekeepingConfig {
  const size = String(values.containerLogMaxSize);
  return Object.freeze({
    logRotation: Object.freeze({
      maxBytes: (parseQuantity(size) ?? 0n) < 0n ? Infinity : wholeValue(size),
      maxFiles: values.containerLogMaxFiles,
      workers: values.containerLogMaxWorkers,
      checkMs: values.containerLogMonitorInterval,
    }),
    deadContainerLimits: Object.freeze({
      perContainer: toLimit(values['--maximum-dead-containers-per-container']),
      total: toLimit(values['--maximum-dead-containers']),
      minAgeMs: values['--minimum-container-ttl-duration'],
    }),
    imageGarbage: Object.freeze({
      highThresholdPercent: values.imageGCHighThresholdPercent,
      lowThresholdPercent: values.imageGCLowThresholdPercent,
      minAgeMs: values.imageMinimumGCAge,
      maxAgeMs: values.imageMaximumGCAge,
    }),
  });
}
