/** A transition of a chart: its arrow, its count and its label. */
import { arrowPath, countText, labelLines, longestSegmentMiddle } from '../../model/chart/text.ts';
import type { ArrowView } from '../../model/chart/view.ts';

interface ArrowProps {
  readonly view: ArrowView;
  readonly isPointed: boolean;
  readonly onPoint: (way: string | undefined) => void;
}

const ARROW_HEADS = { idle: 'm0', taken: 'm1', last: 'm2', next: 'm2' } as const;

/** The arrowheads, one for each color. */
export const ArrowHeads = () => (
  <defs>
    {Object.values(ARROW_HEADS)
      .filter((id, index, all) => all.indexOf(id) === index)
      .map((id) => (
        <marker
          key={id}
          id={id}
          class={id}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 .8 7.4 4 0 7.2Z" />
        </marker>
      ))}
  </defs>
);

/** The line of an arrow. If the transition was just taken, a pulse runs along it once. */
export function ArrowLine({ view, isPointed, onPoint }: ArrowProps) {
  const { drawnTransition, style, lastAt } = view;
  const d = arrowPath(drawnTransition);
  const id = drawnTransition.ways[0];
  return (
    <g
      class={`way ${style}${isPointed ? ' pointed' : ''}`}
      onPointerEnter={() => onPoint(id)}
      onPointerLeave={() => onPoint(undefined)}
    >
      <path class="hit" d={d} />
      <path class="e" d={d} marker-end={`url(#${isPointed && style === 'idle' ? 'm1' : ARROW_HEADS[style]})`} />
      {style === 'last' && <path key={lastAt} class="pulse" d={d} pathLength={1} />}
    </g>
  );
}

/** The number of times that the transition was taken. */
export function ArrowCount({ view }: { readonly view: ArrowView }) {
  const { drawnTransition, count, style } = view;
  if (count === 0 || drawnTransition.countAt === undefined) return null;
  const [x, y] = drawnTransition.countAt;
  const text = countText(count);
  const width = 12 + 6 * text.length;
  return (
    <g class={`count ${style}`}>
      <rect x={x - width / 2} y={y - 7.5} width={width} height={15} rx={7.5} />
      <text x={x} y={y + 3.6}>
        {text}
      </text>
    </g>
  );
}

const LINE = 14;
const LETTER = 6.35;

/** The label of an arrow. If the drawing has no room for it, it covers other elements. */
export function ArrowLabel({ view, isPointed }: { readonly view: ArrowView; readonly isPointed: boolean }) {
  const { drawnTransition, style } = view;
  const lines = labelLines(
    drawnTransition.label,
    view.timeLeft,
    isPointed && drawnTransition.labelAt === undefined ? 16 : undefined,
  );
  const width = Math.max(...lines.map((line) => line.length)) * LETTER;
  const [middleX, middleY] = longestSegmentMiddle(drawnTransition);
  const coversElements = drawnTransition.labelAt === undefined;
  const [x, y] = drawnTransition.labelAt ?? [middleX + 12, middleY - (lines.length * LINE) / 2];
  return (
    <g class={`lb ${style}${coversElements ? ' over' : ''}`}>
      {coversElements && <rect x={x - 6} y={y - 4} width={width + 12} height={lines.length * LINE + 7} rx={4} />}
      {lines.map((line, index) => (
        <text key={line} x={x} y={y + 11 + LINE * index} class={index === 0 ? 'first' : ''}>
          {line}
        </text>
      ))}
    </g>
  );
}
