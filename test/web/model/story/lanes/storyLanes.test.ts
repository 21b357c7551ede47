import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Story } from '../../../../../inspect/protocol.ts';
import { stateBars } from '../../../../../web/model/story/lanes/storyBars.ts';
import { type Lane, storyLanes } from '../../../../../web/model/story/lanes/storyLanes.ts';
import { positionBars } from '../../../../../web/model/story/lanes/storyPixels.ts';
import { storySteps } from '../../../../../web/model/story/rows/storySteps.ts';
import { root } from '../../../../support/root.ts';
import { API, crashLoop, NOW, POD, PROXY, READINESS, RUNS, state } from '../../../support/crashLoop.ts';

const lanesIn = (story: Story, more: Partial<Parameters<typeof storyLanes>[0]> = {}) =>
  storyLanes({ story, steps: storySteps(story), now: NOW, selectedPath: API, ...more });

const laneOf = (lanes: readonly Lane[], label: string): Lane => {
  const lane = lanes.find((each) => each.label === label);
  if (!lane) throw new Error(`there is no lane ${label}`);
  return lane;
};

describe('the lanes of a crash loop', () => {
  const lanes = lanesIn(crashLoop());

  test('go from the source down to the events, with similar volumes folded', () => {
    expect(lanes.map(({ label }) => label)).toEqual([
      'manifest',
      'pod',
      '2 volumes',
      'proxy',
      'readiness',
      'api',
      'start gate',
      'runtime',
      'events',
    ]);
  });

  test('have a bar for each wait with its duration', () => {
    const waits = laneOf(lanes, 'api').bars.filter(({ tag }) => tag === 'retrying');
    expect(waits.slice(0, -1).map(({ from, to }) => to - from)).toEqual([10_000, 20_000, 40_000, 80_000]);
    expect(waits.at(-1)?.to).toBe(NOW);
  });

  test('number the runs and mark the failed ones', () => {
    const { runs, exits } = laneOf(lanes, 'api');
    expect(runs.map(({ run }) => run)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(exits).toHaveLength(6);
    expect(laneOf(lanes, 'proxy').exits).toEqual([]);
  });

  test('mark each probe attempt and the failed ones', () => {
    const { marks } = laneOf(lanes, 'readiness');
    expect(marks).toHaveLength(27);
    expect(marks.filter(({ isFailure }) => isFailure)).toHaveLength(1);
  });

  test('show nothing after the displayed time', () => {
    const early = lanesIn(crashLoop(), { now: (RUNS[2] ?? 0) + 100 });
    expect(laneOf(early, 'api').runs.map(({ run }) => run)).toEqual([1, 2, 3]);
    expect(laneOf(early, 'api').bars.at(-1)).toMatchObject({ state: 'running.steady', to: (RUNS[2] ?? 0) + 100 });
  });

  test('contain the deadline of the current state', () => {
    const actors = new Map([
      [API, { until: NOW + 48_000 }],
      [POD, {}],
    ]);
    const known = lanesIn(crashLoop(), { actors });
    expect(laneOf(known, 'api').until).toBe(NOW + 48_000);
    // The bars of actors that no longer exist end with the last line.
    expect(laneOf(known, 'proxy').bars.at(-1)?.to).toBeLessThan(NOW);
  });
});

test('volumes are not folded if one of them differs or is selected', () => {
  const story = crashLoop();
  const failing = { ...story, lines: [...story.lines, state(NOW - 1, `${POD}/volume/tmp`, 'failed', 'retrying')] };
  expect(lanesIn(failing).map(({ label }) => label)).toEqual(expect.arrayContaining(['settings', 'tmp']));
  const labels = lanesIn(story, { selectedPath: `${POD}/volume/tmp` }).map(({ label }) => label);
  expect(labels).toEqual(expect.arrayContaining(['settings', 'tmp']));
});

test('a container that waits for its image has the states of the image', () => {
  const image = `${API}/image`;
  const bars = stateBars(
    {
      from: 0,
      before: [],
      lines: [
        state(0, API, 'pending.gettingImage', 'working'),
        state(10, image, 'pulling', 'working'),
        state(20, image, 'backingOff', 'retrying'),
        state(50, image, 'found', 'steady'),
        state(50, API, 'running.steady', 'steady'),
      ],
    },
    { now: 100 },
  ).get(API);
  expect(bars?.map(({ from, to, state: its }) => [from, to, its])).toEqual([
    [0, 10, 'pending.gettingImage'],
    [10, 20, 'image.pulling'],
    [20, 50, 'image.backingOff'],
    [50, 100, 'running.steady'],
  ]);
});

describe('while no agent was running', () => {
  const lines = [state(10, API, 'running.steady', 'steady'), state(20, POD, 'active', 'steady')];
  const after = [{ kind: 'began' as const, at: 80 }, state(80, API, 'adopting.queryingRuntime', 'working')];
  const barsWith = (between: Story['lines']) =>
    stateBars({ from: 0, before: [], lines: [...lines, ...between, ...after] }, { now: 100 }).get(API);

  test('there is a gap after the last line of a killed agent', () => {
    expect(barsWith([])?.map(({ from, to }) => [from, to])).toEqual([
      [10, 20],
      [80, 100],
    ]);
  });

  test('there is a gap after the exit of a stopped agent', () => {
    expect(barsWith([{ kind: 'ended', at: 60 }])?.[0]?.to).toBe(60);
  });
});

test('an existing actor has exactly one state at any time', () => {
  const moves = fc.array(fc.record({ after: fc.nat(50), to: fc.constantFrom('a.steady', 'b', 'c.waiting') }));
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 3_000 }), (drawn, now) => {
      let at = 0;
      const lines = drawn.map(({ after, to }) => {
        at += after;
        return state(at, PROXY, to, 'steady');
      });
      const before = [{ actor: PROXY, state: 'first', since: -100, tag: 'steady' }];
      const bars = stateBars({ from: 0, before, lines }, { now }).get(PROXY) ?? [];
      expect(bars[0]?.from).toBe(-100);
      expect(bars.at(-1)?.to).toBe(now);
      for (const [index, bar] of bars.entries()) if (index > 0) expect(bar.from).toBe(bars[index - 1]?.to);
      const scale = { from: 0, to: 3_000, left: 140, right: 716 };
      const placed = positionBars(bars, scale);
      for (const [index, { x }] of placed.entries()) {
        const last = placed[index - 1];
        if (last) expect(x).toBeGreaterThanOrEqual(last.x + last.width);
      }
    }),
  );
});

test('5,000 lines are laid out in less than 10 ms', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'test/web/support/timeOfLanes.ts')]);
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThan(10);
});

test('a probe without attempts has no empty lane', () => {
  const story = { from: 0, to: NOW, before: [], lines: [] };
  expect(lanesIn(story)).toEqual([]);
  expect(lanesIn({ ...story, lines: tryless() }).map(({ label }) => label)).toEqual(['readiness']);
});

const tryless = () => [state(1, READINESS, 'failing.waiting', 'waiting')];

test('steps before the time range only determine the lanes', () => {
  const all = lanesIn(crashLoop());
  const from = NOW - 30_000;
  const cut = lanesIn(crashLoop(), { from });
  expect(cut.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  cut.forEach(({ bars, marks }, index) => {
    const whole = all[index];
    expect(bars).toEqual(whole?.bars.slice(-Math.max(1, bars.length)));
    expect(bars.filter(({ to }) => to < from).length).toBeLessThanOrEqual(1);
    expect(marks.filter(({ at }) => at < from).length).toBeLessThanOrEqual(1);
    expect(marks.filter(({ at }) => at >= from)).toEqual(whole?.marks.filter(({ at }) => at >= from));
  });
});
