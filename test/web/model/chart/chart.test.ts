import { expect, test } from '@jest/globals';
import {
  cameraOf,
  createChart,
  pan,
  resetChart,
  scrollIntoView,
  toggleWholeView,
  zoom,
} from '../../../../web/model/chart/chart.ts';
import { drawn } from '../../support/drawn.ts';

const [pending, , , , , choosing] = drawn.states;
const inPanel = (width: number, height: number) => {
  const chart = createChart();
  chart.size.value = { width, height };
  return chart;
};

test('the view follows the actor until the user moves it, and again after a change of the drawing', () => {
  const chart = inPanel(200, 150);
  const itself = cameraOf(chart, drawn, choosing);
  expect(cameraOf(chart, drawn, pending)).not.toEqual(itself);
  pan(chart, itself, [10, 0], drawn);
  const own = cameraOf(chart, drawn, pending);
  expect(own.x).toBe(itself.x + 10);
  chart.describedState.value = 'pending';
  resetChart(chart);
  expect(cameraOf(chart, drawn, choosing)).toEqual(itself);
  expect(chart.describedState.value).toBeUndefined();
});

test('the chart toggles between the whole drawing and the default view', () => {
  const chart = inPanel(200, 150);
  toggleWholeView(chart, drawn);
  expect(cameraOf(chart, drawn, choosing).scale).toBeCloseTo(0.4);
  toggleWholeView(chart, drawn);
  expect(cameraOf(chart, drawn, choosing).scale).toBe(0.85);
});

test('the chart zooms around its center', () => {
  const chart = inPanel(200, 100);
  zoom(chart, { x: 0, y: 0, scale: 1 }, 2);
  expect(chart.userCamera.value).toEqual({ x: -100, y: -50, scale: 2 });
});

test('a focused state is scrolled into view unless it is visible', () => {
  const chart = inPanel(200, 150);
  if (pending === undefined || choosing === undefined) throw new Error('the drawing has six states');
  scrollIntoView(chart, { x: 0, y: 0, scale: 1 }, pending, drawn);
  expect(chart.userCamera.value).toBeUndefined();
  scrollIntoView(chart, { x: 0, y: 0, scale: 1 }, choosing, drawn);
  expect(chart.userCamera.value).toEqual({ x: -250, y: -170, scale: 1 });
});
