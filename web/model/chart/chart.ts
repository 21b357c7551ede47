/**
 * Creates the interactive state of a chart, i.e. its visible part, the highlighted element and the state whose
 * description is open.
 */
import { batch, signal } from '@preact/signals';
import type { Drawing, DrawnState } from '../../../inspect/protocol.ts';
import { type Camera, cameraAt, fitCamera, moveCamera, type Size, zoomCamera } from './camera.ts';

/** The element that is under the pointer or has the focus. */
export interface HoveredElement {
  readonly state?: string;
  /** The arrow, identified by the first of its transitions. */
  readonly arrow?: string;
}

export function createChart() {
  return {
    size: signal<Size>({ width: 0, height: 0 }),
    /** The box of the active state. */
    activeBox: signal<string | undefined>(undefined),
    /** The visible part that the user has chosen. If undefined, the view follows the active state. */
    userCamera: signal<Camera | undefined>(undefined),
    hoveredElement: signal<HoveredElement>({}),
    /** The state that can be focused with Tab. */
    focusedState: signal<string | undefined>(undefined),
    /** The state whose description is open. */
    describedState: signal<string | undefined>(undefined),
  };
}

export type Chart = ReturnType<typeof createChart>;

/** Returns the visible part of the drawing. */
export const cameraOf = (chart: Chart, drawing: Drawing, around: DrawnState | undefined): Camera =>
  chart.userCamera.value ?? cameraAt(chart.size.value, drawing, around);

/** Resets the interactive state before a different drawing is shown. */
export function resetChart(chart: Chart): void {
  batch(() => {
    chart.userCamera.value = undefined;
    chart.hoveredElement.value = {};
    chart.focusedState.value = undefined;
    chart.describedState.value = undefined;
  });
}

/** Toggles between the whole drawing and the default view. */
export function toggleWholeView(chart: Chart, drawing: Drawing): void {
  const wholeCamera = fitCamera(chart.size.peek(), drawing);
  chart.userCamera.value = chart.userCamera.peek()?.scale === wholeCamera.scale ? undefined : wholeCamera;
}

/** Zooms around a point of the panel, which defaults to its center. */
export function zoom(chart: Chart, camera: Camera, factor: number, at?: readonly [number, number]): void {
  const { width, height } = chart.size.peek();
  chart.userCamera.value = zoomCamera(camera, factor, at ?? [width / 2, height / 2]);
}

/** Moves the visible part of the drawing by `offset`. */
export function pan(chart: Chart, camera: Camera, offset: readonly [number, number], drawing: Drawing): void {
  chart.userCamera.value = moveCamera(camera, offset, chart.size.peek(), drawing);
}

/** Moves the visible part so that it contains a box. */
export function scrollIntoView(chart: Chart, camera: Camera, box: DrawnState, drawing: Drawing): void {
  const { width, height } = chart.size.peek();
  const boxLeft = box.x * camera.scale + camera.x;
  const top = box.y * camera.scale + camera.y;
  const isVisible = (at: number, length: number, available: number) =>
    at >= 0 && at + length * camera.scale <= available;
  if (isVisible(boxLeft, box.width, width) && isVisible(top, box.height, height)) return;
  pan(
    chart,
    camera,
    [width / 2 - boxLeft - (box.width * camera.scale) / 2, height / 2 - top - (box.height * camera.scale) / 2],
    drawing,
  );
}
