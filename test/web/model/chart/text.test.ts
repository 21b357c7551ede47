import { expect, test } from '@jest/globals';
import {
  arrowPath,
  chartTitle,
  countText,
  exitLines,
  labelLines,
  longestSegmentMiddle,
  stateLine,
  stateSentence,
  transitionsFrom,
  wrapText,
} from '../../../../web/model/chart/text.ts';
import { buildChartView } from '../../../../web/model/chart/view.ts';
import { crashLooping } from '../../support/crashLooping.ts';
import { drawn } from '../../support/drawn.ts';

const sentence = (name: string, seen?: typeof crashLooping) => {
  const view = buildChartView(drawn, seen).states.find((each) => each.drawnState.state === name);
  return view && stateSentence(view, seen);
};

test('the title says which part of the machine is shown', () => {
  expect(chartTitle(drawn)).toBe('container: run and restart, 5 of 56 states');
  const { region: _, ...whole } = drawn;
  expect(chartTitle(whole)).toBe('container: 56 states');
  expect(chartTitle({ ...whole, machine: 'admission', statesOfAll: 1 })).toBe('admission: 1 state');
});

test('the description of a state contains its duration, wait, deadline and next state', () => {
  expect(sentence('ended.backingOff', crashLooping)).toBe(
    'backingOff, active for 112s, waits for the end of its crash-loop back-off until 07:44:40, then restarting',
  );
  expect(sentence('pending.restarting', crashLooping)).toBe('restarting, last for 0ms');
  expect(sentence('pending.*', crashLooping)).toBe('2 more: waiting, awaitingVolumes');
  expect(sentence('ended.backingOff')).toBe('backingOff, waits for the end of its crash-loop back-off');
});

test('a label starts with the timer and its remaining time, and counts hidden lines', () => {
  expect(labelLines(['container.update', 'timer.elapsed'], '48s')).toEqual([
    'timer.elapsed, in 48s',
    'container.update',
  ]);
  expect(labelLines([''])).toEqual(['at once']);
  expect(labelLines(['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c', 'and 2 more']);
  expect(labelLines(['a', 'b', 'c', 'd', 'e'], undefined, 12)).toHaveLength(5);
});

test('transitions that leave the drawing are listed for the active state', () => {
  expect(exitLines(drawn, ['ended.backingOff'])).toEqual(['container.stop → stopped', 'node.lost → broken']);
  expect(transitionsFrom(drawn, 'ended.choosing').map(({ to }) => to)).toEqual([
    'ended.backingOff',
    'ended.backingOff',
  ]);
  const twice = { ...drawn, exits: [...drawn.exits, ...drawn.exits] };
  expect(transitionsFrom(twice, 'ended')).toEqual([{ label: 'container.stop', to: 'stopped' }]);
  expect(transitionsFrom(drawn, 'ended')).toEqual([{ label: 'container.stop', to: 'stopped' }]);
});

test('text is wrapped into lines and truncated', () => {
  expect(wrapText('waits for the end of it', 12, 2)).toEqual(['waits for', 'the end of…']);
  expect(wrapText('waits for it', 12, 2)).toEqual(['waits for it']);
});

test('an arrow has rounded corners, and its middle is on the longest segment', () => {
  const [, , back] = drawn.ways;
  if (back === undefined) throw new Error('the drawing has three ways');
  expect(arrowPath(back)).toBe('M20 240L15 240Q10 240 10 235L10 67Q10 62 15 62L30 62');
  expect(longestSegmentMiddle(back)).toEqual([10, 151]);
  expect(arrowPath({ ...back, points: [] })).toBe('');
});

test('a count has at most four characters', () => {
  const counts = [1, 999, 1_000, 99_999, 100_000, 1e9];
  expect(counts.map(countText)).toEqual(['1×', '999×', '1k×', '99k×', '99k+', '99k+']);
});

test('the name and duration of a state share a line, or the name alone is shown and truncated if necessary', () => {
  expect(stateLine('stopped', '2m15s', 200)).toMatchObject({ label: 'stopped', duration: '2m15s' });
  const { labelWidth, duration } = stateLine('stopped', '2m15s', 110);
  expect(duration).toBe('2m15s');
  expect(labelWidth).toBeLessThan(80);
  expect(stateLine('stopped', '2m15s', 70)).toEqual({ label: 'stopped', labelWidth: 70 });
  expect(stateLine('awaitingInitialization', '2m15s', 70).label).toMatch(/^awaiti.*…$/);
  expect(stateLine('stopped', undefined, 70)).toEqual({ label: 'stopped', labelWidth: 70 });
});
