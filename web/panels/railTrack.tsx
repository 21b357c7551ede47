/** The recording as a histogram of events, with the time range of the lanes and the displayed time. */
import { useRef } from 'preact/hooks';
import { goLive, goTo } from '../model/actions.ts';
import { draggedWindow, type Grip, heldAt, keyStep } from '../model/railMoves.ts';
import { type RailView, railTicks, railView, recordedText, spokenMoment } from '../model/railView.ts';
import { momentOf, type Scale, xOf } from '../model/storyPixels.ts';
import { zoomed } from '../model/storyWindow.ts';
import { useSize } from '../parts/useSize.tsx';
import { modeOf, shownMoment } from './railClock.tsx';
import type { StoryPanel } from './storyPanel.ts';

/** The track, or a note that the node does not record. */
export function Track(panel: StoryPanel) {
  const { page, telling } = panel;
  const { box, size } = useSize<HTMLDivElement>();
  const rail = page.rail.value;
  const to = page.mode === 'live' ? page.present.value : (page.recorded.value?.to ?? 0);
  const shown = rail && railView(rail, to, telling.window.value);
  return (
    <div class="track" ref={box}>
      {shown && size ? <Scene {...panel} shown={shown} width={size.width} /> : <Without page={page} />}
    </div>
  );
}

const Without = ({ page }: Pick<StoryPanel, 'page'>) =>
  page.recorded.value ? null : <p class="none">Nothing is recorded: there is no past to go back to.</p>;

interface SceneProps extends StoryPanel {
  readonly shown: RailView;
  readonly width: number;
}

const percent = (share: number): string => `${(100 * Math.min(1, Math.max(0, share))).toFixed(3)}%`;

function Scene(props: SceneProps) {
  const { shown, width, telling } = props;
  const { from, to, failures, restarts } = shown;
  const share = (at: number) => (at - from) / (to - from);
  const window = telling.window.value;
  return (
    <div class="scene" {...useHands(props)}>
      <div class="win" style={{ left: percent(share(window.from)), right: percent(1 - share(window.to)) }} />
      <Bars shown={shown} />
      {marksOf(failures, width).map((each) => (
        <span key={each} class="mark" style={{ left: percent(each) }} />
      ))}
      {restarts.map((each) => (
        <span key={each} class={each * width < EARLY ? 'flag is-early' : 'flag'} style={{ left: percent(each) }}>
          agent restarted
        </span>
      ))}
      <span class="from">{recordedText(shown)}</span>
      {railTicks(shown, width).map(({ at, x, text }) => (
        <span key={at} class="tick" style={{ left: `${x}px` }}>
          {text}
        </span>
      ))}
      <Playhead {...props} left={percent(share(shownMoment(props)))} />
    </div>
  );
}

/**
 * Minimum distance from the left edge for a label on the left side of its position, because the start of the track has
 * its own label.
 */
const EARLY = 220;

/** Merges marks that would overlap. */
function marksOf(failures: readonly number[], width: number): number[] {
  const marks: number[] = [];
  for (const each of failures) if ((each - (marks.at(-1) ?? -1)) * width >= 4) marks.push(each);
  return marks;
}

/** Maximum height of a bar within the viewBox of 36, which leaves room for the text above. */
const HIGHEST = 22;

const Bars = ({ shown: { bars } }: { readonly shown: RailView }) => (
  <svg viewBox="0 0 1000 36" preserveAspectRatio="none" aria-hidden="true">
    {bars.map(({ x, width, height, isInWindow }) => (
      <rect
        key={x}
        class={isInWindow ? 'is-in' : ''}
        {...{
          x: x * 1000,
          y: 36 - height * HIGHEST,
          width: Math.max(0.6, width * 1000 * 0.68),
          height: height * HIGHEST,
        }}
      />
    ))}
    <rect class="base" y="35.5" width="1000" height="1" />
  </svg>
);

function Playhead({ page, shown, left, ...panel }: SceneProps & { readonly left: string }) {
  const at = shownMoment({ page });
  const { from, to } = shown;
  const said = { at, live: page.present.value, mode: modeOf({ page }), since: page.sinceHeld.value };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = keyStep(event.key, to - from);
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    panel.player.stop();
    go(page, Math.max(from, at + step), to);
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
      aria-valuetext={spokenMoment(said)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Goes to a time. The end of the rail is the live view. */
function go(page: StoryPanel['page'], at: number, end: number, isMoving = false): void {
  if (page.mode === 'live' && at >= end) goLive(page);
  else goTo(page, Math.round(Math.min(at, end)), { isMoving });
}

/** Width of the area at the end that stands for the live view, in pixels. */
const LIVE_PX = 6;

/** Handles dragging. A drag stays with the part that it started on. */
function useHands({ page, telling, player, shown, width }: SceneProps) {
  const grip = useRef<Grip | undefined>(undefined);
  const scale = { from: shown.from, to: shown.to, left: 0, right: width };
  const goAt = (x: number, isMoving: boolean) =>
    go(page, Math.max(shown.from, momentOf(scale, x > width - LIVE_PX ? width : x)), shown.to, isMoving);
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    const { x, y } = placeIn(event);
    const window = telling.window.peek();
    const edges = { left: xOf(scale, window.from), right: xOf(scale, window.to) };
    const held = heldAt(x, edges, { isShifted: event.shiftKey, isUpper: y < UPPER });
    grip.current = { held, at: momentOf(scale, x), window };
    event.currentTarget.setPointerCapture(event.pointerId);
    player.stop();
    if (held === 'head') goAt(x, true);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { current } = grip;
    if (!current) return;
    const { x } = placeIn(event);
    const choice = draggedWindow(current, momentOf(scale, x), shown);
    if (choice) telling.choice.value = choice;
    else goAt(x, true);
  };
  const onPointerUp = (event: PointerEvent) => {
    if (grip.current?.held === 'head') goAt(placeIn(event).x, false);
    grip.current = undefined;
  };
  const onPointerCancel = () => {
    grip.current = undefined;
    const { at } = page.place.peek();
    if (page.isMoving.peek() && at !== undefined) goTo(page, at);
    page.isMoving.value = false;
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel, onWheel: wheelOf(telling, scale) };
}

/**
 * Height of the upper part, in which the edges of the time range can be dragged. Below it, only the displayed time can.
 */
const UPPER = 44;

function placeIn({ clientX, clientY, currentTarget }: MouseEvent): { readonly x: number; readonly y: number } {
  if (!(currentTarget instanceof Element)) return { x: 0, y: 0 };
  const box = currentTarget.getBoundingClientRect();
  return { x: clientX - box.left, y: clientY - box.top };
}

/** The wheel zooms the time range around the pointer. */
const wheelOf =
  ({ choice, window }: StoryPanel['telling'], scale: Scale) =>
  (event: WheelEvent) => {
    event.preventDefault();
    choice.value = zoomed(
      choice.peek(),
      window.peek(),
      event.deltaY > 0 ? 1.25 : 0.8,
      momentOf(scale, placeIn(event).x),
    );
  };
