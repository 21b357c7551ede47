/** The bars and marks of lanes over time. */
import type { ComponentChildren } from 'preact';
import { humanDuration } from '../../../base/time/duration.ts';
import type { Lane, Mark } from '../../model/story/lanes/storyLanes.ts';
import type { PositionedLane } from '../../model/story/lanes/storyLayout.ts';
import {
  barLabel,
  type PositionedBar,
  positionBars,
  positionMarks,
  type Scale,
  toX,
} from '../../model/story/lanes/storyPixels.ts';
import { isWithin } from '../../model/story/storyWho.ts';
import { formatDuration } from '../../model/story/storyWords.ts';
import type { StoryPanel } from './storyPanel.ts';

interface MarksProps extends StoryPanel {
  readonly positionedLanes: readonly PositionedLane[];
  readonly scale: Scale;
}

export function LaneMarks(props: MarksProps) {
  const { positionedLanes } = props;
  return (
    <>
      <Links {...props} />
      {positionedLanes.map((each) => (
        <g key={each.lane.id}>
          {each.lane.kind !== 'probe' && <Bars {...props} placedLane={each} />}
          <DeadlineBar {...props} placedLane={each} />
          <Dots {...props} placedLane={each} />
          <FailedRuns {...props} placedLane={each} />
        </g>
      ))}
    </>
  );
}

interface LaneProps extends MarksProps {
  readonly placedLane: PositionedLane;
}

/** Returns the event handlers that highlight the element under the pointer in all panels. */
function highlightHandlers({ storyState }: StoryPanel, marks: readonly Mark[]) {
  const [first] = marks;
  return {
    onPointerEnter: () => {
      if (first) storyState.highlight.value = { row: `${first.step}`, actor: first.actor };
    },
    onPointerLeave: () => {
      storyState.highlight.value = undefined;
    },
  };
}

const tagClass = (tag: string | undefined): string => `t-${tag ?? 'none'}`;

function Bars({ placedLane: { lane, y, barHeight }, scale }: LaneProps) {
  const positionedBars = positionBars(lane.bars, scale);
  return (
    <>
      {positionedBars.map((bar, index) => {
        const isLast = index === positionedBars.length - 1 && bar.to >= (lane.bars.at(-1)?.to ?? 0);
        const until = isLast && lane.until !== undefined && lane.until > bar.to ? lane.until : undefined;
        return <Bar key={`${bar.from} ${bar.state}`} bar={bar} y={y} barHeight={barHeight} until={until} />;
      })}
    </>
  );
}

interface BarProps {
  readonly bar: PositionedBar;
  readonly y: number;
  readonly barHeight: number;
  readonly until: number | undefined;
}

function Bar({ bar, y, barHeight, until }: BarProps) {
  const { x, width, isMerged, tag, state } = bar;
  const text = isMerged ? '' : barLabel(bar, width, until);
  return (
    <>
      <rect
        class={`${isMerged ? 'blip' : 'stay'} ${tagClass(tag)}`}
        x={x}
        y={y - barHeight / 2}
        width={width}
        rx={isMerged ? 1 : 3}
        height={barHeight}
      >
        <title>{`${state} ${formatDuration((until ?? bar.to) - bar.from)}`}</title>
      </rect>
      {text !== '' && (
        <text class={`in ${tagClass(tag)}`} x={x + 6.5} y={y + 3.8}>
          {text}
        </text>
      )}
    </>
  );
}

/** The remaining time of a state with a known deadline. */
function DeadlineBar({ placedLane: { lane, y, barHeight, isSelected, top, height }, scale, view }: LaneProps) {
  const { until } = lane;
  const from = toX(scale, view.latestTime.value);
  if (until === undefined || until <= view.latestTime.value || from > scale.right) return null;
  const end = toX(scale, until);
  const to = Math.min(end, scale.right);
  if (lane.kind === 'probe') return end < scale.right ? <circle class="next" cx={end} cy={y} r="2" /> : null;
  const tag = lane.bars.at(-1)?.tag;
  const text = `${humanDuration(until - view.latestTime.value)} left`;
  return (
    <g class={`due ${tagClass(tag)}`}>
      <rect x={from} y={y - barHeight / 2 + 0.5} width={Math.max(1, to - from)} height={barHeight - 1} rx={3} />
      {isSelected && to - from > text.length * 6 + 8 && (
        <text class="in" x={from + 7} y={y + 3.8}>
          {text}
        </text>
      )}
      {isSelected && end <= scale.right && <path d={`M${end} ${top}V${top + height - 2}`} />}
    </g>
  );
}

function Dots({ placedLane: { lane, y }, scale, ...panel }: LaneProps) {
  const radius = lane.kind === 'probe' ? 2 : 2.5;
  const tone = lane.kind === 'probe' ? 'good' : 'plain';
  return (
    <>
      {positionMarks(lane.marks, scale).map(({ x, marks, isFailure }) => (
        <Dot
          key={marks[0]?.step}
          x={x}
          y={y}
          radius={radius}
          name={isFailure ? 'bad' : tone}
          {...highlightHandlers(panel, marks)}
        >
          {marks.length > 1 && <title>{`${marks.length} at once`}</title>}
        </Dot>
      ))}
    </>
  );
}

interface DotProps extends ReturnType<typeof highlightHandlers> {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly name: string;
  readonly children: ComponentChildren;
}

/** A dot with a hit area that is larger than its visible part. */
const Dot = ({ x, y, radius, name, children, ...events }: DotProps) => (
  <g class={`dot ${name}`} {...events}>
    <circle class="hit" cx={x} cy={y} r="6" />
    <circle cx={x} cy={y} r={radius} />
    {children}
  </g>
);

/** A triangle above the lane for each failed run. */
function FailedRuns({ placedLane: { lane, y, barHeight }, scale, ...panel }: LaneProps) {
  const top = y - barHeight / 2 - 4;
  return (
    <>
      {lane.exits.map((mark) => {
        const x = toX(scale, mark.at);
        if (x < scale.left || x > scale.right) return null;
        return (
          <path key={mark.step} class="exit" d={`M${x} ${top}l3.2 -4.6h-6.4z`} {...highlightHandlers(panel, [mark])}>
            <title>ended badly</title>
          </path>
        );
      })}
    </>
  );
}

/** Thin lines that connect the source of an input with the lane of its recipient. */
function Links({ positionedLanes, scale, view }: MarksProps) {
  const subject = positionedLanes.find(
    ({ isSelected, lane }) => isSelected && lane.kind === 'actor' && lane.label !== 'pod',
  );
  const runtime = positionedLanes.find(({ lane }) => lane.kind === 'runtime');
  const source = positionedLanes.find(({ lane }) => lane.kind === 'source');
  const pod = positionedLanes.find(({ lane }) => lane.label === 'pod');
  return (
    <>
      {subject && runtime && runtime.y > subject.y && (
        <Link lane={runtime.lane} scale={scale} from={subject.y + 8} to={runtime.y} ancestor={view.subject.value} />
      )}
      {source && pod && <Link lane={source.lane} scale={scale} from={source.y} to={pod.y - 5} ancestor="" />}
    </>
  );
}

interface LinkProps {
  readonly lane: Lane;
  readonly scale: Scale;
  readonly from: number;
  readonly to: number;
  /** Limits the links to inputs of this actor or its descendants. */
  readonly ancestor: string;
}

const Link = ({ lane, scale, from, to, ancestor }: LinkProps) => (
  <>
    {positionMarks(
      lane.marks.filter(({ actor }) => isWithin(actor, ancestor)),
      scale,
    ).map(({ x, marks }) => (
      <line key={marks[0]?.step} class="link" x1={x} x2={x} y1={from} y2={to} />
    ))}
  </>
);
