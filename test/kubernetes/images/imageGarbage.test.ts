import { describe, expect, test } from '@jest/globals';
import {
  bytesToFree,
  type DetectedImage,
  defaultImageGarbagePolicy,
  freeSpaceFailedMessage,
  hasMinimumAge,
  type ImageRecords,
  isExpired,
  isImageGarbageOff,
  removableImages,
  updateImageRecords,
  usedPercent,
} from '../../../kubernetes/images/imageGarbage.ts';

const MINUTE = 60_000;

const image = (id: string, users: readonly string[] = [], isPinned = false): DetectedImage => ({
  id,
  names: [`${id}:1`],
  sizeBytes: 1,
  isPinned,
  users,
});

/** The records after several detections, each at its time in minutes. */
const detected = (...detections: readonly (readonly [minute: number, images: readonly DetectedImage[]])[]) =>
  detections.reduce<ImageRecords>(
    (records, [minute, images]) => updateImageRecords(records, images, minute * MINUTE),
    new Map(),
  );

const order = (records: ImageRecords) => removableImages(records).map(({ id }) => id);

describe('the records of images', () => {
  test('C47: retain the first detection and the last use, and drop images that are gone', () => {
    const records = detected([0, [image('a', ['web']), image('b')]], [5, [image('a'), image('c', ['web'])]]);
    expect(
      [...records.values()].map(({ id, firstDetectedAt, lastUsedAt }) => [id, firstDetectedAt, lastUsedAt]),
    ).toEqual([
      ['a', 0, 0],
      ['c', 5 * MINUTE, 5 * MINUTE],
    ]);
  });

  test('C47: an image that returns counts as new', () => {
    const records = detected([0, [image('a')]], [5, []], [10, [image('a')]]);
    expect(records.get('a')?.firstDetectedAt).toBe(10 * MINUTE);
  });
});

describe('the order of removal', () => {
  test('C47: images that were never used are removed first, then the least recently used', () => {
    const records = detected(
      [0, [image('recent', ['x']), image('earlier', ['x']), image('never')]],
      [5, [image('recent', ['x']), image('earlier'), image('never')]],
      [10, [image('recent'), image('earlier'), image('never')]],
    );
    expect(order(records)).toEqual(['never', 'earlier', 'recent']);
  });

  test('C47: of images with the same last use, the first detected is removed first', () => {
    expect(order(detected([0, [image('old')]], [5, [image('new'), image('old')]]))).toEqual(['old', 'new']);
  });

  test('C47: images that are in use or pinned are never removed', () => {
    expect(order(detected([0, [image('used', ['x']), image('pinned', [], true), image('free')]]))).toEqual(['free']);
  });
});

describe('the age of an image', () => {
  const policy = { ...defaultImageGarbagePolicy, maxAgeMs: 10 * MINUTE };
  const [record] = detected([0, [image('a', ['x'])]], [5, [image('a')]]).values();
  const [neverUsed] = detected([14, [image('a')]]).values();

  test.each([
    { at: 10, startedAt: 0, expired: false },
    { at: 10.01, startedAt: 0, expired: true },
    { at: 15, startedAt: 5, expired: false },
  ])('C47: an image unused for 10 minutes expires at $at if the agent started at $startedAt: $expired', (vector) => {
    const { at, startedAt, expired } = vector;
    if (record === undefined) throw new Error('there is no record');
    expect(isExpired(record, policy, { now: at * MINUTE, startedAt: startedAt * MINUTE })).toBe(expired);
  });

  test('C47: an image that was never used is infinitely old, however young it is', () => {
    if (neverUsed === undefined) throw new Error('there is no record');
    expect(isExpired(neverUsed, policy, { now: 15 * MINUTE, startedAt: 0 })).toBe(true);
    expect(isExpired(neverUsed, policy, { now: 9 * MINUTE, startedAt: 0 })).toBe(false);
    expect(isExpired(neverUsed, defaultImageGarbagePolicy, { now: 1e12, startedAt: 0 })).toBe(false);
  });

  test('C47: an image is retained for two minutes after its first detection', () => {
    if (neverUsed === undefined) throw new Error('there is no record');
    expect(hasMinimumAge(neverUsed, defaultImageGarbagePolicy, 16 * MINUTE - 1)).toBe(false);
    expect(hasMinimumAge(neverUsed, defaultImageGarbagePolicy, 16 * MINUTE)).toBe(true);
  });
});

describe('the thresholds', () => {
  test.each([
    { capacityBytes: 1000, availableBytes: 600, high: 90, low: 80, used: 40, free: 0 },
    { capacityBytes: 1000, availableBytes: 50, high: 90, low: 80, used: 95, free: 150 },
    // Both percentages are rounded down before they are subtracted from 100.
    { capacityBytes: 1000, availableBytes: 109, high: 90, low: 80, used: 90, free: 91 },
    { capacityBytes: 1000, availableBytes: 110, high: 90, low: 80, used: 89, free: 0 },
    { capacityBytes: 1000, availableBytes: 0, high: 100, low: 80, used: 100, free: 200 },
    { capacityBytes: 1000, availableBytes: 2000, high: 0, low: 0, used: 0, free: 0 },
  ])(
    'C47: with $availableBytes of $capacityBytes bytes available and the values $high and $low % free $free bytes',
    (vector) => {
      const { capacityBytes, availableBytes, high, low, used, free } = vector;
      const disk = { capacityBytes, availableBytes };
      const policy = { ...defaultImageGarbagePolicy, highThresholdPercent: high, lowThresholdPercent: low };
      expect([usedPercent(disk), bytesToFree(disk, policy)]).toEqual([used, free]);
    },
  );

  test.each([
    { highThresholdPercent: 100, maxAgeMs: 0, off: true },
    { highThresholdPercent: 100, maxAgeMs: 1, off: false },
    { highThresholdPercent: 99, maxAgeMs: 0, off: false },
  ])('C47: of $highThresholdPercent % and a maximum age of $maxAgeMs ms disable the collection: $off', (vector) => {
    const { off, ...settings } = vector;
    expect(isImageGarbageOff({ ...defaultImageGarbagePolicy, ...settings })).toBe(off);
  });
});

test.each([
  [500, '500 B'],
  [2048, '2.0 KiB'],
  [10 * 2 ** 30, '10.0 GiB'],
  [1.5 * 2 ** 40, '1.5 TiB'],
  [2 ** 60, '1048576.0 TiB'],
])('C47: a filesystem of %s bytes is described as %s', (capacityBytes, text) => {
  expect(freeSpaceFailedMessage({ capacityBytes, availableBytes: capacityBytes / 20 }, 524288000)).toBe(
    `Insufficient free disk space on the node's image filesystem (95% of ${text} used). ` +
      'Failed to free sufficient space by deleting unused images (freed 524288000 bytes). ' +
      'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.',
  );
});
