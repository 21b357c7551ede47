/** Matches rows of the story with transitions in the chart, to highlight both. */
import type { Drawing } from '../../../../inspect/protocol.ts';
import { boxOf } from '../../chart/view.ts';
import type { Highlight } from '../storyState.ts';
import type { Row } from './storyRows.ts';

/**
 * Returns the chart's arrow between the two states of a highlighted row. Empty if the drawing does not contain such an
 * arrow.
 */
export function transitionBetween(
  drawing: Drawing,
  actor: string,
  highlight: Highlight | undefined,
): { readonly arrow?: string } {
  if (highlight?.actor !== actor || highlight.from === undefined || highlight.to === undefined) return {};
  const [from, to] = [boxOf(drawing, highlight.from)?.state, boxOf(drawing, highlight.to)?.state];
  const transition = drawing.ways.find((each) => each.from === from && each.to === to)?.ways[0];
  return transition === undefined ? {} : { arrow: transition };
}

/** Returns the latest row in which an actor took a transition of its chart. */
export function rowOfTransition(
  drawing: Drawing,
  actor: string,
  transition: string,
  rows: readonly Row[],
): Row | undefined {
  const arrow = drawing.ways.find(({ ways }) => ways.includes(transition));
  return rows.findLast(({ move }) => {
    if (arrow === undefined || move?.actor !== actor || move.from === undefined) return false;
    return arrow.from === boxOf(drawing, move.from)?.state && arrow.to === boxOf(drawing, move.state)?.state;
  });
}
