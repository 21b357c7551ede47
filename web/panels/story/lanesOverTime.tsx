/** The lanes of a story over time. Bars are states, marks are inputs, and the expected future is hatched. */
import { goToTime, select } from '../../model/navigation/actions.ts';
import { formatClock } from '../../model/rail/time.ts';
import { positionLanes, timelineDescription } from '../../model/story/lanes/storyLayout.ts';
import { axisTicks, type Scale, timeAt, toX } from '../../model/story/lanes/storyPixels.ts';
import { shiftRange, zoomRange } from '../../model/story/lanes/storyWindow.ts';
import { storyName } from '../../model/story/storyView.ts';
import { formatMinutes } from '../../model/story/storyWords.ts';
import { useSize } from '../../parts/useSize.tsx';
import { LaneLabel } from './laneLabel.tsx';
import { LaneMarks } from './laneMarks.tsx';
import { RunLabels } from './runLabels.tsx';
import type { StoryPanel } from './storyPanel.ts';

/** Height of the axis above the lanes. */
const AXIS_HEIGHT = 20;
/** Height of the run numbers below the lanes. */
const FOOT_HEIGHT = 20;
const LEFT = 140;
const RIGHT = 18;

export function LanesOverTime(panel: StoryPanel) {
  const { box, size } = useSize<HTMLDivElement>();
  return (
    <div class="timeline" ref={box}>
      {size && size.width > 0 && <Timeline {...panel} {...size} />}
    </div>
  );
}

interface Sized extends StoryPanel {
  readonly width: number;
  readonly height: number;
}

function Timeline({ width, height, ...panel }: Sized) {
  const { page, storyState, view } = panel;
  const window = storyState.range.value;
  const scale: Scale = { ...window, left: width < 500 ? 96 : LEFT, right: width - RIGHT };
  const lanes = view.lanes.value;
  const { placed, height: lanesHeight } = positionLanes(lanes, view.subject.value, height - AXIS_HEIGHT - FOOT_HEIGHT);
  const bottom = Math.max(lanesHeight, height - AXIS_HEIGHT - FOOT_HEIGHT);
  const now = page.now.value;
  const edge = toX(scale, view.latestTime.value);
  const labels = { of: storyName(page), from: formatMinutes(window.from), to: formatMinutes(window.to) };
  const until = placed.find(({ isSelected }) => isSelected)?.lane.until;
  return (
    <>
      <Axis scale={scale} now={now} until={until} />
      <div class="lane-box">
        <svg
          class="tl"
          width={width}
          height={bottom}
          role="img"
          aria-label={timelineDescription(lanes, labels)}
          {...pointerHandlers(panel, scale)}
        >
          <Background scale={scale} edge={edge} bottom={bottom} />
          {placed.map((each) => (
            <LaneLabel
              key={each.lane.id}
              {...panel}
              positionedLane={each}
              width={width}
              left={scale.left}
              onSelect={(path) => select(page, path)}
            />
          ))}
          <LaneMarks {...panel} positionedLanes={placed} scale={scale} />
          <LaterDimming from={toX(scale, now)} edge={edge} width={width} height={bottom} />
        </svg>
      </div>
      <RunLabels lanes={placed} scale={scale} width={width} />
      <TimeMarker scale={scale} now={now} height={height} />
    </>
  );
}

interface DimmingProps extends Record<'from' | 'edge' | 'width' | 'height', number> {}

/** Dims the part of the lanes after the displayed time. */
const LaterDimming = ({ from, edge, width, height }: DimmingProps) =>
  from < edge ? <rect class="after" x={from} y="0" width={Math.max(0, width - from)} height={height} /> : null;

/**
 * Returns the event handlers. A click goes to a time, horizontal scrolling shifts the time range, and Ctrl with the
 * wheel zooms it.
 */
function pointerHandlers({ page, storyState }: StoryPanel, scale: Scale) {
  const pointerX = ({ clientX, currentTarget }: MouseEvent) =>
    clientX - (currentTarget instanceof Element ? currentTarget.getBoundingClientRect().left : 0);
  const pointerTime = (event: MouseEvent) => timeAt(scale, pointerX(event));
  return {
    onClick: (event: MouseEvent) => {
      if (pointerX(event) < scale.left || event.defaultPrevented) return;
      const at = pointerTime(event);
      if (page.mode !== 'live' || at < page.live.peek().at) goToTime(page, Math.round(at));
    },
    onWheel: (event: WheelEvent) => {
      const bounds = page.recordedRange.peek() ?? { from: scale.from, to: page.now.peek() };
      const window = storyState.range.peek();
      if (event.ctrlKey)
        storyState.rangeChoice.value = zoomRange(
          storyState.rangeChoice.peek(),
          window,
          event.deltaY > 0 ? 1.25 : 0.8,
          pointerTime(event),
        );
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const perPixel = (scale.to - scale.from) / (scale.right - scale.left);
        storyState.rangeChoice.value = shiftRange(window, event.deltaX * perPixel, bounds);
      } else return;
      event.preventDefault();
    },
  };
}

interface AxisProps {
  readonly scale: Scale;
  readonly now: number;
  readonly until: number | undefined;
}

/** Minimum distance of tick labels from the labels of the displayed time and of the deadline. */
const MIN_LABEL_DISTANCE = 58;

function Axis({ scale, now, until }: AxisProps) {
  const head = toX(scale, now);
  const end = until === undefined || until > scale.to || until <= now ? undefined : toX(scale, until);
  // Shift the label so that it is not clipped at the edge.
  const endAt = end === undefined ? undefined : Math.min(end, scale.right - 8);
  const isFree = (x: number) =>
    Math.abs(x - head) > MIN_LABEL_DISTANCE && (endAt === undefined || Math.abs(x - endAt) > MIN_LABEL_DISTANCE);
  return (
    <svg class="tl axis" width={scale.right + RIGHT} height={AXIS_HEIGHT} aria-hidden="true">
      {axisTicks(scale).map(
        ({ at, x, text }) =>
          isFree(x) && (
            <text key={at} class="ax" x={x} y="12">
              {text}
            </text>
          ),
      )}
      {endAt !== undefined && until !== undefined && Math.abs(endAt - head) > MIN_LABEL_DISTANCE && (
        <text class="ax due" x={endAt} y="12">
          {formatClock(until)}
        </text>
      )}
    </svg>
  );
}

/** The vertical lines of the ticks, and the hatching of the future. */
function Background({
  scale,
  edge,
  bottom,
}: {
  readonly scale: Scale;
  readonly edge: number;
  readonly bottom: number;
}) {
  const from = Math.max(edge, scale.left);
  return (
    <>
      <pattern id="ahead" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path class="hatch" d="M0 0V6" />
      </pattern>
      {axisTicks(scale).map(({ at, x }) => (
        <line key={at} class="g" x1={x} x2={x} y1="0" y2={bottom} />
      ))}
      {from < scale.right && <rect x={from} y="0" width={scale.right - from} height={bottom} fill="url(#ahead)" />}
    </>
  );
}

/** The marker of the displayed time. */
function TimeMarker({ scale, now, height }: { readonly scale: Scale; readonly now: number; readonly height: number }) {
  const x = toX(scale, now);
  if (x < scale.left || x > scale.right) return null;
  return (
    <svg class="tl playhead" width={scale.right + RIGHT} height={height} aria-hidden="true">
      <line x1={x} x2={x} y1="16" y2={height - FOOT_HEIGHT} />
      <rect x={x - 30} width="60" height="17" rx="4" />
      <text x={x} y="12">
        {formatClock(now)}
      </text>
    </svg>
  );
}
