/** The box of a state. The active state also shows what it is waiting for. */

import { type StateLine, stateLine, stateSentence, wrapText } from '../../model/chart/text.ts';
import type { ChartActor, StateView } from '../../model/chart/view.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';

/** Callbacks of a box. */
interface StateActions {
  readonly onOpen: (state: string) => void;
  readonly onPoint: (state: string | undefined) => void;
  readonly onFocus: (state: string) => void;
}

interface BoxProps extends StateActions {
  readonly view: StateView;
  readonly chartActor: ChartActor | undefined;
  /** Whether the box can be focused with Tab. */
  readonly isNext: boolean;
  readonly isDescribed: boolean;
}

/** Whether there is room below the name. */
const isLarge = ({ drawnState }: StateView): boolean => drawnState.height > 40 && drawnState.kind !== 'compound';

/** A box that can be focused and opened. */
export function StateBox({ view, chartActor, isNext, isDescribed, onOpen, onPoint, onFocus }: BoxProps) {
  const { drawnState, activeState, containsActive } = view;
  return (
    <g
      role="button"
      class={classOf(view)}
      data-state={drawnState.state}
      tabIndex={isNext ? 0 : -1}
      aria-label={stateSentence(view, chartActor)}
      aria-current={activeState ? 'true' : undefined}
      aria-expanded={isDescribed}
      onClick={() => onOpen(drawnState.state)}
      onFocus={() => onFocus(drawnState.state)}
      onPointerEnter={() => onPoint(drawnState.state)}
      onPointerLeave={() => onPoint(undefined)}
    >
      {activeState && drawnState.kind !== 'compound' && <Frame view={view} class="halo" />}
      <Frame view={view} class={`frame${containsActive ? ' around' : ''}`} />
      {activeState && drawnState.kind !== 'compound' ? <ActiveText view={view} /> : <PlainText view={view} />}
    </g>
  );
}

const classOf = ({ drawnState, activeState, wasVisited }: StateView): string =>
  ['st', drawnState.kind, ...(activeState ? ['lit', `tone-${activeState.category}`] : wasVisited ? ['seen'] : [])].join(
    ' ',
  );

function Frame({ view, class: name }: { readonly view: StateView; readonly class: string }) {
  const { x, y, width, height, kind } = view.drawnState;
  const radius = kind === 'compound' ? 8 : isLarge(view) ? 9 : 5;
  return <rect class={name} x={x} y={y} width={width} height={height} rx={radius} />;
}

/** The name, the time that the actor last spent in the state and, if there is room, the wait. */
function PlainText({ view }: { readonly view: StateView }) {
  const { drawnState } = view;
  const { x, y, width, kind, waitsFor } = drawnState;
  const line = stateLine(drawnState.label, view.duration, width - 19);
  const baselineY = kind === 'compound' ? y + 18 : isLarge(view) ? y + 21 : y + drawnState.height / 2 + 4;
  const lines = isLarge(view) && waitsFor !== undefined ? waitLines(waitsFor, width) : [];
  return (
    <>
      <NameAndDuration line={line} x={x + 10} end={x + width - 9} base={baselineY} />
      {lines.map((each, index) => (
        <text key={each} class="wf" x={x + 10} y={baselineY + 17 + 14 * index}>
          {each}
        </text>
      ))}
    </>
  );
}

interface LineProps {
  readonly line: StateLine;
  readonly x: number;
  readonly end: number;
  readonly base: number;
  readonly isBig?: boolean;
}

/** The name, clipped so that it never overlaps the duration at the end of its line. */
const NameAndDuration = ({ line: { label, labelWidth, duration }, x, end, base, isBig = false }: LineProps) => (
  <>
    <svg x={x} y={base - 16} width={labelWidth} height={22}>
      <text class={isBig ? 'nm big' : 'nm'} x={0} y={16}>
        {label}
      </text>
    </svg>
    {duration !== undefined && (
      <text class="dw" x={end} y={base}>
        {duration}
      </text>
    )}
  </>
);

const waitLines = (waitsFor: string, width: number): string[] =>
  wrapText(`waits for ${waitsFor}`, Math.floor((width - 24) / 5.5), 2);

/** The content of the active state's box: its icon, the time spent there and the progress of its wait. */
function ActiveText({ view }: { readonly view: StateView }) {
  const { drawnState, activeState } = view;
  if (activeState === undefined) return null;
  const { x, y, width, height } = drawnState;
  const large = isLarge(view);
  const baselineY = large ? y + 22 : y + height / 2 + 4;
  const size = large ? 14 : 11;
  const line = stateLine(activeState.label, view.duration, width - 26 - size, large);
  const lines = large && activeState.waitingFor !== undefined ? waitLines(activeState.waitingFor, width) : [];
  return (
    <>
      <CategoryIcon category={activeState.category} x={x + 10} y={baselineY - size + 2} size={size} />
      <NameAndDuration line={line} x={x + 16 + size} end={x + width - 10} base={baselineY} isBig={large} />
      {lines.map((each, index) => (
        <text key={each} class="wf" x={x + 10} y={baselineY + 16 + 13 * index}>
          {each}
        </text>
      ))}
      <Progress view={view} />
    </>
  );
}

function Progress({ view }: { readonly view: StateView }) {
  const { drawnState, activeState } = view;
  if (activeState?.progress === undefined) return null;
  const large = isLarge(view);
  const [inset, height] = large ? [10, 4] : [6, 2];
  const y = drawnState.y + drawnState.height - (large ? 11 : 4);
  const width = drawnState.width - 2 * inset;
  return (
    <>
      <rect class="bar0" x={drawnState.x + inset} y={y} width={width} height={height} rx={height / 2} />
      <rect
        class="bar1"
        x={drawnState.x + inset}
        y={y}
        width={width * activeState.progress}
        height={height}
        rx={height / 2}
      />
    </>
  );
}
