import { expect, test } from '@jest/globals';
import { storyLanes } from '../../../web/model/storyLanes.ts';
import { positionLanes, timelineDescription } from '../../../web/model/storyLayout.ts';
import { storySteps } from '../../../web/model/storySteps.ts';
import { API, crashLoop, NOW, POD } from '../support/crashLoop.ts';

const story = crashLoop();
const lanes = storyLanes({ story, steps: storySteps(story), now: NOW });

test('lanes stand below each other, that of the selection higher and with room around it', () => {
  const { placed, height } = positionLanes(lanes, API, 400);
  for (const [index, { top }] of placed.entries()) {
    const before = placed[index - 1];
    expect(top).toBeGreaterThanOrEqual(before ? before.top + before.height : 0);
  }
  expect(placed.filter(({ isSelected }) => isSelected).map(({ lane }) => lane.label)).toEqual(['api']);
  expect(height).toBeLessThan(400);
});

test('they are brought closer together before they need more room than there is', () => {
  expect(positionLanes(lanes, API, 190).height).toBeLessThanOrEqual(190);
  expect(positionLanes(lanes, POD, 60).height).toBeGreaterThan(60);
});

test('a volume that is folded with others is selected with them', () => {
  const { placed } = positionLanes(lanes, `${POD}/volume/tmp`, 400);
  expect(placed.find(({ isSelected }) => isSelected)?.lane.label).toBe('2 volumes');
});

test('a timeline tells in words of the runs that it shows', () => {
  const text = timelineDescription(lanes, { of: 'checkout-api', from: '07:39', to: '07:45' });
  expect(text).toBe(
    'Timeline of checkout-api from 07:39 to 07:45: 1 run of proxy; 6 runs of api, 6 of which ended badly',
  );
});
