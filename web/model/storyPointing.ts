/** Joins a line of the story with the chart: the arrow that its actor took. */
import type { Drawing } from '../../inspect/protocol.ts';
import { boxOf } from './chart/view.ts';
import type { Pointed } from './telling.ts';

/** The arrow between two states of an actor, as the chart points at it; nothing where the drawing has none of them. */
export function wayOf(drawing: Drawing, actor: string, pointed: Pointed | undefined): { readonly way?: string } {
  if (pointed?.actor !== actor || pointed.from === undefined || pointed.to === undefined) return {};
  const [from, to] = [boxOf(drawing, pointed.from)?.state, boxOf(drawing, pointed.to)?.state];
  const way = drawing.ways.find((each) => each.from === from && each.to === to)?.ways[0];
  return way === undefined ? {} : { way };
}
