import { describe, expect, test } from '@jest/globals';
import { draggedRange, dragTargetAt, keyStep } from '../../../../web/model/rail/railDrag.ts';
import { clockNote, railTicks, railView, recordedText, spokenTime } from '../../../../web/model/rail/railView.ts';

const FROM = Date.UTC(2026, 0, 1, 7, 14);
const TO = FROM + 30 * 60_000;
const rail = {
  from: FROM,
  to: TO,
  bucketMs: 6_000,
  restarts: [FROM, FROM + 450_000],
  failures: [FROM + 900_000],
  counts: Array.from({ length: 300 }, (_, index) => (index === 10 ? 100 : index % 3)),
};
const range = { from: TO - 600_000, to: TO + 60_000 };

describe('the rail', () => {
  const view = railView(rail, TO, range);

  test('has a limited number of bars, the highest with full height', () => {
    expect(view.bars.length).toBeLessThanOrEqual(200);
    expect(Math.max(...view.bars.map(({ height }) => height))).toBe(1);
    expect(view.bars.every(({ x, width, height }) => x >= 0 && x < 1 && width > 0 && height > 0)).toBe(true);
  });

  test('marks the bars within the time range of the lanes', () => {
    const inside = view.bars.filter(({ isInWindow }) => isInWindow);
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.every(({ x, width }) => x + width > 2 / 3)).toBe(true);
  });

  test('marks failures and restarts of the agent', () => {
    expect(view.failures).toEqual([0.5]);
    // The first one is the start of the recording.
    expect(view.restarts).toEqual([0.25]);
  });

  test('grows with the recording', () => {
    expect(railView(rail, TO + 1_800_000, range).failures).toEqual([0.25]);
  });

  test('shows the recorded duration and round times below', () => {
    expect(recordedText(view)).toBe('30 min recorded');
    expect(recordedText({ from: 0, to: 50_000 })).toBe('50s recorded');
    expect(recordedText({ from: 0, to: 6 * 3_600_000 })).toBe('6 h recorded');
    expect(railTicks(view, 960).map(({ text }) => text)).toEqual([
      '07:15',
      '07:20',
      '07:25',
      '07:30',
      '07:35',
      '07:40',
    ]);
  });
});

describe('the text below the clock', () => {
  const at = TO - 141_000;

  test('is the age of a time in the past', () => {
    expect(clockNote({ at, live: TO, mode: 'past' })).toBe('2m21s ago, UTC');
    expect(spokenTime({ at, live: TO, mode: 'past' })).toBe('07:41:39, 2m21s ago');
  });

  test('is the number of events since the view was frozen', () => {
    expect(clockNote({ at, live: TO, mode: 'held', eventCount: 312 })).toBe('held, 312 events since');
    expect(spokenTime({ at, live: TO, mode: 'held', eventCount: 1 })).toBe('07:41:39, held, 1 event since');
  });

  test('is only UTC in the live view and in a recording', () => {
    expect(clockNote({ at, live: TO, mode: 'live' })).toBe('UTC');
    expect(spokenTime({ at: TO, live: TO, mode: 'live' })).toBe('07:44:00, live');
    expect(spokenTime({ at: TO, live: 0, mode: 'file' })).toBe('07:44:00');
  });
});

describe('a drag on the rail', () => {
  const edges = { left: 500, right: 800 };
  const upper = { isShifted: false, isUpper: true };

  test('moves an edge of the range, the range itself with Shift, otherwise the displayed time', () => {
    expect(dragTargetAt(503, edges, upper)).toBe('from');
    expect(dragTargetAt(797, edges, upper)).toBe('to');
    expect(dragTargetAt(503, edges, { ...upper, isUpper: false })).toBe('head');
    expect(dragTargetAt(650, edges, { ...upper, isShifted: true })).toBe('window');
    expect(dragTargetAt(650, edges, upper)).toBe('head');
  });

  test('moves the grabbed part', () => {
    const bounds = { from: FROM, to: TO };
    const grip = { at: TO - 300_000, range };
    expect(draggedRange({ ...grip, target: 'head' }, TO, bounds)).toBeUndefined();
    expect(draggedRange({ ...grip, target: 'window' }, TO - 400_000, bounds)?.to).toBe(range.to - 100_000);
    expect(draggedRange({ ...grip, target: 'from' }, TO - 300_000, bounds)?.spanMs).toBe(360_000);
  });

  test('has keyboard equivalents', () => {
    expect(keyStep('ArrowLeft', 100_000)).toBe(-1_000);
    expect(keyStep('PageUp', 100_000)).toBe(5_000);
    expect(keyStep('End', 100_000)).toBe(Number.POSITIVE_INFINITY);
    expect(keyStep('x', 100_000)).toBeUndefined();
  });
});
