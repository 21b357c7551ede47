/**
 * Converts the rows of a story into a horizontal sequence diagram, with a column for each row and for each outgoing
 * call.
 */

import { kindOf, machineActorOf, nameOf, portOwner, type Source, shortState } from '../storyWho.ts';
import { formatDuration, formatOffset } from '../storyWords.ts';
import type { Row } from './storyRows.ts';
import { representativeOf } from './storyRows.ts';
import { gateOf, type OutgoingCall, type Step } from './storySteps.ts';

interface Participant {
  readonly id: string;
  readonly label: string;
  /** Path of the actor. Undefined if the participant is not an actor. */
  readonly actor?: string;
}

/** A column of the diagram, which contains one arrow. */
export interface Column {
  readonly kind: 'row' | 'ask';
  /** Number of the row, starting at 1. Undefined for an outgoing call. */
  readonly rowNumber?: number;
  readonly row?: Row;
  /** Ids of the participants at the ends of the arrow. */
  readonly from: string;
  readonly to: string;
  readonly isFailure: boolean;
  /** Time since the start of the burst, shown above the arrow. */
  readonly label?: string;
}

/**
 * A bar for a state of the subject, from one column to another. `to` equals the number of columns if the state is still
 * active.
 */
interface SequenceBar {
  readonly from: number;
  readonly to: number;
  readonly state: string;
  readonly tag?: string;
}

/** A long interval between two columns. */
interface SequenceGap {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Sequence {
  readonly participants: readonly Participant[];
  /** Index of the subject among the participants. */
  readonly subjectIndex: number;
  readonly columns: readonly Column[];
  readonly bars: readonly SequenceBar[];
  readonly gaps: readonly SequenceGap[];
}

interface SequenceInput {
  readonly rows: readonly Row[];
  readonly subject: string;
  readonly from: number;
  /** End of the last state. Undefined if more rows follow. */
  readonly now?: number | undefined;
  /** State of the subject before the first row. */
  readonly stateBefore?: { readonly state: string; readonly tag?: string } | undefined;
}

/** Participants that are not actors, in the order in which they appear above the subject. */
const OUTSIDE_PARTICIPANTS: readonly { readonly id: string; readonly label: string }[] = [
  ...['source', 'timer', 'start gate', 'pull gate', 'runtime', 'volume', 'probe', 'node'].map((id) => ({
    id: `: ${id}`,
    label: id,
  })),
];
const EVENTS_PARTICIPANT: Participant = { id: ': events', label: 'events' };

const outsideId = (name: Source | 'start gate' | 'pull gate'): string => `: ${name}`;

export function buildSequence({ rows, subject, from, now, stateBefore }: SequenceInput): Sequence {
  const columns = rows.flatMap((row, index) => createColumns(row, index, subject, from));
  const usedIds = new Set(columns.flatMap((column) => [column.from, column.to]));
  const otherActors = [...usedIds].filter((id) => !id.startsWith(': ') && id !== subject);
  const outsideParticipants = OUTSIDE_PARTICIPANTS.filter(({ id }) => usedIds.has(id));
  return {
    participants: [
      ...outsideParticipants,
      toParticipant(subject),
      ...otherActors.map(toParticipant),
      ...(usedIds.has(EVENTS_PARTICIPANT.id) ? [EVENTS_PARTICIPANT] : []),
    ],
    subjectIndex: outsideParticipants.length,
    columns,
    bars: createBars(columns, subject, stateBefore),
    gaps: createGaps(columns, now),
  };
}

const toParticipant = (actor: string): Participant => ({ id: actor, label: nameOf(actor), actor });

function createColumns(row: Row, index: number, subject: string, from: number): Column[] {
  const arrow = arrowEnds(row, subject);
  const column: Column = {
    kind: 'row',
    rowNumber: index + 1,
    row,
    isFailure: row.isFailure,
    ...arrow,
    ...(row.kind === 'entered' || row.kind === 'sum' ? { label: formatOffset(row.at - from) } : {}),
  };
  const { step } = row;
  if (!step || row.kind !== 'entered') return [column];
  return [column, ...outgoingCalls(step, subject)];
}

/** Returns the participants at the ends of a row's arrow. */
function arrowEnds(row: Row, subject: string): { readonly from: string; readonly to: string } {
  const actor = participantId(row.actor, subject);
  const { step } = row;
  if (row.kind === 'sum') return { from: outsideId('probe'), to: actor };
  if (row.kind === 'event') return { from: actor, to: EVENTS_PARTICIPANT.id };
  const stepActor = step ? participantId(step.actor, subject) : subject;
  if (row.kind === 'moved') return { from: stepActor, to: actor };
  return { from: outsideId(step?.source === 'gate' ? gateOf(step) : (step?.source ?? 'node')), to: actor };
}

const participantId = (actor: string, subject: string): string => (actor === '' ? subject : representativeOf(actor));

/**
 * Returns columns for the calls of a step and for its requests for slots. A call that needs a slot is part of the step
 * in which the slot was granted.
 */
function outgoingCalls(step: Step, subject: string): Column[] {
  const callColumns = step.calls.map((call) => callColumn(call, subject));
  const queuedMoves = step.moves.filter(({ state }) => shortState(state) === 'queued');
  const slotRequests = queuedMoves.map(({ actor }) => ({
    kind: 'ask' as const,
    isFailure: false,
    from: participantId(actor, subject),
    to: outsideId(gateOf({ actor })),
  }));
  return [...callColumns, ...slotRequests];
}

const callColumn = ({ actor, port }: OutgoingCall, subject: string): Column => ({
  kind: 'ask',
  isFailure: false,
  from: participantId(machineActorOf(actor), subject),
  to: outsideId(portOwner(port)),
});

function createBars(
  columns: readonly Column[],
  subject: string,
  stateBefore: SequenceInput['stateBefore'],
): SequenceBar[] {
  const bars: SequenceBar[] = [];
  let openBar: Omit<SequenceBar, 'to'> | undefined = stateBefore && { from: -1, ...stateBefore };
  columns.forEach(({ row }, index) => {
    if (!row?.move || representativeOf(row.move.actor) !== subject || kindOf(row.move.actor) === 'image') return;
    const { state, tag } = row.move;
    if (openBar) bars.push({ ...openBar, to: index });
    openBar = { from: index, state, ...(tag === undefined ? {} : { tag }) };
  });
  return openBar ? [...bars, { ...openBar, to: columns.length }] : bars;
}

/** Minimum time in milliseconds between two columns for which a label is shown. */
const MIN_LABELLED_GAP_MS = 500;

function createGaps(columns: readonly Column[], now: number | undefined): SequenceGap[] {
  const timedColumns = columns.flatMap(({ row }, index) =>
    row ? [{ at: row.at, until: row.until ?? row.at, index }] : [],
  );
  const gaps = timedColumns.flatMap(({ until, index }, timedIndex) => {
    const nextColumn = timedColumns[timedIndex + 1];
    const ms = (nextColumn?.at ?? until) - until;
    return nextColumn && ms >= MIN_LABELLED_GAP_MS
      ? [{ from: index, to: nextColumn.index, text: formatDuration(ms) }]
      : [];
  });
  const lastTimedColumn = timedColumns.at(-1);
  if (now === undefined || lastTimedColumn === undefined || now - lastTimedColumn.until < MIN_LABELLED_GAP_MS)
    return gaps;
  return [
    ...gaps,
    { from: lastTimedColumn.index, to: columns.length, text: `${formatDuration(now - lastTimedColumn.until)} so far` },
  ];
}
