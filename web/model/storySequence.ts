/**
 * Converts rows of a story into a horizontal sequence diagram. Each row has a column, and so does each outgoing call.
 */
import type { Row } from './storyRows.ts';
import { foldedOf } from './storyRows.ts';
import { type Ask, gateOf, type Step } from './storySteps.ts';
import { kindOf, nameOf, ownerOf, shortState, type Who, whoAnswers } from './storyWho.ts';
import { offsetText, tookText } from './storyWords.ts';

/** A participant of the sequence diagram. */
interface Party {
  readonly id: string;
  readonly label: string;
  /** Undefined if the participant is not an actor that can be selected. */
  readonly actor?: string;
}

/** An arrow. */
export interface Column {
  readonly kind: 'row' | 'ask';
  /** Number of the row, starting at 1. Undefined for an outgoing call. */
  readonly number?: number;
  readonly row?: Row;
  /** The ids of the participants. */
  readonly from: string;
  readonly to: string;
  readonly isBad: boolean;
  /** Time since the first row, shown above the arrow. */
  readonly label?: string;
}

/**
 * The time that the subject spends in a state, between two columns. `to` equals the number of columns if the state is
 * still active.
 */
interface SequenceBar {
  readonly from: number;
  readonly to: number;
  readonly state: string;
  readonly tag?: string;
}

/** A long time between two columns. */
interface SequenceGap {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Sequence {
  readonly parties: readonly Party[];
  /** Index of the subject among the participants. */
  readonly subject: number;
  readonly columns: readonly Column[];
  readonly bars: readonly SequenceBar[];
  readonly gaps: readonly SequenceGap[];
}

interface SequenceParts {
  readonly rows: readonly Row[];
  readonly subject: string;
  readonly from: number;
  /** End of the current state. Undefined if other rows follow. */
  readonly now?: number | undefined;
  /** State of the subject before the first row. */
  readonly before?: { readonly state: string; readonly tag?: string } | undefined;
}

/** Participants that are not actors, in their order above the subject. */
const OUTSIDE: readonly { readonly id: string; readonly label: string }[] = [
  ...['source', 'timer', 'start gate', 'pull gate', 'runtime', 'volume', 'probe', 'node'].map((id) => ({
    id: `: ${id}`,
    label: id,
  })),
];
const EVENTS: Party = { id: ': events', label: 'events' };

const outside = (name: Who | 'start gate' | 'pull gate'): string => `: ${name}`;

/** Builds the diagram of rows. */
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

/** Returns the source and the target of a row. An image is part of the actor that waits for it. */
function arrowOf(row: Row, subject: string): { readonly from: string; readonly to: string } {
  const actor = partOf(row.actor, subject);
  const { step } = row;
  if (row.kind === 'sum') return { from: outside('probe'), to: actor };
  if (row.kind === 'event') return { from: actor, to: EVENTS.id };
  const told = step ? partOf(step.actor, subject) : subject;
  if (row.kind === 'moved') return { from: told, to: actor };
  return { from: outside(step?.who === 'gate' ? gateOf(step) : (step?.who ?? 'node')), to: actor };
}

/** Returns the participant that represents an actor. */
const partOf = (actor: string, subject: string): string => (actor === '' ? subject : foldedOf(actor));

/**
 * Returns the outgoing calls of a step and its slot requests. A call that waits for a slot appears once the slot has
 * been granted.
 */
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

/** Minimum duration between two columns that is labelled. */
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
