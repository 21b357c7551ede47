import { expect, test } from '@jest/globals';
import type { Drawing } from '../../../../inspect/protocol.ts';
import { createCharts } from '../../../../machines/drawing/charts.ts';
import {
  activeRegion,
  createDrawings,
  drawingKey,
  MACHINES_WITH_CHART,
  shownDrawing,
} from '../../../../web/model/chart/drawings.ts';
import { drawn } from '../../support/drawn.ts';

const { region: _, ...whole } = drawn;
const actor = { machine: 'container', state: 'ended.backingOff' };

test('the list of machines with a chart is complete', () => {
  expect(MACHINES_WITH_CHART.toSorted()).toEqual(
    createCharts()
      .map(({ name }) => name)
      .toSorted(),
  );
});

test('an actor is shown in its region after the whole chart has been loaded', () => {
  const none = new Map();
  expect(shownDrawing(none, actor, 'region')).toEqual({ machine: 'container', hasRegions: false });
  const first = new Map([['container', { drawing: whole }]]);
  expect(shownDrawing(first, actor, 'region')).toEqual({ machine: 'container', region: 'run', hasRegions: true });
  const both = new Map([...first, ['container.run', { drawing: drawn }]]);
  expect(shownDrawing(both, actor, 'region').drawing).toBe(drawn);
  expect(shownDrawing(both, actor, 'whole')).toMatchObject({ drawing: whole, hasRegions: true });
});

test('a state outside all regions is shown in the first one, and a machine without regions has none', () => {
  expect(activeRegion(whole, { state: 'broken' })).toBe('adoption');
  expect(activeRegion({ ...whole, regions: [] }, actor)).toBeUndefined();
  expect([drawingKey('pod'), drawingKey('pod', 'run')]).toEqual(['pod', 'pod.run']);
});

test('each drawing is loaded once, and a failure is reported and retried on request', async () => {
  const requests: string[] = [];
  let answer = async (): Promise<Drawing> => {
    throw new Error('away');
  };
  const drawings = createDrawings({
    drawing: (machine, region) => {
      requests.push(drawingKey(machine, region));
      return answer();
    },
  });
  drawings.load('container', 'run');
  drawings.load('container', 'run');
  await new Promise(setImmediate);
  expect(drawings.loaded.value.get('container.run')).toEqual({ error: 'away' });
  answer = async () => drawn;
  drawings.load('container', 'run');
  await new Promise(setImmediate);
  drawings.load('container', 'run');
  expect(drawings.loaded.value.get('container.run')).toEqual({ drawing: drawn });
  expect(requests).toEqual(['container.run', 'container.run']);
});
