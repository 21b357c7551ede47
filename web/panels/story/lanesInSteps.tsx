/** The rows of the story's list as a horizontal sequence diagram. */
import { categoryOf } from '../../../show/category.ts';
import type { Column, Sequence } from '../../model/story/rows/storySequence.ts';
import { highlightOf } from '../../model/story/storyState.ts';
import { shortState } from '../../model/story/storyWho.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import { useSize } from '../../parts/useSize.tsx';
import { truncate } from './laneLabel.tsx';
import type { StoryPanel } from './storyPanel.ts';

const LEFT = 156;
/** Width of the participants' labels. */
const LABEL_WIDTH = 96;
const TOP_HEIGHT = 20;
const FOOT_HEIGHT = 30;
/** The minimum and the maximum distance between two columns. */
const [MIN_PITCH, MAX_PITCH] = [26, 41];
const RIGHT_MARGIN = 60;

export function LanesInSteps(panel: StoryPanel) {
  const { box, size } = useSize<HTMLDivElement>();
  const sequence = panel.view.sequence.value;
  return (
    <div class="timeline" ref={box}>
      {size && sequence && <Diagram {...panel} {...size} sequence={sequence} />}
      {!sequence && <p class="no-story">No events are recorded here.</p>}
    </div>
  );
}

interface DiagramLayout extends StoryPanel {
  readonly sequence: Sequence;
  readonly xOf: (column: number) => number;
  readonly yOf: (party: string) => number;
  readonly bottom: number;
}

interface Sized extends StoryPanel {
  readonly sequence: Sequence;
  readonly width: number;
  readonly height: number;
}

function Diagram({ width, height, sequence, ...panel }: Sized) {
  const { participants, subjectIndex, columns } = sequence;
  const pitch = Math.max(MIN_PITCH, Math.min(MAX_PITCH, (width - RIGHT_MARGIN - LEFT) / Math.max(1, columns.length)));
  const availableHeight = height - TOP_HEIGHT - FOOT_HEIGHT;
  const each = Math.max(20, Math.min(27, (availableHeight - 20) / Math.max(1, participants.length)));
  const y = (index: number) =>
    TOP_HEIGHT + 16 + index * each + (index === subjectIndex ? 10 : index > subjectIndex ? 20 : 0);
  const yById = new Map(participants.map(({ id }, index) => [id, y(index)]));
  const totalWidth = Math.max(width, LEFT + columns.length * pitch + RIGHT_MARGIN);
  const bottom = Math.max(height - FOOT_HEIGHT, y(participants.length - 1) + 14);
  const layout: DiagramLayout = {
    ...panel,
    sequence,
    bottom,
    xOf: (column) => LEFT + Math.max(-0.4, column) * pitch,
    yOf: (party) => yById.get(party) ?? TOP_HEIGHT,
  };
  return (
    <div class="lane-box sideways">
      <svg
        class="tl steps"
        width={totalWidth}
        height={bottom + FOOT_HEIGHT}
        role="img"
        aria-label={`Sequence of ${columns.length} arrows, as listed beside`}
      >
        <Participants {...layout} width={totalWidth} />
        <States {...layout} />
        {columns.map((column, index) => (
          <Arrow
            key={column.row?.key ?? `ask ${columns[index - 1]?.row?.key} ${index}`}
            {...layout}
            column={column}
            index={index}
          />
        ))}
        <Offsets {...layout} />
        <Gaps {...layout} />
        <CurrentState {...layout} />
      </svg>
    </div>
  );
}

function Participants({ sequence, yOf, width, page }: DiagramLayout & { readonly width: number }) {
  return (
    <>
      {sequence.participants.map(({ id, label, actor }, index) => {
        const isSubject = index === sequence.subjectIndex;
        const participantActor = actor === undefined ? undefined : page.world.value.actors.get(actor);
        const y = yOf(id);
        return (
          <g key={id}>
            {isSubject && <rect class="lane-back" x="0" y={y - 16} width={width} height="32" />}
            {isSubject && <rect class="lane-edge" x="0" y={y - 16} width="2" height="32" />}
            <line class="g" x1="140" x2={width - 18} y1={y} y2={y} />
            {participantActor && <CategoryIcon category={categoryOf(participantActor)} x={20} y={y - 6} />}
            <svg x="40" y={y - 10} width={LABEL_WIDTH} height="20">
              <text
                class={isSubject ? 'name is-selected' : actor === undefined ? 'name is-third' : 'name'}
                x="0"
                y="14"
              >
                {truncate(label, LABEL_WIDTH)}
              </text>
            </svg>
          </g>
        );
      })}
    </>
  );
}

function States({ sequence, xOf, yOf }: DiagramLayout) {
  const { participants, subjectIndex, bars } = sequence;
  const y = yOf(participants[subjectIndex]?.id ?? '');
  return (
    <>
      {bars.map(({ from, to, state, tag }) => {
        const [x, end] = [xOf(from), xOf(to)];
        const short = shortState(state);
        const text = [short, short.split('.')[0] ?? ''].find((each) => each.length * 6 + 12 < end - x);
        return (
          <g key={`${from} ${state}`}>
            <rect class={`stay t-${tag ?? 'none'}`} x={x} y={y - 9} width={end - x} height={18} rx={3} />
            {text && (
              <text class={`in t-${tag ?? 'none'}`} x={x + 7} y={y + 4}>
                {text}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** Half the height of the subject's bars. Arrows end at the edges of the bars. */
const HALF_BAR_HEIGHT = 9;

interface ArrowProps extends DiagramLayout {
  readonly column: Column;
  readonly index: number;
}

function Arrow({ column, index, sequence, xOf, yOf, storyState }: ArrowProps) {
  const x = xOf(index);
  const subject = sequence.participants[sequence.subjectIndex]?.id;
  const [start, end] = [yOf(column.from), yOf(column.to)];
  const direction = end >= start ? 1 : -1;
  const y1 = column.from === subject ? start + direction * HALF_BAR_HEIGHT : start;
  const y2 = column.to === subject ? end - direction * HALF_BAR_HEIGHT : end;
  const { row } = column;
  const isCall = column.kind === 'ask';
  const isPointed = row !== undefined && storyState.highlight.value?.row === row.key;
  const name = `arrow ${isCall ? 'ask' : column.isFailure ? 'bad' : 'plain'}${isPointed ? ' is-pointed' : ''}`;
  return (
    <g
      class={name}
      onPointerEnter={() => {
        if (row) storyState.highlight.value = highlightOf(row);
      }}
      onPointerLeave={() => {
        storyState.highlight.value = undefined;
      }}
    >
      <line x1={x} x2={x} y1={y1} y2={y2 - direction * 6} />
      <path d={`M${x - 4} ${y2 - direction * 7}h8L${x} ${y2}z`} />
      <circle class="end" cx={x} cy={y1} r="2.2" />
      {column.rowNumber !== undefined && <NumberBadge x={x} y={numberY(y1, y2, column)} number={column.rowNumber} />}
      {row && <title>{`${row.source} ${row.text} ${row.note ?? ''}`.trim()}</title>}
    </g>
  );
}

/** Returns the y coordinate of the number on an arrow. The number of an outgoing call is at the start of the arrow. */
const numberY = (y1: number, y2: number, { kind }: Column): number => (kind === 'ask' ? y1 : (y1 + y2) / 2);

const NumberBadge = ({ x, y, number }: { readonly x: number; readonly y: number; readonly number: number }) => (
  <>
    <circle class="number" cx={x} cy={y} r="7.5" />
    <text class="number" x={x} y={y + 3.6}>
      {number}
    </text>
  </>
);

/** The time of each arrow since the first one, if there is room for it. */
function Offsets({ sequence, xOf }: DiagramLayout) {
  let nextFreeX = 0;
  const labels = sequence.columns.flatMap(({ label }, index) => {
    const x = xOf(index);
    if (label === undefined || x - (label.length * CHARACTER_WIDTH) / 2 < nextFreeX) return [];
    nextFreeX = x + (label.length * CHARACTER_WIDTH) / 2 + 4;
    return [{ x, label }];
  });
  return (
    <>
      {labels.map(({ x, label }) => (
        <text key={x} class="ax" x={x} y="12">
          {label}
        </text>
      ))}
    </>
  );
}

/** Approximate width of a character in a label. */
const CHARACTER_WIDTH = 5.6;

function Gaps({ sequence, xOf, bottom }: DiagramLayout) {
  let nextFreeX = 0;
  return (
    <>
      {sequence.gaps.map(({ from, to, text }) => {
        const [x, end] = [xOf(from) + 4, xOf(to) - 4];
        const middle = (x + end) / 2;
        const halfWidth = (text.length * CHARACTER_WIDTH) / 2;
        const isFree = middle - halfWidth > nextFreeX;
        if (isFree) nextFreeX = middle + halfWidth + 4;
        return (
          <g key={from}>
            <path class="gap" d={`M${x} ${bottom + 5}V${bottom + 1}H${end}V${bottom + 5}`} />
            {isFree && (
              <text class="ax" x={middle} y={bottom + 17}>
                {text}
              </text>
            )}
            <title>{text}</title>
          </g>
        );
      })}
    </>
  );
}

/** Marks the current time, at which the last state is still active. */
function CurrentState({ sequence, xOf, bottom, page }: DiagramLayout) {
  const last = sequence.gaps.at(-1);
  const isStillActive = last?.to === sequence.columns.length;
  if (!isStillActive || page.past.value) return null;
  const x = xOf(sequence.columns.length);
  return (
    <g class="now">
      <line x1={x} x2={x} y1="16" y2={bottom - 2} />
      <rect x={x - 18} width="36" height="17" rx="4" />
      <text x={x} y="12">
        now
      </text>
    </g>
  );
}
