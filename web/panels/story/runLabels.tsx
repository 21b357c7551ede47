/** The numbers of a container's runs below their starts. */
import type { PositionedLane } from '../../model/story/lanes/storyLayout.ts';
import { runLabels, type Scale } from '../../model/story/lanes/storyPixels.ts';

interface RunLabelsProps {
  readonly lanes: readonly PositionedLane[];
  readonly scale: Scale;
  readonly width: number;
}

/** The labels of the selected container, or of the container with the most runs. */
export function RunLabels({ lanes, scale, width }: RunLabelsProps) {
  const selected = lanes.find(({ isSelected, lane }) => isSelected && lane.runs.length > 0);
  const [most] = lanes
    .filter(({ lane }) => lane.runs.length > 1)
    .sort((a, b) => b.lane.runs.length - a.lane.runs.length);
  const runs = (selected ?? most)?.lane.runs ?? [];
  return (
    <svg class="tl foot" width={width} height="20" aria-hidden="true">
      {runLabels(runs, scale).map(({ x, text }) => (
        <text key={text} class="ax" x={x} y="12">
          {text}
        </text>
      ))}
    </svg>
  );
}
