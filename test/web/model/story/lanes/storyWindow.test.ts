import { describe, expect, test } from '@jest/globals';
import {
  DEFAULT_RANGE,
  resizeRange,
  shiftRange,
  visibleRange,
  zoomRange,
} from '../../../../../web/model/story/lanes/storyWindow.ts';

const NOW = 1_000_000;

describe('the time range', () => {
  test('follows the latest time, with room for the future', () => {
    const { from, to } = visibleRange(DEFAULT_RANGE, NOW, NOW);
    expect(to - from).toBe(DEFAULT_RANGE.spanMs);
    expect(to).toBeGreaterThan(NOW + 40_000);
    expect(visibleRange(DEFAULT_RANGE, NOW + 5_000, NOW + 5_000).to).toBe(to + 5_000);
  });

  test('is shifted only if the displayed time is outside', () => {
    const live = visibleRange(DEFAULT_RANGE, NOW, NOW);
    expect(visibleRange(DEFAULT_RANGE, NOW - 100_000, NOW)).toEqual(live);
    const early = visibleRange(DEFAULT_RANGE, NOW - 900_000, NOW);
    expect(early.from).toBeLessThan(NOW - 900_000);
    expect(early.to).toBeGreaterThan(NOW - 900_000);
  });

  test('stays where it was moved, within the recording', () => {
    const window = { from: NOW - 100_000, to: NOW };
    const bounds = { from: NOW - 500_000, to: NOW };
    expect(shiftRange(window, -50_000, bounds)).toEqual({ spanMs: 100_000, to: NOW - 50_000 });
    expect(shiftRange(window, 9e9, bounds).to).toBe(NOW + 18_000);
    expect(shiftRange(window, -9e9, bounds).to).toBe(NOW - 482_000);
  });

  test('is scaled around the time under the pointer', () => {
    const window = { from: 0, to: 100_000 };
    const moved = { spanMs: 100_000, to: 100_000 };
    expect(zoomRange(moved, window, 0.5, 75_000)).toEqual({ spanMs: 50_000, to: 87_500 });
    expect(zoomRange(moved, window, 0.001, 0).spanMs).toBe(2_000);
    // A range that follows the latest time continues to do so after scaling.
    expect(zoomRange({ spanMs: 100_000 }, window, 0.5, 75_000)).toEqual({ spanMs: 50_000 });
  });

  test('is resized by an edge, which does not pass the opposite one', () => {
    const window = { from: 10_000, to: 90_000 };
    expect(resizeRange(window, 'from', 40_000)).toEqual({ spanMs: 50_000, to: 90_000 });
    expect(resizeRange(window, 'to', 50_000)).toEqual({ spanMs: 40_000, to: 50_000 });
    expect(resizeRange(window, 'to', 0)).toEqual({ spanMs: 2_000, to: 12_000 });
  });
});
