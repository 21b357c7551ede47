import { expect, test } from '@jest/globals';
import { storyLanes } from '../../../../../web/model/story/lanes/storyLanes.ts';
import { positionLanes, timelineDescription } from '../../../../../web/model/story/lanes/storyLayout.ts';
import { storySteps } from '../../../../../web/model/story/rows/storySteps.ts';
import { API, crashLoop, NOW, POD } from '../../../support/crashLoop.ts';

const story = crashLoop();
const lanes = storyLanes({ story, steps: storySteps(story), now: NOW });

test('lanes are stacked, and the selected one is higher with a margin', () => {
  const { placed, height } = positionLanes(lanes, API, 400);
  for (const [index, { top }] of placed.entries()) {
    const before = placed[index - 1];
    expect(top).toBeGreaterThanOrEqual(before ? before.top + before.height : 0);
  }
  expect(placed.filter(({ isSelected }) => isSelected).map(({ lane }) => lane.label)).toEqual(['api']);
  expect(height).toBeLessThan(400);
});

test('lanes shrink before they exceed the available height', () => {
  expect(positionLanes(lanes, API, 190).height).toBeLessThanOrEqual(190);
  expect(positionLanes(lanes, POD, 60).height).toBeGreaterThan(60);
});

test('a folded lane is selected if one of its volumes is', () => {
  const { placed } = positionLanes(lanes, `${POD}/volume/tmp`, 400);
  expect(placed.find(({ isSelected }) => isSelected)?.lane.label).toBe('2 volumes');
});

test('the description of a timeline lists its runs', () => {
  const text = timelineDescription(lanes, { of: 'checkout-api', from: '07:39', to: '07:45' });
  expect(text).toBe(
    'Timeline of checkout-api from 07:39 to 07:45: 1 run of proxy; 6 runs of api, 6 of which ended badly',
  );
});
