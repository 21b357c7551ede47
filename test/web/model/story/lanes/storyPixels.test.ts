import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  axisTicks,
  barLabel,
  positionBars,
  positionMarks,
  runLabels,
  timeAt,
  toX,
} from '../../../../../web/model/story/lanes/storyPixels.ts';

const scale = { from: 0, to: 100_000, left: 100, right: 1_100 };
const bar = (from: number, to: number, tag = 'steady') => ({ from, to, state: `in.${tag}`, tag });
const mark = (at: number, isFailure = false) => ({ at, isFailure, step: at, actor: '' });

test('positions and times convert into each other', () => {
  expect(toX(scale, 50_000)).toBe(600);
  expect(timeAt(scale, toX(scale, 12_345))).toBeCloseTo(12_345);
});

describe('bars', () => {
  test('too short to be drawn are merged into the longest one', () => {
    const placed = positionBars([bar(0, 78, 'working'), bar(78, 278, 'steady'), bar(278, 90_000, 'retrying')], scale);
    expect(placed.map(({ tag, isMerged }) => [tag, isMerged])).toEqual([
      ['steady', true],
      ['retrying', false],
    ]);
    expect(placed[1]?.x).toBeCloseTo(104);
  });

  test('are clipped at the edges, and invisible ones are omitted', () => {
    const [cut, ...others] = positionBars([bar(-50_000, 50_000), bar(200_000, 300_000)], scale);
    expect(cut).toMatchObject({ x: 100, width: 500 });
    expect(others).toEqual([]);
  });

  test('never overlap, and stay within the scale except for the minimum width', () => {
    const lengths = fc.array(fc.nat(4_000));
    fc.assert(
      fc.property(lengths, fc.integer({ min: -20_000, max: 90_000 }), (drawn, begin) => {
        let at = begin;
        const bars = drawn.map((length, index) => {
          at += length;
          return bar(at - length, at, index % 2 === 0 ? 'steady' : 'working');
        });
        const placed = positionBars(bars, scale);
        for (const [index, { x, width }] of placed.entries()) {
          const before = placed[index - 1];
          expect(width).toBeGreaterThan(3.3);
          expect(x).toBeGreaterThanOrEqual(before ? before.x + before.width : scale.left);
          expect(x + width).toBeLessThanOrEqual(scale.right + 8);
        }
      }),
    );
  });
});

test('marks closer than 6 px are merged, and a merged mark fails if one of them does', () => {
  const placed = positionMarks([mark(-1), mark(0), mark(500, true), mark(600), mark(5_000), mark(100_001)], scale);
  expect(placed.map(({ x, marks, isFailure }) => [x, marks.length, isFailure])).toEqual([
    [100, 2, true],
    [106, 1, false],
    [150, 1, false],
  ]);
});

describe('the label of a bar', () => {
  test('contains the state and, for a wait, its duration if there is room', () => {
    const wait = { from: 0, to: 112_000, state: 'ended.backingOff', tag: 'retrying' };
    expect(barLabel(wait, 200, 80_000)).toBe('backingOff 80s');
    expect(barLabel(wait, 60)).toBe('112s');
    expect(barLabel(wait, 20)).toBe('');
    expect(barLabel({ ...wait, state: 'running.steady', tag: 'steady' }, 200)).toBe('running.steady');
  });
});

describe('ticks', () => {
  test('are round times with a minimum distance', () => {
    expect(axisTicks(scale).map(({ text }) => text)).toEqual([
      '1970-01-01',
      '00:00:10',
      '00:00:20',
      '00:00:30',
      '00:00:40',
      '00:00:50',
      '00:01:00',
      '00:01:10',
      '00:01:20',
      '00:01:30',
      '00:01:40',
    ]);
  });

  test('show the date at midnight', () => {
    const day = Date.UTC(2026, 0, 2);
    const ticks = axisTicks({ ...scale, from: day - 20_000, to: day + 20_000 });
    expect(ticks.find(({ at }) => at === day)?.text).toBe('2026-01-02');
    expect(ticks.map(({ text }) => text)).toContain('23:59:50');
  });

  test('are few at any scale', () => {
    const spans = fc.integer({ min: 1_000, max: 40 * 86_400_000 });
    fc.assert(
      fc.property(spans, (span) => {
        const ticks = axisTicks({ ...scale, to: span });
        expect(ticks.length).toBeLessThanOrEqual(Math.ceil(1_000 / 84) + 32);
      }),
    );
  });
});

test('runs that started close to each other share a label', () => {
  const runs = [0, 500, 9_000, 12_000, 30_000].map((at, index) => ({ at, run: index + 1 }));
  expect(runLabels(runs, scale).map(({ text }) => text)).toEqual(['1, 2', 'run 3', '4', 'run 5']);
  const many = Array.from({ length: 5 }, (_, index) => ({ at: index, run: index + 1 }));
  expect(runLabels(many, scale).map(({ text }) => text)).toEqual(['1–5']);
});
