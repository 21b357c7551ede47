import { expect, test } from '@jest/globals';
import { boxInDirection, cameraAt, fitCamera, moveCamera, zoomCamera } from '../../../../web/model/chart/camera.ts';
import { drawn } from '../../support/drawn.ts';

const box = (name: string) => {
  const found = drawn.states.find(({ state }) => state === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

test('a drawing that fits is centered at its full size', () => {
  expect(cameraAt({ width: 700, height: 500 }, drawn)).toEqual({ x: 100, y: 100, scale: 1 });
});

test('the default view shrinks a drawing a little, and shows the part around the active state if that is not enough', () => {
  expect(cameraAt({ width: 450, height: 300 }, drawn).scale).toBeCloseTo(0.9);
  const near = cameraAt({ width: 200, height: 150 }, drawn, box('ended.choosing'));
  expect(near.scale).toBe(0.85);
  const seen = { x: 300 * 0.85 + near.x, y: 230 * 0.85 + near.y };
  expect(seen.x).toBeGreaterThanOrEqual(0);
  expect(seen.x + 85).toBeLessThanOrEqual(200);
  expect(seen.y + 30 * 0.85).toBeLessThanOrEqual(150);
  // The camera does not move beyond the edge of the drawing.
  expect(cameraAt({ width: 200, height: 150 }, drawn, box('pending'))).toMatchObject({ x: 0, y: 0 });
});

test('the whole drawing is shown at any scale on request', () => {
  expect(fitCamera({ width: 200, height: 150 }, drawn).scale).toBeCloseTo(0.4);
});

test('zooming retains the point under the pointer, within bounds', () => {
  const before = { x: 10, y: 20, scale: 1 };
  const after = zoomCamera(before, 2, [60, 70]);
  expect([(60 - after.x) / after.scale, (70 - after.y) / after.scale]).toEqual([50, 50]);
  expect(zoomCamera(before, 100, [0, 0]).scale).toBe(3);
  expect(zoomCamera(before, 0.001, [0, 0]).scale).toBe(0.2);
});

test('the drawing cannot be moved out of view', () => {
  const size = { width: 200, height: 150 };
  expect(moveCamera({ x: 0, y: 0, scale: 1 }, [-9_000, 9_000], size, drawn)).toEqual({ x: -452, y: 102, scale: 1 });
});

test('arrow keys follow transitions, otherwise they go to the nearest state', () => {
  expect(boxInDirection(drawn, box('ended.choosing'), 'ArrowLeft')?.state).toBe('ended.backingOff');
  expect(boxInDirection(drawn, box('ended.backingOff'), 'ArrowUp')?.state).toBe('pending.restarting');
  expect(boxInDirection(drawn, box('pending.restarting'), 'ArrowDown')?.state).toBe('pending.choosing');
  expect(boxInDirection(drawn, box('ended.choosing'), 'ArrowRight')).toBeUndefined();
  expect(boxInDirection(drawn, box('ended.choosing'), 'x')).toBeUndefined();
});
