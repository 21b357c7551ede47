/** A single lane with the runs and waits of the selected actor, for narrow pages. */

import { goToTime } from '../../model/navigation/actions.ts';
import { formatClock } from '../../model/rail/time.ts';
import { barLabel, positionBars, type Scale, timeAt, toX } from '../../model/story/lanes/storyPixels.ts';
import { nameOf } from '../../model/story/storyWho.ts';
import { formatMinutes } from '../../model/story/storyWords.ts';
import { useSize } from '../../parts/useSize.tsx';
import type { StoryPanel } from './storyPanel.ts';

export function MiniLane(panel: StoryPanel) {
  const { view, storyState } = panel;
  const { box, size } = useSize<HTMLDivElement>();
  const lane = view.lanes.value.find(({ actors }) => actors.includes(view.subject.value));
  const { from, to } = storyState.range.value;
  return (
    <div class="minilane">
      <h3>
        <span>
          {lane && lane.runs.length > 0 ? 'Runs and waits' : 'States'} of {nameOf(view.subject.value)}
        </span>
        <span>
          {formatMinutes(from)} to {formatMinutes(to)}
        </span>
      </h3>
      <div ref={box}>{size && size.width > 0 && <MiniLaneDrawing {...panel} width={size.width} lane={lane} />}</div>
    </div>
  );
}

interface MiniLaneProps extends StoryPanel {
  readonly width: number;
  readonly lane: ReturnType<typeof findLane>;
}

const findLane = ({ view }: StoryPanel) => view.lanes.value.find(({ actors }) => actors.includes(view.subject.value));

function MiniLaneDrawing({ page, storyState, view, lane, width }: MiniLaneProps) {
  const scale: Scale = { ...storyState.range.value, left: 0, right: width };
  const now = toX(scale, page.now.value);
  const edge = toX(scale, view.latestTime.value);
  const until = lane?.until;
  const onClick = ({ offsetX }: MouseEvent) => {
    const at = timeAt(scale, offsetX);
    if (page.mode !== 'live' || at < page.live.peek().at) goToTime(page, Math.round(at));
  };
  return (
    <svg class="tl" width={width} height="62" role="img" aria-label="Runs and waits" onClick={onClick}>
      <pattern id="ahead-mini" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch" d="M0 0V6" />
      </pattern>
      {edge < width && <rect x={edge} y="8" width={width - edge} height="32" fill="url(#ahead-mini)" />}
      {positionBars(lane?.bars ?? [], scale).map((bar) => (
        <g key={`${bar.from} ${bar.state}`}>
          <rect
            class={`${bar.isMerged ? 'blip' : 'stay'} t-${bar.tag ?? 'none'}`}
            x={bar.x}
            y={12}
            width={bar.width}
            height={24}
            rx={bar.isMerged ? 1 : 3}
          />
          {!bar.isMerged && (
            <text class={`in t-${bar.tag ?? 'none'}`} x={bar.x + 7} y="28">
              {barLabel(bar, bar.width)}
            </text>
          )}
        </g>
      ))}
      {until !== undefined && until > view.latestTime.value && (
        <g class={`due t-${lane?.bars.at(-1)?.tag ?? 'none'}`}>
          <rect
            x={edge}
            y={12.5}
            width={Math.max(1, Math.min(width - 1, toX(scale, until)) - edge)}
            height={23}
            rx={3}
          />
        </g>
      )}
      {lane?.exits.map(({ at, step }) => (
        <path key={step} class="exit" d={`M${toX(scale, at)} 8l3.2 -4.6h-6.4z`} />
      ))}
      <line class="at" x1={now} x2={now} y1="4" y2="44" />
      <text class="ax first" x="0" y="56">
        {formatMinutes(scale.from)}
      </text>
      <text class="ax" x={Math.min(width - (until === undefined ? 14 : 72), now)} y="56">
        {page.past.value ? formatClock(page.now.value) : 'now'}
      </text>
      {until !== undefined && until > page.now.value && (
        <text class="ax due last" x={width} y="56">
          {formatClock(until)}
        </text>
      )}
    </svg>
  );
}
