/**
 * Defines the upper bounds of the kubelet's histogram buckets, in seconds (`pkg/kubelet/metrics/metrics.go`,
 * `component-base/metrics/buckets.go`).
 */

export const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Returns exponential bounds. Multiplies step by step like Go, because computing powers would round differently. */
function exponentialBuckets(first: number, factor: number, count: number): readonly number[] {
  const bounds = [first];
  while (bounds.length < count) bounds.push(Number(bounds.at(-1)) * factor);
  return bounds;
}

export const RUNTIME_BUCKETS = exponentialBuckets(0.005, 2.5, 14);

/** Buckets for the duration of a pod's admission, in milliseconds. */
export const ADMISSION_BUCKETS_MS = exponentialBuckets(0.05, 2, 15);

export const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

export const PULL_BUCKETS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];

export const STATUS_SYNC_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60];

export const RESIZE_BUCKETS_MS = [
  10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];

export const BODY_SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** Buckets of the remaining lifetime of client certificates (`request/x509/x509.go` of apiserver). */
export const EXPIRATION_BUCKETS = [
  0, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
  31_104_000,
];

export const REVIEW_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

/** Buckets of the age at which certificates are replaced. */
export const AGE_BUCKETS = [3_600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000];

/** Buckets of operations on claims, from 0.1 s to 40 s, because a call to a driver takes at most 45 s. */
export const CLAIM_BUCKETS = [
  0.1, 0.1534127404634391, 0.23535468936502524, 0.36106407876409946, 0.5539182980610752, 0.8497812409839365,
  1.3036726897376782, 2, 3.0682548092687814, 4.707093787300507, 7.221281575281991, 11.078365961221504,
  16.99562481967872, 26.073453794753576, 40,
];

export const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
