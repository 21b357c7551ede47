/** Joins the lines of the story with the chart: the arrows that their actors took. */
import type { Drawing } from '../../inspect/protocol.ts';
import { boxOf } from './chart/view.ts';
import type { Row } from './storyRows.ts';
import type { Pointed } from './telling.ts';

/** The arrow between two states of an actor, as the chart points at it; nothing where the drawing has none of them. */
export function wayOf(drawing: Drawing, actor: string, pointed: Pointed | undefined): { readonly way?: string } {
  if (pointed?.actor !== actor || pointed.from === undefined || pointed.to === undefined) return {};
  const [from, to] = [boxOf(drawing, pointed.from)?.state, boxOf(drawing, pointed.to)?.state];
  const way = drawing.ways.find((each) => each.from === from && each.to === to)?.ways[0];
  return way === undefined ? {} : { way };
}

/** The latest of some lines that took a way of the chart of an actor. */
export function lineOf(drawing: Drawing, actor: string, way: string, rows: readonly Row[]): Row | undefined {
  const taken = drawing.ways.find(({ ways }) => ways.includes(way));
  return rows.findLast(({ move }) => {
    if (taken === undefined || move?.actor !== actor || move.from === undefined) return false;
    return taken.from === boxOf(drawing, move.from)?.state && taken.to === boxOf(drawing, move.state)?.state;
  });
}
