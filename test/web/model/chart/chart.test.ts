import { expect, test } from '@jest/globals';
import {
  cameraOf,
  createChart,
  pan,
  resetChart,
  reveal,
  toggleWhole,
  zoom,
} from '../../../../web/model/chart/chart.ts';
import { drawn } from '../../support/drawn.ts';

const [pending, , , , , choosing] = drawn.states;
const inPanel = (width: number, height: number) => {
  const chart = createChart();
  chart.size.value = { width, height };
  return chart;
};

test('it shows where the actor is until the hand moves it, and again when another drawing begins', () => {
  const chart = inPanel(200, 150);
  const itself = cameraOf(chart, drawn, choosing);
  expect(cameraOf(chart, drawn, pending)).not.toEqual(itself);
  pan(chart, itself, [10, 0], drawn);
  const own = cameraOf(chart, drawn, pending);
  expect(own.x).toBe(itself.x + 10);
  chart.described.value = 'pending';
  resetChart(chart);
  expect(cameraOf(chart, drawn, choosing)).toEqual(itself);
  expect(chart.described.value).toBeUndefined();
});

test('all of it is shown, and asked for once more it is as by itself', () => {
  const chart = inPanel(200, 150);
  toggleWhole(chart, drawn);
  expect(cameraOf(chart, drawn, choosing).scale).toBeCloseTo(0.4);
  toggleWhole(chart, drawn);
  expect(cameraOf(chart, drawn, choosing).scale).toBe(0.85);
});

test('it is enlarged around its middle', () => {
  const chart = inPanel(200, 100);
  zoom(chart, { x: 0, y: 0, scale: 1 }, 2);
  expect(chart.userCamera.value).toEqual({ x: -100, y: -50, scale: 2 });
});

test('a state that gets the focus comes into sight; one that is in sight moves nothing', () => {
  const chart = inPanel(200, 150);
  if (pending === undefined || choosing === undefined) throw new Error('the drawing has six states');
  reveal(chart, { x: 0, y: 0, scale: 1 }, pending, drawn);
  expect(chart.userCamera.value).toBeUndefined();
  reveal(chart, { x: 0, y: 0, scale: 1 }, choosing, drawn);
  expect(chart.userCamera.value).toEqual({ x: -250, y: -170, scale: 1 });
});
