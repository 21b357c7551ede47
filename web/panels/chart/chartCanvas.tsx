/** The interactive drawing. The pointer drags it, the wheel zooms, and the arrow keys move between states. */
import { useEffect, useRef } from 'preact/hooks';
import type { Drawing, DrawnState } from '../../../inspect/protocol.ts';
import { boxInDirection, type Camera } from '../../model/chart/camera.ts';
import { type Chart, cameraOf, pan, scrollIntoView, zoom } from '../../model/chart/chart.ts';
import { type ArrowView, buildChartView, type ChartActor, type ChartView } from '../../model/chart/view.ts';
import { ArrowCount, ArrowHeads, ArrowLabel, ArrowLine } from './chartArrow.tsx';
import { StateBox } from './stateBox.tsx';

interface CanvasProps {
  readonly chart: Chart;
  readonly drawing: Drawing;
  readonly chartActor?: ChartActor | undefined;
  readonly label: string;
  /** Called with the transition under the pointer. */
  readonly onPoint?: (way: string | undefined) => void;
}

/** The visible part of a chart with its states and transitions. */
export function ChartCanvas({ chart, drawing, chartActor, label, onPoint }: CanvasProps) {
  const svg = useRef<SVGSVGElement>(null);
  useSize(svg, chart);
  const view = buildChartView(drawing, chartActor);
  const activeState = view.states.find((state) => state.activeState)?.drawnState;
  const camera = cameraOf(chart, drawing, activeState);
  useEffect(() => {
    chart.activeBox.value = activeState?.state;
  }, [chart, activeState?.state]);
  useWheel(svg, chart, drawing, camera);
  const tone = view.states.find((state) => state.activeState)?.activeState?.category;
  return (
    <svg
      ref={svg}
      class={`sc${tone ? ` tone-${tone}` : ''}`}
      role="group"
      aria-label={label}
      onKeyDown={(event) => moveFocus(event, { chart, drawing, camera })}
      {...dragHandlers(chart, drawing, camera)}
    >
      <ArrowHeads />
      <g transform={`translate(${camera.x} ${camera.y}) scale(${camera.scale})`}>
        <ChartElements
          chart={chart}
          view={view}
          chartActor={chartActor}
          onPoint={onPoint}
          start={activeState ?? drawing.states[0]}
        />
      </g>
    </svg>
  );
}

interface PartsProps {
  readonly chart: Chart;
  readonly view: ChartView;
  readonly chartActor: ChartActor | undefined;
  /** The first state that can be focused with Tab. */
  readonly start: DrawnState | undefined;
  readonly onPoint?: CanvasProps['onPoint'];
}

/** The elements in painting order: compound states, arrows, simple states, labels. */
function ChartElements({ chart, view, chartActor, start, onPoint: onArrowPoint }: PartsProps) {
  const { hoveredElement } = chart;
  const isPointed = ({ drawnTransition }: ArrowView) =>
    hoveredElement.value.arrow === drawnTransition.ways[0] ||
    (hoveredElement.value.state !== undefined &&
      [drawnTransition.from, drawnTransition.to].includes(hoveredElement.value.state));
  const onPoint = (arrow: string | undefined) => {
    onArrowPoint?.(arrow);
    hoveredElement.value = arrow === undefined ? {} : { arrow };
  };
  const isLabelled = (way: ArrowView) =>
    isPointed(way) || way.style === 'next' || (way.style === 'last' && way.drawnTransition.labelAt !== undefined);
  const keyedArrows = view.arrows.map((way) => ({ way, key: way.drawnTransition.ways[0] }));
  const boxes = { chart, view, chartActor, start };
  return (
    <>
      <Boxes {...boxes} isOuter={true} />
      {keyedArrows.map(({ way, key }) => (
        <ArrowLine key={key} view={way} isPointed={isPointed(way)} onPoint={onPoint} />
      ))}
      <Boxes {...boxes} isOuter={false} />
      {keyedArrows.map(({ way, key }) => (
        <ArrowCount key={key} view={way} />
      ))}
      {keyedArrows.map(
        ({ way, key }) => isLabelled(way) && <ArrowLabel key={key} view={way} isPointed={isPointed(way)} />,
      )}
    </>
  );
}

/** The boxes of either compound or simple states. */
function Boxes({ chart, view, chartActor, start, isOuter }: PartsProps & { readonly isOuter: boolean }) {
  const { hoveredElement, focusedState, describedState } = chart;
  const actions = {
    onOpen: (state: string) => {
      describedState.value = describedState.peek() === state ? undefined : state;
    },
    onPoint: (state: string | undefined) => {
      hoveredElement.value = state === undefined ? {} : { state };
    },
    onFocus: (state: string) => {
      focusedState.value = state;
      hoveredElement.value = { state };
    },
  };
  const next = focusedState.value ?? start?.state;
  const visibleStates = view.states.filter(({ drawnState }) => (drawnState.kind === 'compound') === isOuter);
  return (
    <>
      {visibleStates.map((state) => {
        const { state: id } = state.drawnState;
        const isDescribed = describedState.value === id;
        return (
          <StateBox
            key={id}
            view={state}
            chartActor={chartActor}
            isDescribed={isDescribed}
            isNext={id === next}
            {...actions}
          />
        );
      })}
    </>
  );
}

function useSize(svg: { readonly current: SVGSVGElement | null }, chart: Chart): void {
  useEffect(() => {
    const { current } = svg;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => {
      chart.size.value = { width: current.clientWidth, height: current.clientHeight };
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [svg, chart]);
}

/** Zooms with Ctrl and the wheel, and scrolls with the wheel alone. */
function useWheel(
  svg: { readonly current: SVGSVGElement | null },
  chart: Chart,
  drawing: Drawing,
  camera: Camera,
): void {
  useEffect(() => {
    const { current } = svg;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      if (event.ctrlKey) zoom(chart, camera, Math.exp(-event.deltaY / 200), [event.offsetX, event.offsetY]);
      else pan(chart, camera, [-event.deltaX, -event.deltaY], drawing);
    };
    // Register a listener that is not passive, because only such a listener can prevent the page from scrolling.
    current?.addEventListener('wheel', onWheel, { passive: false });
    return () => current?.removeEventListener('wheel', onWheel);
  });
}

/** Maximum distance in pixels that the pointer may move during a click. */
const MAX_CLICK_MOVEMENT = 4;

function dragHandlers(chart: Chart, drawing: Drawing, camera: Camera) {
  return {
    onPointerDown: (event: PointerEvent & { readonly currentTarget: SVGSVGElement }) => {
      if (event.button !== 0) return;
      const svg = event.currentTarget;
      const [startX, startY] = [event.clientX, event.clientY];
      let isMoving = false;
      const move = ({ clientX, clientY, pointerId }: PointerEvent) => {
        const by = [clientX - startX, clientY - startY] as const;
        if (!isMoving && Math.hypot(...by) < MAX_CLICK_MOVEMENT) return;
        // Capture the pointer only once it moves, because capturing it earlier would prevent clicks on the elements
        // below it.
        if (!isMoving) svg.setPointerCapture(pointerId);
        isMoving = true;
        pan(chart, camera, by, drawing);
      };
      const end = () => {
        svg.removeEventListener('pointermove', move);
        for (const name of ['pointerup', 'pointercancel'] as const) svg.removeEventListener(name, end);
      };
      svg.addEventListener('pointermove', move);
      for (const name of ['pointerup', 'pointercancel'] as const) svg.addEventListener(name, end);
    },
  };
}

interface KeyNavigationContext {
  readonly chart: Chart;
  readonly drawing: Drawing;
  readonly camera: Camera;
}

/** Arrow keys follow transitions. Enter and Space open the description of a state. */
function moveFocus(
  event: KeyboardEvent & { readonly currentTarget: SVGSVGElement },
  { chart, drawing, camera }: KeyNavigationContext,
): void {
  const from = drawing.states.find(({ state }) => state === chart.focusedState.peek());
  if (from === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const isPressed = event.key === 'Enter' || event.key === ' ';
  if (isPressed) chart.describedState.value = chart.describedState.peek() === from.state ? undefined : from.state;
  const to = boxInDirection(drawing, from, event.key);
  if (to) {
    chart.focusedState.value = to.state;
    scrollIntoView(chart, camera, to, drawing);
    const boxes = [...event.currentTarget.querySelectorAll<SVGGElement>('[data-state]')];
    boxes.find(({ dataset }) => dataset.state === to.state)?.focus();
  }
  if (to === undefined && !isPressed) return;
  event.preventDefault();
  event.stopPropagation();
}
