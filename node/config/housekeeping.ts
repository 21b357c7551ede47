import { parseQuantity, wholeValue } from '../../kubernetes/api/quantity.ts';
import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';

/** What is kept of containers that have ended, and of the logs of those that run. */
export interface HousekeepingConfig {
  readonly logs: {
    /** Infinity: logs are never rotated. */
    readonly maxBytes: number;
    readonly maxFiles: number;
    readonly workers: number;
    readonly checkMs: number;
  };
  /** How many dead containers are kept. */
  readonly garbage: { readonly perContainer: number; readonly total: number };
}

const DEFAULT_LOG_SIZE = '10Mi';

/** A negative number bounds nothing. */
const bound = (count: number): number => (count < 0 ? Infinity : count);

/** Compiles what is kept; a flag wins over the file. */
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
      perContainer: bound(flags['--maximum-dead-containers-per-container'] ?? 1),
      total: bound(flags['--maximum-dead-containers'] ?? -1),
    }),
  });
}
