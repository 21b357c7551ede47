/** Lines of a story as a sequence diagram on its side: a column for each line, and one for each call that went out. */
import type { Row } from './storyRows.ts';
import { foldedOf } from './storyRows.ts';
import { type Ask, gateOf, type Step } from './storySteps.ts';
import { kindOf, nameOf, ownerOf, shortState, type Who, whoAnswers } from './storyWho.ts';
import { offsetText, tookText } from './storyWords.ts';

/** Who takes part. */
interface Party {
  readonly id: string;
  readonly label: string;
  /** Absent: none that can be selected. */
  readonly actor?: string;
}

/** An arrow. */
export interface Column {
  readonly kind: 'row' | 'ask';
  /** The number of its line, the first being 1; absent of a call that goes out. */
  readonly number?: number;
  readonly row?: Row;
  /** The ids of the parties. */
  readonly from: string;
  readonly to: string;
  readonly isBad: boolean;
  /** Above it: how long after the beginning. */
  readonly label?: string;
}

/** A stay of the subject between two columns; `to` is the number of all columns where it goes on. */
interface SequenceBar {
  readonly from: number;
  readonly to: number;
  readonly state: string;
  readonly tag?: string;
}

/** Between two columns much time goes by. */
interface SequenceGap {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What is drawn. */
export interface Sequence {
  readonly parties: readonly Party[];
  /** The place of the subject among the parties. */
  readonly subject: number;
  readonly columns: readonly Column[];
  readonly bars: readonly SequenceBar[];
  readonly gaps: readonly SequenceGap[];
}

interface SequenceParts {
  readonly rows: readonly Row[];
  readonly subject: string;
  readonly from: number;
  /** Until when it goes on; absent: other lines follow. */
  readonly now?: number | undefined;
  /** What the subject was in before. */
  readonly before?: { readonly state: string; readonly tag?: string } | undefined;
}

/** The parties that are no actors, in their order above the subject. */
const OUTSIDE: readonly { readonly id: string; readonly label: string }[] = [
  ...['source', 'timer', 'start gate', 'pull gate', 'runtime', 'volume', 'probe', 'node'].map((id) => ({
    id: `: ${id}`,
    label: id,
  })),
];
const EVENTS: Party = { id: ': events', label: 'events' };

const outside = (name: Who | 'start gate' | 'pull gate'): string => `: ${name}`;

/** The diagram of lines. */
export function sequenceOf({ rows, subject, from, now, before }: SequenceParts): Sequence {
  const columns = rows.flatMap((row, index) => columnsOf(row, index, subject, from));
  const used = new Set(columns.flatMap((column) => [column.from, column.to]));
  const others = [...used].filter((id) => !id.startsWith(': ') && id !== subject);
  const above = OUTSIDE.filter(({ id }) => used.has(id));
  return {
    parties: [...above, partyOf(subject), ...others.map(partyOf), ...(used.has(EVENTS.id) ? [EVENTS] : [])],
    subject: above.length,
    columns,
    bars: barsOf(columns, subject, before),
    gaps: gapsOf(columns, now),
  };
}

const partyOf = (actor: string): Party => ({ id: actor, label: nameOf(actor), actor });

function columnsOf(row: Row, index: number, subject: string, from: number): Column[] {
  const arrow = arrowOf(row, subject);
  const column: Column = {
    kind: 'row',
    number: index + 1,
    row,
    isBad: row.isBad,
    ...arrow,
    ...(row.kind === 'entered' || row.kind === 'sum' ? { label: offsetText(row.at - from) } : {}),
  };
  const { step } = row;
  if (!step || row.kind !== 'entered') return [column];
  return [column, ...asksOf(step, subject)];
}

/** From whom to whom a line goes; an image is a part of who gets it. */
function arrowOf(row: Row, subject: string): { readonly from: string; readonly to: string } {
  const actor = partOf(row.actor, subject);
  const { step } = row;
  if (row.kind === 'sum') return { from: outside('probe'), to: actor };
  if (row.kind === 'event') return { from: actor, to: EVENTS.id };
  const told = step ? partOf(step.actor, subject) : subject;
  if (row.kind === 'moved') return { from: told, to: actor };
  return { from: outside(step?.who === 'gate' ? gateOf(step) : (step?.who ?? 'node')), to: actor };
}

/** The party that stands for an actor. */
const partOf = (actor: string, subject: string): string => (actor === '' ? subject : foldedOf(actor));

/** The calls that a step makes, and the places that it asks for; a call that was granted comes with the grant. */
function asksOf(step: Step, subject: string): Column[] {
  const asks = step.asks.map((ask) => askColumn(ask, subject));
  const queued = step.moves.filter(({ state }) => shortState(state) === 'queued');
  const places = queued.map(({ actor }) => ({
    kind: 'ask' as const,
    isBad: false,
    from: partOf(actor, subject),
    to: outside(gateOf({ actor })),
  }));
  return [...asks, ...places];
}

const askColumn = ({ actor, port }: Ask, subject: string): Column => ({
  kind: 'ask',
  isBad: false,
  from: partOf(ownerOf(actor), subject),
  to: outside(whoAnswers(port)),
});

function barsOf(columns: readonly Column[], subject: string, before: SequenceParts['before']): SequenceBar[] {
  const bars: SequenceBar[] = [];
  let open: Omit<SequenceBar, 'to'> | undefined = before && { from: -1, ...before };
  columns.forEach(({ row }, index) => {
    if (!row?.move || foldedOf(row.move.actor) !== subject || kindOf(row.move.actor) === 'image') return;
    const { state, tag } = row.move;
    if (open) bars.push({ ...open, to: index });
    open = { from: index, state, ...(tag === undefined ? {} : { tag }) };
  });
  return open ? [...bars, { ...open, to: columns.length }] : bars;
}

/** So much time between two columns is worth a word. */
const LONG_MS = 500;

function gapsOf(columns: readonly Column[], now: number | undefined): SequenceGap[] {
  const timed = columns.flatMap(({ row }, index) => (row ? [{ at: row.at, until: row.until ?? row.at, index }] : []));
  const gaps = timed.flatMap(({ until, index }, place) => {
    const next = timed[place + 1];
    const ms = (next?.at ?? until) - until;
    return next && ms >= LONG_MS ? [{ from: index, to: next.index, text: tookText(ms) }] : [];
  });
  const last = timed.at(-1);
  if (now === undefined || last === undefined || now - last.until < LONG_MS) return gaps;
  return [...gaps, { from: last.index, to: columns.length, text: `${tookText(now - last.until)} so far` }];
}
