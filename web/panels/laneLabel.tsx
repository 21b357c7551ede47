/** What stands before a lane: whose it is, and what that is now. */
import { categoryIn, categoryOf } from '../../pod/show/category.ts';
import type { PlacedLane } from '../model/storyLayout.ts';
import { Mark } from '../parts/mark.tsx';
import type { StoryPanel } from './storyPanel.ts';

interface LabelProps extends Pick<StoryPanel, 'page'> {
  readonly placed: PlacedLane;
  readonly width: number;
  readonly onSelect: (path: string) => void;
}

/** The label of a lane; one of an actor selects it. */
export function LaneLabel({ page, placed, width, onSelect }: LabelProps) {
  const { lane, y, top, height, isSelected } = placed;
  const [path] = lane.actors;
  const actor = path === undefined ? undefined : page.world.value.actors.get(path);
  const last = lane.bars.at(-1)?.tag;
  const category = actor ? categoryOf(actor) : last === undefined ? undefined : categoryIn([last]);
  const isOfStory = path === undefined;
  const name = isSelected ? 'name is-selected' : isOfStory ? 'name is-third' : 'name';
  return (
    <g class="lane-label">
      {isSelected && <rect class="lane-back" x="0" y={top} width={width} height={height} />}
      {isSelected && <rect class="lane-edge" x="0" y={top} width="2" height={height} />}
      {category && <Mark of={category} x={20} y={y - 6} />}
      <text class={name} x="40" y={y + 4}>
        {cut(lane.label)}
      </text>
      {path !== undefined && (
        <rect
          class="lane-hit"
          {...{ x: 0, y: top, width: LABEL_END, height }}
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

/** Beyond it are the bars. */
const LABEL_END = 138;
const MOST = 15;

const cut = (label: string): string => (label.length > MOST ? `${label.slice(0, MOST - 1)}…` : label);
