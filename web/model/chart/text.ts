/** Formats the text in a chart, i.e. its title, its labels and the descriptions of its states. */
import type { Drawing, DrawnTransition, NextWay } from '../../../inspect/protocol.ts';
import { formatClock } from '../rail/time.ts';
import { sansWidth } from './textWidth.ts';
import type { ChartActor, StateView } from './view.ts';

/** Returns the title, e.g. `container: run and restart, 17 of 56 states`. */
export function chartTitle({ machine, region, title, states, statesOfAll }: Drawing): string {
  const visibleCount = states.filter(({ kind }) => kind !== 'folded').length;
  const stateCount = statesOfAll === 1 ? '1 state' : `${statesOfAll} states`;
  return region === undefined ? `${machine}: ${stateCount}` : `${machine}: ${title}, ${visibleCount} of ${stateCount}`;
}

/** Maximum number of lines of a label. A longer label ends with a line that shows the number of hidden lines. */
const MAX_LABEL_LINES = 4;

/**
 * Returns the lines of an arrow's label. A timer such as `timer.elapsed, in 48s` comes first, followed by the other
 * transitions along the arrow.
 */
export function labelLines(label: readonly string[], timeLeft?: string, maxLines = MAX_LABEL_LINES): string[] {
  const allLines = label.map((line) => line || 'at once');
  const isTimerLine = (line: string) => timeLeft !== undefined && line.startsWith('timer.elapsed');
  const sortedLines = [
    ...allLines.filter(isTimerLine).map((line) => `${line}, in ${timeLeft}`),
    ...allLines.filter((line) => !isTimerLine(line)),
  ];
  if (sortedLines.length <= maxLines) return sortedLines;
  const visibleLines = sortedLines.slice(0, maxLines - 1);
  return [
    ...visibleLines,
    visibleLines.length === 0 ? `${sortedLines.length} ways` : `and ${sortedLines.length - visibleLines.length} more`,
  ];
}

/** Formats the number of times that a transition was taken, in at most four characters, e.g. `3×` or `12k×`. */
export function countText(count: number): string {
  if (count < 1_000) return `${count}×`;
  return count < 100_000 ? `${Math.floor(count / 1_000)}k×` : '99k+';
}

/** Space between the name and the duration of a state, in pixels. */
const TEXT_GAP = 6;

/** Font sizes of a state's name, of an active state's larger name, and of the bold duration. */
const FONT_SIZES = { name: 12, big: 13.5, stay: 12.7 } as const;

/** Ratio between the widths of bold and regular names. */
const BOLD_FACTOR = 1.1;

/** The name and the duration of a state on one line. */
export interface StateLine {
  readonly label: string;
  /** Width to which the name is clipped, because the actual font may be wider than estimated. */
  readonly labelWidth: number;
  /** Duration of the state. Undefined if there is no room for it. */
  readonly duration?: string;
}

/**
 * Fits the name and the duration of a state into one line. If there is not enough room, the duration is omitted or the
 * name is truncated.
 */
export function stateLine(label: string, duration: string | undefined, maxWidth: number, isBig = false): StateLine {
  const widthOf = (text: string) => sansWidth(text, BOLD_FACTOR * (isBig ? FONT_SIZES.big : FONT_SIZES.name));
  const durationWidth = duration === undefined ? 0 : sansWidth(duration, FONT_SIZES.stay) + TEXT_GAP;
  if (duration !== undefined && widthOf(label) + durationWidth <= maxWidth)
    return { label, labelWidth: maxWidth - durationWidth, duration };
  if (widthOf(label) <= maxWidth) return { label, labelWidth: maxWidth };
  let truncatedLabel = label;
  while (truncatedLabel.length > 1 && widthOf(`${truncatedLabel}…`) > maxWidth)
    truncatedLabel = truncatedLabel.slice(0, -1);
  return { label: `${truncatedLabel}…`, labelWidth: maxWidth };
}

/**
 * Describes a state for screen readers, e.g. `backingOff, active for 112s, waits for … until 07:44:40, then
 * restarting`.
 */
export function stateSentence(
  { drawnState, activeState, duration, wasVisited }: StateView,
  actor: ChartActor | undefined,
): string {
  const { label, kind, waitsFor } = drawnState;
  if (kind === 'folded' && activeState === undefined)
    return `${label}: ${(drawnState.foldedStates ?? []).map((folded) => folded.label).join(', ')}`;
  if (activeState === undefined || actor === undefined) {
    const waitTexts = waitsFor === undefined ? [] : [`waits for ${waitsFor}`];
    const was =
      actor === undefined ? [] : duration !== undefined ? [`last for ${duration}`] : wasVisited ? [] : ['not seen'];
    return [label, ...was, ...waitTexts].join(', ');
  }
  const untilText = actor.until === undefined ? '' : ` until ${formatClock(actor.until)}`;
  const waitTexts = activeState.waitingFor === undefined ? [] : [`waits for ${activeState.waitingFor}${untilText}`];
  const nextState = timerTarget(actor.next ?? []);
  return [
    activeState.label,
    `active for ${duration ?? '0s'}`,
    ...waitTexts,
    ...(nextState ? [`then ${nextState}`] : []),
  ].join(', ');
}

/** Returns the state to which the timer's transition leads. */
const timerTarget = (next: readonly NextWay[]): string | undefined =>
  next
    .find(({ at, to }) => at !== undefined && to !== undefined)
    ?.to?.split('.')
    .at(-1);

/** Describes the transitions from the active states to states outside the drawing, e.g. `container.stop → stopped`. */
export function exitLines({ exits }: Drawing, states: readonly string[]): string[] {
  const reachableExits = exits.filter(({ from }) =>
    states.some((state) => from === '' || state === from || state.startsWith(`${from}.`)),
  );
  return [...new Set(reachableExits.map(({ label, to }) => `${label || 'at once'} → ${to}`))];
}

/**
 * Wraps text into at most `maxLines` lines of at most `maxLetters` characters. The last line is truncated if necessary.
 */
export function wrapText(text: string, maxLetters: number, maxLines: number): string[] {
  const wrappedLines: string[] = [];
  for (const word of text.split(' ')) {
    const lastLine = wrappedLines.at(-1);
    if (lastLine !== undefined && `${lastLine} ${word}`.length <= maxLetters)
      wrappedLines[wrappedLines.length - 1] = `${lastLine} ${word}`;
    else wrappedLines.push(word);
  }
  if (wrappedLines.length <= maxLines) return wrappedLines;
  return [
    ...wrappedLines.slice(0, maxLines - 1),
    `${wrappedLines
      .slice(maxLines - 1)
      .join(' ')
      .slice(0, maxLetters - 1)
      .trimEnd()}…`,
  ];
}

/** Returns the SVG path of an arrow with rounded corners. */
export function arrowPath({ points }: DrawnTransition): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const segments = rest.map(([x, y], index) => {
    const nextPoint = rest[index + 1];
    const previousPoint = points[index] ?? first;
    return nextPoint ? cornerPath(previousPoint, [x, y], nextPoint) : `L${x} ${y}`;
  });
  return `M${first[0]} ${first[1]}${segments.join('')}`;
}

type Point = readonly [number, number];
const CORNER_RADIUS = 5;

function cornerPath(from: Point, at: Point, to: Point): string {
  const [x1, y1] = pointTowards(at, from);
  const [x2, y2] = pointTowards(at, to);
  return `L${x1} ${y1}Q${at[0]} ${at[1]} ${x2} ${y2}`;
}

function pointTowards([x, y]: Point, [toX, toY]: Point): Point {
  const distance = Math.hypot(toX - x, toY - y);
  const stepFraction = distance === 0 ? 0 : Math.min(CORNER_RADIUS, distance / 2) / distance;
  const roundToTenth = (value: number) => Math.round(value * 10) / 10;
  return [roundToTenth(x + (toX - x) * stepFraction), roundToTenth(y + (toY - y) * stepFraction)];
}

/** Returns the middle of the longest segment of an arrow, where its count is drawn. */
export function longestSegmentMiddle({ points }: DrawnTransition): Point {
  let longestSegment: { readonly length: number; readonly at: Point } = { length: -1, at: points[0] ?? [0, 0] };
  for (const [index, [x, y]] of points.entries()) {
    const [fromX, fromY] = points[index - 1] ?? [x, y];
    const segmentLength = Math.hypot(x - fromX, y - fromY);
    if (segmentLength > longestSegment.length)
      longestSegment = { length: segmentLength, at: [(x + fromX) / 2, (y + fromY) / 2] };
  }
  return longestSegment.at;
}

/** Returns the transitions from a state in the drawing. Transitions that differ only in their guards are merged. */
export function transitionsFrom(
  { ways, exits }: Drawing,
  state: string,
): { readonly label: string; readonly to: string }[] {
  const labelOrDefault = (label: string) => label || 'at once';
  const innerTransitions = ways
    .filter(({ from }) => from === state)
    .flatMap(({ label, to }) => label.map((line) => ({ label: labelOrDefault(line), to })));
  const exitTransitions = exits
    .filter(({ from }) => from === state)
    .map(({ label, to }) => ({ label: labelOrDefault(label), to }));
  return [...new Map([...innerTransitions, ...exitTransitions].map((way) => [`${way.label} ${way.to}`, way])).values()];
}
