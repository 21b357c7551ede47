/** What of a chart is held by hand: how it is seen, what is pointed at, which state is described. */
import { batch, signal } from '@preact/signals';
import type { Drawing, DrawnState } from '../../../inspect/protocol.ts';
import { type Camera, cameraAt, fitted, moved, type Size, zoomed } from './camera.ts';

/** What the pointer or the focus is on. */
export interface Pointed {
  readonly state?: string;
  /** An arrow, by its first way. */
  readonly way?: string;
}

/** The state of one chart panel. */
export function createChart() {
  return {
    size: signal<Size>({ width: 0, height: 0 }),
    /** The box that stands for the active state. */
    lit: signal<string | undefined>(undefined),
    /** The part that the hand has chosen; undefined: it shows where the actor is. */
    own: signal<Camera | undefined>(undefined),
    pointed: signal<Pointed>({}),
    /** The state that Tab leads to. */
    focused: signal<string | undefined>(undefined),
    /** The state whose description is open. */
    described: signal<string | undefined>(undefined),
  };
}

/** The state of one chart panel. */
export type Chart = ReturnType<typeof createChart>;

/** The part of the drawing that is seen. */
export const cameraOf = (chart: Chart, drawing: Drawing, around: DrawnState | undefined): Camera =>
  chart.own.value ?? cameraAt(chart.size.value, drawing, around);

/** Another drawing is seen as it is by itself. */
export function begin(chart: Chart): void {
  batch(() => {
    chart.own.value = undefined;
    chart.pointed.value = {};
    chart.focused.value = undefined;
    chart.described.value = undefined;
  });
}

/** Shows all of it; once more: as it is by itself. */
export function showAll(chart: Chart, drawing: Drawing): void {
  const all = fitted(chart.size.peek(), drawing);
  chart.own.value = chart.own.peek()?.scale === all.scale ? undefined : all;
}

/** Larger or smaller, around a point; absent: around the middle. */
export function zoom(chart: Chart, camera: Camera, by: number, at?: readonly [number, number]): void {
  const { width, height } = chart.size.peek();
  chart.own.value = zoomed(camera, by, at ?? [width / 2, height / 2]);
}

/** Moves it under the hand. */
export function pan(chart: Chart, camera: Camera, by: readonly [number, number], drawing: Drawing): void {
  chart.own.value = moved(camera, by, chart.size.peek(), drawing);
}

/** So that a box that has the focus is in sight. */
export function reveal(chart: Chart, camera: Camera, box: DrawnState, drawing: Drawing): void {
  const { width, height } = chart.size.peek();
  const left = box.x * camera.scale + camera.x;
  const top = box.y * camera.scale + camera.y;
  const isSeen = (at: number, length: number, room: number) => at >= 0 && at + length * camera.scale <= room;
  if (isSeen(left, box.width, width) && isSeen(top, box.height, height)) return;
  pan(
    chart,
    camera,
    [width / 2 - left - (box.width * camera.scale) / 2, height / 2 - top - (box.height * camera.scale) / 2],
    drawing,
  );
}
