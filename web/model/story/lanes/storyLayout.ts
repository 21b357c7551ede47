/** Computes the vertical layout of the lanes. */
import type { Lane } from './storyLanes.ts';

export interface PositionedLane {
  readonly lane: Lane;
  /** Vertical center of the lane. */
  readonly y: number;
  /** Top of the background that marks the selected lane. */
  readonly top: number;
  /** Height of the background that marks the selected lane. */
  readonly height: number;
  readonly barHeight: number;
  readonly isSelected: boolean;
}

const MAX_HEIGHT = 21;
/** Minimum height of a lane, in pixels. The panel scrolls if the lanes do not fit. */
const MIN_HEIGHT = 18;
const SELECTED_HEIGHT = 30;
/** Space above and below the selected lane, in pixels. */
const SELECTED_MARGIN = 4;

/** Positions the lanes from top to bottom within the available height. The returned `height` is the total height. */
export function positionLanes(
  lanes: readonly Lane[],
  selectedPath: string | undefined,
  availableHeight: number,
): { readonly placed: readonly PositionedLane[]; readonly height: number } {
  const isSelected = ({ actors }: Lane) => selectedPath !== undefined && actors.includes(selectedPath);
  const laneCount = lanes.length;
  const selectedExtraHeight = lanes.some(isSelected) ? SELECTED_HEIGHT + 2 * SELECTED_MARGIN : 0;
  const unselectedCount = selectedExtraHeight === 0 ? laneCount : laneCount - 1;
  const laneHeight = Math.max(
    MIN_HEIGHT,
    Math.min(MAX_HEIGHT, Math.floor((availableHeight - selectedExtraHeight) / Math.max(1, unselectedCount))),
  );
  let top = 0;
  const positionedLanes = lanes.map((lane): PositionedLane => {
    const isLaneSelected = isSelected(lane);
    const margin = isLaneSelected ? SELECTED_MARGIN : 0;
    const height = isLaneSelected ? SELECTED_HEIGHT : laneHeight;
    const laneTop = top + margin;
    top = laneTop + height + margin;
    return {
      lane,
      top: laneTop,
      height,
      y: laneTop + height / 2,
      barHeight: isLaneSelected ? 18 : Math.min(15, laneHeight - 4),
      isSelected: isLaneSelected,
    };
  });
  return { placed: positionedLanes, height: top };
}

/** Returns the description of the timeline for screen readers. */
export function timelineDescription(
  lanes: readonly Lane[],
  labels: { readonly of: string; readonly from: string; readonly to: string },
): string {
  const runTexts = lanes.flatMap(({ label, runs, exits }) => {
    if (runs.length === 0) return [];
    const failureText = exits.length > 0 ? `, ${exits.length} of which ended badly` : '';
    return [`${runs.length} ${runs.length === 1 ? 'run' : 'runs'} of ${label}${failureText}`];
  });
  return `Timeline of ${labels.of} from ${labels.from} to ${labels.to}${runTexts.length > 0 ? `: ${runTexts.join('; ')}` : ''}`;
}
