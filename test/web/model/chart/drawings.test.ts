import { expect, test } from '@jest/globals';
import type { Drawing } from '../../../../inspect/protocol.ts';
import { charts } from '../../../../machines/drawing/charts.ts';
import { CHARTED, createDrawings, keyOf, regionOf, shownDrawing } from '../../../../web/model/chart/drawings.ts';
import { drawn } from '../../support/drawn.ts';

const { region: _, ...whole } = drawn;
const actor = { machine: 'container', state: 'ended.backingOff' };

test('the machines with a chart are those that there are', () => {
  expect(CHARTED.toSorted()).toEqual(
    charts()
      .map(({ name }) => name)
      .toSorted(),
  );
});

test('an actor is shown in the region that it is in, once the whole has told of the regions', () => {
  const none = new Map();
  expect(shownDrawing(none, actor, 'region')).toEqual({ machine: 'container', hasRegions: false });
  const first = new Map([['container', { drawing: whole }]]);
  expect(shownDrawing(first, actor, 'region')).toEqual({ machine: 'container', region: 'run', hasRegions: true });
  const both = new Map([...first, ['container.run', { drawing: drawn }]]);
  expect(shownDrawing(both, actor, 'region').drawing).toBe(drawn);
  expect(shownDrawing(both, actor, 'whole')).toMatchObject({ drawing: whole, hasRegions: true });
});

test('a state of no region, as of a broken actor, is looked for in the first; a machine without any has none', () => {
  expect(regionOf(whole, { state: 'broken' })).toBe('adoption');
  expect(regionOf({ ...whole, regions: [] }, actor)).toBeUndefined();
  expect([keyOf('pod'), keyOf('pod', 'run')]).toEqual(['pod', 'pod.run']);
});

test('each drawing is fetched once; what failed is told, and fetched again when it is asked for again', async () => {
  const asked: string[] = [];
  let answer = async (): Promise<Drawing> => {
    throw new Error('away');
  };
  const drawings = createDrawings({
    drawing: (machine, region) => {
      asked.push(keyOf(machine, region));
      return answer();
    },
  });
  drawings.ask('container', 'run');
  drawings.ask('container', 'run');
  await new Promise(setImmediate);
  expect(drawings.asked.value.get('container.run')).toEqual({ trouble: 'away' });
  answer = async () => drawn;
  drawings.ask('container', 'run');
  await new Promise(setImmediate);
  drawings.ask('container', 'run');
  expect(drawings.asked.value.get('container.run')).toEqual({ drawing: drawn });
  expect(asked).toEqual(['container.run', 'container.run']);
});
