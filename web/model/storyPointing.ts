/** Matches the lines of the story with the transitions drawn in the chart. */
import type { Drawing } from '../../inspect/protocol.ts';
import { boxOf } from './chart/view.ts';
import type { Row } from './storyRows.ts';
import type { Highlight } from './storyState.ts';

/**
 * Returns the chart's transition between the two states of a highlighted line. Empty if the drawing does not contain
 * it.
 */
export function transitionBetween(
  drawing: Drawing,
  actor: string,
  pointed: Highlight | undefined,
): { readonly arrow?: string } {
  if (pointed?.actor !== actor || pointed.from === undefined || pointed.to === undefined) return {};
  const [from, to] = [boxOf(drawing, pointed.from)?.state, boxOf(drawing, pointed.to)?.state];
  const way = drawing.ways.find((each) => each.from === from && each.to === to)?.ways[0];
  return way === undefined ? {} : { arrow: way };
}

/** Returns the latest line in which an actor took the given transition of its chart. */
export function rowOfTransition(drawing: Drawing, actor: string, way: string, rows: readonly Row[]): Row | undefined {
  const arrow = drawing.ways.find(({ ways }) => ways.includes(way));
  return rows.findLast(({ move }) => {
    if (arrow === undefined || move?.actor !== actor || move.from === undefined) return false;
    return arrow.from === boxOf(drawing, move.from)?.state && arrow.to === boxOf(drawing, move.state)?.state;
  });
}
