/** Where the lanes of a story stand above each other. */
import type { Lane } from './storyLanes.ts';

/** A lane with its place. */
export interface PlacedLane {
  readonly lane: Lane;
  /** Its middle. */
  readonly y: number;
  /** What is behind it when it is selected. */
  readonly top: number;
  readonly height: number;
  /** The height of its bars. */
  readonly barHeight: number;
  readonly isSelected: boolean;
}

const HEIGHT = 21;
/** Lanes are brought closer together before they are scrolled. */
const LEAST = 18;
const SELECTED = 30;
/** Above and below the lane that is selected. */
const SPACE = 4;

/** The lanes from top to bottom, in so much room as there is; `height` is what they take. */
export function placedLanes(
  lanes: readonly Lane[],
  selected: string | undefined,
  room: number,
): { readonly placed: readonly PlacedLane[]; readonly height: number } {
  const isSelected = ({ actors }: Lane) => selected !== undefined && actors.includes(selected);
  const count = lanes.length;
  const extra = lanes.some(isSelected) ? SELECTED + 2 * SPACE : 0;
  const others = extra === 0 ? count : count - 1;
  const each = Math.max(LEAST, Math.min(HEIGHT, Math.floor((room - extra) / Math.max(1, others))));
  let top = 0;
  const placed = lanes.map((lane): PlacedLane => {
    const its = isSelected(lane);
    const space = its ? SPACE : 0;
    const height = its ? SELECTED : each;
    const from = top + space;
    top = from + height + space;
    return {
      lane,
      top: from,
      height,
      y: from + height / 2,
      barHeight: its ? 18 : Math.min(15, each - 4),
      isSelected: its,
    };
  });
  return { placed, height: top };
}

/** What a timeline says to those who do not see it. */
export function timelineText(
  lanes: readonly Lane[],
  words: { readonly of: string; readonly from: string; readonly to: string },
): string {
  const runs = lanes.flatMap(({ label, runs, exits }) => {
    if (runs.length === 0) return [];
    const ended = exits.length > 0 ? `, ${exits.length} of which ended badly` : '';
    return [`${runs.length} ${runs.length === 1 ? 'run' : 'runs'} of ${label}${ended}`];
  });
  return `Timeline of ${words.of} from ${words.from} to ${words.to}${runs.length > 0 ? `: ${runs.join('; ')}` : ''}`;
}
