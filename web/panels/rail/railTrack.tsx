/** The recording as a histogram of events, with the time range of the lanes and the displayed time. */
import { useRef } from 'preact/hooks';
import { goLive, goToTime } from '../../model/navigation/actions.ts';
import { type DragStart, draggedRange, dragTargetAt, keyStep } from '../../model/rail/railDrag.ts';
import { type RailView, railTicks, railView, recordedText, spokenTime } from '../../model/rail/railView.ts';
import { type Scale, timeAt, toX } from '../../model/story/lanes/storyPixels.ts';
import { zoomRange } from '../../model/story/lanes/storyWindow.ts';
import { useSize } from '../../parts/useSize.tsx';
import type { StoryPanel } from '../story/storyPanel.ts';
import { displayedTime, timeMode } from './railClock.tsx';

/** The track, or a note that the node does not record. */
export function Track(panel: StoryPanel) {
  const { page, storyState } = panel;
  const { box, size } = useSize<HTMLDivElement>();
  const rail = page.rail.value;
  const to = page.mode === 'live' ? page.nodeTime.value : (page.recordedRange.value?.to ?? 0);
  const railModel = rail && railView(rail, to, storyState.range.value);
  return (
    <div class="track" ref={box}>
      {railModel && size ? (
        <Scene {...panel} railModel={railModel} width={size.width} />
      ) : (
        <NoRecordingNote page={page} />
      )}
    </div>
  );
}

const NoRecordingNote = ({ page }: Pick<StoryPanel, 'page'>) =>
  page.recordedRange.value ? null : <p class="none">Nothing is recorded: there is no past to go back to.</p>;

interface SceneProps extends StoryPanel {
  readonly railModel: RailView;
  readonly width: number;
}

const percent = (share: number): string => `${(100 * Math.min(1, Math.max(0, share))).toFixed(3)}%`;

function Scene(props: SceneProps) {
  const { railModel, width, storyState } = props;
  const { from, to, failures, restarts } = railModel;
  const share = (at: number) => (at - from) / (to - from);
  const window = storyState.range.value;
  return (
    <div class="scene" {...usePointer(props)}>
      <div class="win" style={{ left: percent(share(window.from)), right: percent(1 - share(window.to)) }} />
      <Bars railModel={railModel} />
      {mergeMarks(failures, width).map((each) => (
        <span key={each} class="mark" style={{ left: percent(each) }} />
      ))}
      {restarts.map((each) => (
        <span key={each} class={each * width < MIN_LABEL_X ? 'flag is-early' : 'flag'} style={{ left: percent(each) }}>
          agent restarted
        </span>
      ))}
      <span class="from">{recordedText(railModel)}</span>
      {railTicks(railModel, width).map(({ at, x, text }) => (
        <span key={at} class="tick" style={{ left: `${x}px` }}>
          {text}
        </span>
      ))}
      <Playhead {...props} left={percent(share(displayedTime(props)))} />
    </div>
  );
}

/**
 * Distance from the left edge within which the label of a restart is placed on the right side of its position, because
 * it would overlap the label of the track's start on the left side.
 */
const MIN_LABEL_X = 220;

/** Merges marks that would overlap. */
function mergeMarks(failures: readonly number[], width: number): number[] {
  const marks: number[] = [];
  for (const each of failures) if ((each - (marks.at(-1) ?? -1)) * width >= 4) marks.push(each);
  return marks;
}

/** Maximum height of a bar within the viewBox of 36, which leaves room for the text above. */
const MAX_BAR_HEIGHT = 22;

const Bars = ({ railModel: { bars } }: { readonly railModel: RailView }) => (
  <svg viewBox="0 0 1000 36" preserveAspectRatio="none" aria-hidden="true">
    {bars.map(({ x, width, height, isInWindow }) => (
      <rect
        key={x}
        class={isInWindow ? 'is-in' : ''}
        x={x * 1000}
        y={36 - height * MAX_BAR_HEIGHT}
        width={Math.max(0.6, width * 1000 * 0.68)}
        height={height * MAX_BAR_HEIGHT}
      />
    ))}
    <rect class="base" y="35.5" width="1000" height="1" />
  </svg>
);

function Playhead({ page, railModel, left, ...panel }: SceneProps & { readonly left: string }) {
  const at = displayedTime({ page });
  const { from, to } = railModel;
  const clockState = {
    at,
    live: page.nodeTime.value,
    mode: timeMode({ page }),
    eventCount: page.eventsSinceFreeze.value,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = keyStep(event.key, to - from);
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    panel.player.stop();
    goToRailTime(page, Math.max(from, at + step), to);
  };
  return (
    <span
      class="head0"
      style={{ left }}
      role="slider"
      tabIndex={0}
      aria-label="Moment shown"
      aria-valuemin={0}
      aria-valuemax={Math.round((to - from) / 1_000)}
      aria-valuenow={Math.round((at - from) / 1_000)}
      aria-valuetext={spokenTime(clockState)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Goes to a time. The end of the rail represents the live view. */
function goToRailTime(page: StoryPanel['page'], at: number, end: number, isMoving = false): void {
  if (page.mode === 'live' && at >= end) goLive(page);
  else goToTime(page, Math.round(Math.min(at, end)), { isMoving });
}

/** Width of the area at the end that represents the live view, in pixels. */
const LIVE_PX = 6;

/** Handles dragging. A drag only affects the part of the rail on which it started. */
function usePointer({ page, storyState, player, railModel, width }: SceneProps) {
  const dragStart = useRef<DragStart | undefined>(undefined);
  const scale = { from: railModel.from, to: railModel.to, left: 0, right: width };
  const goAt = (x: number, isMoving: boolean) =>
    goToRailTime(
      page,
      Math.max(railModel.from, timeAt(scale, x > width - LIVE_PX ? width : x)),
      railModel.to,
      isMoving,
    );
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    const { x, y } = positionIn(event);
    const range = storyState.range.peek();
    const edges = { left: toX(scale, range.from), right: toX(scale, range.to) };
    const target = dragTargetAt(x, edges, { isShifted: event.shiftKey, isUpper: y < UPPER_HEIGHT });
    dragStart.current = { target, at: timeAt(scale, x), range };
    event.currentTarget.setPointerCapture(event.pointerId);
    player.stop();
    if (target === 'head') goAt(x, true);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { current } = dragStart;
    if (!current) return;
    const { x } = positionIn(event);
    const newRange = draggedRange(current, timeAt(scale, x), railModel);
    if (newRange) storyState.rangeChoice.value = newRange;
    else goAt(x, true);
  };
  const onPointerUp = (event: PointerEvent) => {
    if (dragStart.current?.target === 'head') goAt(positionIn(event).x, false);
    dragStart.current = undefined;
  };
  const onPointerCancel = () => {
    dragStart.current = undefined;
    const { at } = page.location.peek();
    if (page.isDragging.peek() && at !== undefined) goToTime(page, at);
    page.isDragging.value = false;
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel, onWheel: zoomOnWheel(storyState, scale) };
}

/** Height of the upper part, in pixels. The edges of the time range can only be dragged there. */
const UPPER_HEIGHT = 44;

function positionIn({ clientX, clientY, currentTarget }: MouseEvent): { readonly x: number; readonly y: number } {
  if (!(currentTarget instanceof Element)) return { x: 0, y: 0 };
  const box = currentTarget.getBoundingClientRect();
  return { x: clientX - box.left, y: clientY - box.top };
}

/** The wheel zooms the time range around the pointer. */
const zoomOnWheel =
  ({ rangeChoice, range }: StoryPanel['storyState'], scale: Scale) =>
  (event: WheelEvent) => {
    event.preventDefault();
    rangeChoice.value = zoomRange(
      rangeChoice.peek(),
      range.peek(),
      event.deltaY > 0 ? 1.25 : 0.8,
      timeAt(scale, positionIn(event).x),
    );
  };
