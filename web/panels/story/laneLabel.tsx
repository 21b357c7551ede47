/** The label of a lane with the name and the current state of its actor. */
import { categoryOf, findCategory } from '../../../show/category.ts';
import type { PositionedLane } from '../../model/story/lanes/storyLayout.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import type { StoryPanel } from './storyPanel.ts';

interface LabelProps extends Pick<StoryPanel, 'page'> {
  readonly positionedLane: PositionedLane;
  readonly width: number;
  /** Position at which the bars start. A label that would extend beyond this position is truncated. */
  readonly left: number;
  readonly onSelect: (path: string) => void;
}

/** The label of a lane. Clicking the label of an actor selects it. */
export function LaneLabel({ page, positionedLane, width, left, onSelect }: LabelProps) {
  const { lane, y, top, height, isSelected } = positionedLane;
  const [path] = lane.actors;
  const actor = path === undefined ? undefined : page.world.value.actors.get(path);
  const lastTag = lane.bars.at(-1)?.tag;
  const category = actor ? categoryOf(actor) : lastTag === undefined ? undefined : findCategory([lastTag]);
  const isOfStory = path === undefined;
  const name = isSelected ? 'name is-selected' : isOfStory ? 'name is-third' : 'name';
  return (
    <g class="lane-label">
      {isSelected && <rect class="lane-back" x="0" y={top} width={width} height={height} />}
      {isSelected && <rect class="lane-edge" x="0" y={top} width="2" height={height} />}
      {category && <CategoryIcon category={category} x={20} y={y - 6} />}
      <svg x="40" y={top} width={Math.max(0, left - 44)} height={height}>
        <text class={name} x="0" y={y - top + 4}>
          {truncate(lane.label, left - 44)}
        </text>
      </svg>
      {path !== undefined && (
        <rect
          class="lane-hit"
          x={0}
          y={top}
          width={left - 2}
          height={height}
          onClick={(event) => {
            event.preventDefault();
            onSelect(path);
          }}
        >
          <title>{lane.label}</title>
        </rect>
      )}
    </g>
  );
}

/** Approximate width of a character in pixels. Text that is still too wide is clipped. */
const CHARACTER_WIDTH = 6.6;

export function truncate(label: string, maxWidth: number): string {
  const maxLetters = Math.max(1, Math.floor(maxWidth / CHARACTER_WIDTH));
  return label.length > maxLetters ? `${label.slice(0, maxLetters - 1)}…` : label;
}
