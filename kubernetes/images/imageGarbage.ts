/**
 * Decides which images to remove (`pkg/kubelet/images/image_gc_manager.go`). All times are in milliseconds of the same
 * monotonic clock.
 */
import type { Failure } from '../../base/failure.ts';
import type { EventMessage } from '../events/recordedEvent.ts';

/** Rules that determine when images are removed. */
export interface ImageGarbagePolicy {
  /** Usage of the image filesystem, in percent, at which the node starts to remove images. */
  readonly highThresholdPercent: number;
  /** Usage of the image filesystem, in percent, that the node tries to reach by removing images. */
  readonly lowThresholdPercent: number;
  /** Time for which an image is retained after its first detection, no matter how full the filesystem is. */
  readonly minAgeMs: number;
  /** Time after which an unused image is removed, no matter how empty the filesystem is. 0 means never. */
  readonly maxAgeMs: number;
}

/** The kubelet's defaults. */
export const defaultImageGarbagePolicy: ImageGarbagePolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 120_000,
  maxAgeMs: 0,
};

/**
 * Whether image garbage collection is off, i.e. neither disk usage nor age causes the node to remove images. Evictions
 * still remove unused images.
 */
export const isImageGarbageOff = ({ highThresholdPercent, maxAgeMs }: ImageGarbagePolicy): boolean =>
  highThresholdPercent === 100 && maxAgeMs === 0;

/** An image in the runtime. */
export interface DetectedImage {
  readonly id: string;
  /** Tags and digests. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** Whether the runtime has pinned the image, which must then not be removed. */
  readonly isPinned: boolean;
  /** Descriptions of everything that uses the image or is about to use it. Empty for an unused image. */
  readonly users: readonly string[];
}

/** An image with its history since the agent started. */
export interface ImageRecord extends DetectedImage {
  readonly firstDetectedAt: number;
  /** Time of the latest detection at which the image was in use. Undefined if it was never in use. */
  readonly lastUsedAt: number | undefined;
}

/** Records by image ID. */
export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/**
 * Returns the records, updated with the images that are now in the runtime. Images that the runtime no longer has are
 * dropped.
 */
export function updateImageRecords(
  previous: ImageRecords,
  images: readonly DetectedImage[],
  now: number,
): Map<string, ImageRecord> {
  return new Map(
    images.map((image) => {
      const record = previous.get(image.id);
      const lastUsedAt = image.users.length > 0 ? now : record?.lastUsedAt;
      return [image.id, { ...image, firstDetectedAt: record?.firstDetectedAt ?? now, lastUsedAt }];
    }),
  );
}

/**
 * Returns the images that may be removed, least recently used first. Images with the same last use are sorted by their
 * first detection.
 */
export const removableImages = (records: ImageRecords): ImageRecord[] =>
  [...records.values()]
    .filter(({ users, isPinned }) => users.length === 0 && !isPinned)
    .sort((a, b) => lastUse(a) - lastUse(b) || a.firstDetectedAt - b.firstDetectedAt);

/** A finite time before all others, because the difference of two infinite times is not a number. */
const NEVER_USED = -Number.MAX_SAFE_INTEGER;
const lastUse = ({ lastUsedAt = NEVER_USED }: ImageRecord): number => lastUsedAt;

/**
 * Whether an image has been unused for longer than the maximum age. Always false until the agent, which started at
 * `startedAt`, has run for that long. After that, an image that was never used is treated as infinitely old.
 */
export const isExpired = (
  image: ImageRecord,
  { maxAgeMs }: ImageGarbagePolicy,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): boolean => maxAgeMs > 0 && now - startedAt > maxAgeMs && now - lastUse(image) > maxAgeMs;

/** Whether an image has reached the minimum age. A younger image may have just been pulled for a container. */
export const hasMinimumAge = (
  { firstDetectedAt }: ImageRecord,
  { minAgeMs }: ImageGarbagePolicy,
  now: number,
): boolean => now - firstDetectedAt >= minAgeMs;

/** Capacity and available space, in bytes, of the filesystem that contains the images. */
export interface ImageDisk {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

/** Returns the usage of the filesystem in whole percent, rounded up. */
export const usedPercent = ({ capacityBytes, availableBytes }: ImageDisk): number =>
  100 - Math.floor((Math.min(availableBytes, capacityBytes) * 100) / capacityBytes);

/**
 * Returns the number of bytes to free in order to reach the low threshold, or 0 if the usage is below the high
 * threshold.
 */
export function bytesToFree(disk: ImageDisk, policy: ImageGarbagePolicy): number {
  if (usedPercent(disk) < policy.highThresholdPercent) return 0;
  const { capacityBytes, availableBytes } = disk;
  const wantedBytes = Math.floor((capacityBytes * (100 - policy.lowThresholdPercent)) / 100);
  return wantedBytes - Math.min(availableBytes, capacityBytes);
}

/** Returns the message of the kubelet's event FreeDiskSpaceFailed. */
export const freeSpaceFailedMessage = (disk: ImageDisk, freedBytes: number): string =>
  `Insufficient free disk space on the node's image filesystem (${usedPercent(disk)}% of ${binarySize(disk.capacityBytes)} used). ` +
  `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
  'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size with one decimal (`formatSize`), e.g. `10.0 GiB`. */
function binarySize(bytes: number): string {
  if (bytes < 1024) return `${Math.trunc(bytes)} B`;
  const exponent = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length);
  return `${(bytes / 1024 ** exponent).toFixed(1)} ${UNITS[exponent - 1]}`;
}

/** An image that was removed, either because it had been unused for too long or in order to free space. */
export interface RemovedImage {
  readonly id: string;
  /** One of the image's names, or its ID if it has none. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly reason: 'age' | 'space';
}

/** Result of an image garbage collection. */
export interface ImageCollection {
  /** Number of images in the runtime after the garbage collection, including unused ones. */
  readonly imageCount: number;
  readonly unusedCount: number;
  readonly removed: readonly RemovedImage[];
  /** State of the filesystem before images were removed to free space. Undefined if it was not read. */
  readonly disk?: ImageDisk;
  /** Events about the node. Undefined if there are none. */
  readonly events?: readonly EventMessage[];
  readonly failure?: Failure;
}

/** The use of an image, and when it would be removed. Times are in milliseconds since the epoch. */
export interface ImageUse {
  readonly id: string;
  /** Descriptions of everything that uses the image. Empty for an unused image. */
  readonly users: readonly string[];
  /**
   * Time of the latest detection at which the image was in use, or of its first detection if it was never in use.
   * Undefined while it is in use.
   */
  readonly unusedSince?: number;
  /** Whether the runtime has pinned the image, which is then never removed. */
  readonly isPinned: boolean;
  /**
   * Position in the order in which images are removed to free space, starting at 1. Undefined if the image is not
   * removable.
   */
  readonly position?: number;
  /**
   * Usage of the filesystem, in percent, at which images are removed. Undefined if disk usage never causes the removal
   * of this image.
   */
  readonly thresholdPercent?: number;
  /** Time at which the image exceeds the maximum age. Undefined if there is no maximum age. */
  readonly expiresAt?: number;
}

/** Returns the use of each image. The times in the result are on the same clock as those in the records. */
export function imageUses(records: ImageRecords, policy: ImageGarbagePolicy, startedAt: number): ImageUse[] {
  const positions = new Map(removableImages(records).map(({ id }, index) => [id, index + 1]));
  return [...records.values()].map((record) => {
    const { id, users, isPinned, firstDetectedAt, lastUsedAt } = record;
    const position = positions.get(id);
    return {
      id,
      users,
      isPinned,
      ...(users.length > 0 ? {} : { unusedSince: lastUsedAt ?? firstDetectedAt }),
      ...(position === undefined ? {} : { position }),
      ...(position === undefined || policy.highThresholdPercent === 100
        ? {}
        : { thresholdPercent: policy.highThresholdPercent }),
      ...(position === undefined || policy.maxAgeMs === 0
        ? {}
        : { expiresAt: Math.max(startedAt, lastUsedAt ?? startedAt) + policy.maxAgeMs }),
    };
  });
}
