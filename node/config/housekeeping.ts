import { parseQuantity, wholeValue } from '../../kubernetes/api/quantity.ts';
import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';

/** The settings for log rotation and for the removal of dead containers. */
export interface HousekeepingConfig {
  readonly logs: {
    /** Size at which a log is rotated. Infinity if logs are never rotated. */
    readonly maxBytes: number;
    readonly maxFiles: number;
    readonly workers: number;
    readonly checkMs: number;
  };
  /** Maximum numbers of dead containers. */
  readonly garbage: { readonly perContainer: number; readonly total: number };
}

const DEFAULT_LOG_SIZE = '10Mi';

/** Returns a limit, where a negative number means no limit. */
const limitOf = (count: number): number => (count < 0 ? Infinity : count);

/** Compiles the settings. A flag takes precedence over the file. */
export function housekeepingOf(flags: Flags, file: KubeletConfiguration | undefined): HousekeepingConfig {
  const size = String(file?.containerLogMaxSize || DEFAULT_LOG_SIZE);
  return Object.freeze({
    logs: Object.freeze({
      maxBytes: (parseQuantity(size) ?? 0n) < 0n ? Infinity : wholeValue(size),
      maxFiles: file?.containerLogMaxFiles ?? 5,
      workers: file?.containerLogMaxWorkers ?? 1,
      checkMs: file?.containerLogMonitorInterval ?? 10_000,
    }),
    garbage: Object.freeze({
      perContainer: limitOf(flags['--maximum-dead-containers-per-container'] ?? 1),
      total: limitOf(flags['--maximum-dead-containers'] ?? -1),
    }),
  });
}
