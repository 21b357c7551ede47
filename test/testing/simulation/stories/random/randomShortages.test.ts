import { expect, test } from '@jest/globals';
import { DISK_LAYOUTS, HOST_RESOURCES } from '../../../../../testing/simulation/host/hostResources.ts';
import { storyOfAnySize } from '../../../../../testing/simulation/stories/random/randomStory.ts';
import { clusterStory } from '../../../../../testing/simulation/stories/scenarios/clusterStory.ts';

test.each([
  ['of a node', storyOfAnySize],
  ['of a cluster', clusterStory],
])(
  'about a quarter of the drawn stories %s run short of some resource, on hosts with any layout of disks',
  (_, draw) => {
    const drawn = Array.from({ length: 200 }, (_each, seed) => draw(seed));
    const short = drawn.filter(({ evicts }) => evicts);
    expect(short.length / drawn.length).toBeGreaterThan(0.15);
    expect(short.length / drawn.length).toBeLessThan(0.35);
    const resources = short.flatMap(({ actions }) =>
      actions.flatMap(({ action }) => (action.kind === 'pressure' ? [action.resource] : [])),
    );
    expect(new Set(resources)).toEqual(new Set(HOST_RESOURCES));
    expect(new Set(short.map(({ diskLayout }) => diskLayout))).toEqual(new Set(DISK_LAYOUTS));
    const others = drawn.filter(({ evicts }) => !evicts);
    expect(others.some(({ actions }) => actions.some(({ action }) => action.kind === 'pressure'))).toBe(false);
  },
);
