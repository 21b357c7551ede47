/** The box of a state. The active state also shows what it is waiting for. */

import { type StateLine, stateLine, stateSentence, wrapText } from '../model/chart/text.ts';
import type { ChartActor, StateView } from '../model/chart/view.ts';
import { CategoryIcon } from '../parts/categoryIcon.tsx';

/** Callbacks of a box. */
interface StateActions {
  readonly onOpen: (state: string) => void;
  readonly onPoint: (state: string | undefined) => void;
  readonly onFocus: (state: string) => void;
}

interface BoxProps extends StateActions {
  readonly view: StateView;
  readonly chartActor: ChartActor | undefined;
  /** Whether the box is reachable with Tab. */
  readonly isNext: boolean;
  readonly isDescribed: boolean;
}

/** Whether there is room below the name. */
const isLarge = ({ drawn }: StateView): boolean => drawn.height > 40 && drawn.kind !== 'compound';

/** A box that can be focused and opened. */
export function StateBox({ view, chartActor, isNext, isDescribed, onOpen, onPoint, onFocus }: BoxProps) {
  const { drawn, active, containsActive } = view;
  return (
    <g
      role="button"
      class={classOf(view)}
      data-state={drawn.state}
      tabIndex={isNext ? 0 : -1}
      aria-label={stateSentence(view, chartActor)}
      aria-current={active ? 'true' : undefined}
      aria-expanded={isDescribed}
      onClick={() => onOpen(drawn.state)}
      onFocus={() => onFocus(drawn.state)}
      onPointerEnter={() => onPoint(drawn.state)}
      onPointerLeave={() => onPoint(undefined)}
    >
      {active && drawn.kind !== 'compound' && <Frame view={view} class="halo" />}
      <Frame view={view} class={`frame${containsActive ? ' around' : ''}`} />
      {active && drawn.kind !== 'compound' ? <ActiveText view={view} /> : <PlainText view={view} />}
    </g>
  );
}

const classOf = ({ drawn, active, wasVisited }: StateView): string =>
  ['st', drawn.kind, ...(active ? ['lit', `tone-${active.category}`] : wasVisited ? ['seen'] : [])].join(' ');

function Frame({ view, class: name }: { readonly view: StateView; readonly class: string }) {
  const { x, y, width, height, kind } = view.drawn;
  const radius = kind === 'compound' ? 8 : isLarge(view) ? 9 : 5;
  return <rect class={name} x={x} y={y} width={width} height={height} rx={radius} />;
}

/** The name, the duration of the last stay and, if there is room, the wait. */
function PlainText({ view }: { readonly view: StateView }) {
  const { drawn } = view;
  const { x, y, width, kind, waitsFor } = drawn;
  const line = stateLine(drawn.label, view.duration, width - 19);
  const base = kind === 'compound' ? y + 18 : isLarge(view) ? y + 21 : y + drawn.height / 2 + 4;
  const lines = isLarge(view) && waitsFor !== undefined ? waitLines(waitsFor, width) : [];
  return (
    <>
      <NameAndDuration line={line} x={x + 10} end={x + width - 9} base={base} />
      {lines.map((each, index) => (
        <text key={each} class="wf" x={x + 10} y={base + 17 + 14 * index}>
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
  const { drawn, active } = view;
  if (active === undefined) return null;
  const { x, y, width, height } = drawn;
  const large = isLarge(view);
  const base = large ? y + 22 : y + height / 2 + 4;
  const size = large ? 14 : 11;
  const line = stateLine(active.label, view.duration, width - 26 - size, large);
  const lines = large && active.waitingFor !== undefined ? waitLines(active.waitingFor, width) : [];
  return (
    <>
      <CategoryIcon category={active.category} x={x + 10} y={base - size + 2} size={size} />
      <NameAndDuration line={line} x={x + 16 + size} end={x + width - 10} base={base} isBig={large} />
      {lines.map((each, index) => (
        <text key={each} class="wf" x={x + 10} y={base + 16 + 13 * index}>
          {each}
        </text>
      ))}
      <Progress view={view} />
    </>
  );
}

function Progress({ view }: { readonly view: StateView }) {
  const { drawn, active } = view;
  if (active?.progress === undefined) return null;
  const large = isLarge(view);
  const [inset, height] = large ? [10, 4] : [6, 2];
  const y = drawn.y + drawn.height - (large ? 11 : 4);
  const width = drawn.width - 2 * inset;
  return (
    <>
      <rect class="bar0" x={drawn.x + inset} y={y} width={width} height={height} rx={height / 2} />
      <rect class="bar1" x={drawn.x + inset} y={y} width={width * active.progress} height={height} rx={height / 2} />
    </>
  );
}
