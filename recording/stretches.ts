/**
 * Splits a recording into stretches, i.e. parts of an agent's life without gaps, and locates the keyframes at which a
 * replay can start.
 */
import type { Began, Line } from './lines.ts';
import { type ForeignBegan, readForeignBegan, readLine } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { Member, RecordingFile } from './recordingFile.ts';

/** A position at which a replay can start. The keyframe itself is read on demand because it is large. */
export interface Beginning {
  /** Index of the member that starts with the segment header. */
  readonly member: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A part of an agent's life without gaps. */
export interface Stretch extends Pick<Began, 'life' | 'machines' | 'versions'> {
  /** At least one position, from earliest to latest. */
  readonly beginnings: readonly Beginning[];
  /** Index of the first member after the stretch. */
  readonly end: number;
  /** The program that wrote the stretch, if this version cannot read it. */
  readonly foreign?: ForeignBegan;
}

/** The fields of a segment header without its keyframe, which is too large to cache. */
interface HeaderSummary
  extends Pick<Began, 'life' | 'machines' | 'versions' | 'missed' | 'before'>,
    Pick<Stretch, 'foreign'> {
  readonly member: number;
}

/** Returns all stretches, from earliest to latest. Members before the first segment header belong to none. */
export async function stretchesOf(file: RecordingFile): Promise<readonly Stretch[]> {
  const stretches: { header: HeaderSummary; beginnings: Beginning[]; end?: number }[] = [];
  for (const [index, member] of file.members.entries()) {
    if (member.begins === 'no') continue;
    const beginning = { member: index, at: member.at };
    const present = stretches.at(-1);
    const openStretch = present?.end === undefined ? present : undefined;
    // A header inside a file continues the previous segment.
    const header = openStretch && member.begins === 'again' ? openStretch.header : await summaryAt(file, index);
    if (header === undefined) {
      // The members that follow do not continue the previous stretch.
      if (openStretch) openStretch.end = index;
    } else if (openStretch && (header === openStretch.header || continuesStretch(openStretch.header, header)))
      openStretch.beginnings.push(beginning);
    else stretches.push({ header, beginnings: [beginning] });
  }
  return stretches.map(({ header: { life, machines, versions, foreign }, beginnings, end: cut }, index) => {
    const end = cut ?? stretches[index + 1]?.beginnings[0]?.member ?? file.members.length;
    return { life, machines, versions, ...(foreign ? { foreign } : {}), beginnings, end };
  });
}

/** Whether no member is missing between two segment headers, each at the start of a file. */
function continuesStretch(last: HeaderSummary, next: HeaderSummary): boolean {
  const isWhole =
    last.before === undefined || next.before === undefined || next.before - last.before === next.member - last.member;
  return last.life === next.life && last.foreign?.format === next.foreign?.format && !next.missed && isWhole;
}

/**
 * Cached segment headers by member, because the headers of a recording that is being written are read repeatedly and
 * never change.
 */
const summaryCache = new WeakMap<Member, Promise<Omit<HeaderSummary, 'member'> | undefined>>();

/** Returns undefined if no replay can start at the member. */
async function summaryAt(file: RecordingFile, index: number): Promise<HeaderSummary | undefined> {
  const member = file.members[index];
  if (member === undefined) return undefined;
  const reading = summaryCache.get(member) ?? readSummary(file, member);
  summaryCache.set(member, reading);
  const summary = await reading.catch((error: unknown) => {
    // Do not cache a disk error, because the next read may succeed.
    summaryCache.delete(member);
    throw error;
  });
  return summary && { ...summary, member: index };
}

async function readSummary(file: RecordingFile, member: Member): Promise<Omit<HeaderSummary, 'member'> | undefined> {
  const [first = ''] = await file.lines(member).catch(noLinesIfDamaged);
  const line = readLine(first);
  const foreign = line === undefined ? readForeignBegan(first) : undefined;
  if (foreign) return { life: foreign.life, machines: '', versions: { statelet: foreign.statelet, node: '' }, foreign };
  if (line?.kind !== 'began') return undefined;
  const { life, machines, versions, missed, before } = line;
  const counts = { ...(missed === undefined ? {} : { missed }), ...(before === undefined ? {} : { before }) };
  return { life, machines, versions, ...counts };
}

function noLinesIfDamaged(error: unknown): readonly string[] {
  if (error instanceof RecordingError) return [];
  throw error;
}

/** Reads the segment header at which a replay starts. */
export async function readHeaderAt(file: RecordingFile, { member }: Beginning): Promise<Began> {
  const startMember = file.members[member];
  const began = startMember && (await readHeader(file, startMember));
  if (began === undefined)
    throw new RecordingError(`${startMember?.file}: damaged: nothing can be replayed from byte ${startMember?.offset}`);
  return began;
}

/** Returns undefined if the member is torn or its first line is not a header that this version supports. */
async function readHeader(file: RecordingFile, member: Member): Promise<Began | undefined> {
  const [first] = (await linesIn(file, member)) ?? [];
  const line = first === undefined ? undefined : readLine(first);
  return line?.kind === 'began' ? line : undefined;
}

/**
 * Returns the lines of a member. Returns undefined if the member is damaged and is the last one of a file or segment,
 * because its write was probably interrupted.
 */
export async function linesIn(file: RecordingFile, member: Member): Promise<readonly string[] | undefined> {
  try {
    return await file.lines(member);
  } catch (error) {
    if (error instanceof RecordingError && file.isLast(member)) return undefined;
    throw error;
  }
}

/**
 * Yields the lines of a stretch from one of its keyframes, without segment headers. Skips members that start after
 * `until`. Members after those are still read, because the clock may have been set back.
 */
export async function* linesFrom(
  file: RecordingFile,
  stretch: Stretch,
  { member }: Beginning,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line> {
  for (const [offset, each] of file.members.slice(member, stretch.end).entries()) {
    if (each.at > until) continue;
    // Only the last member may be torn.
    const lines = member + offset === stretch.end - 1 ? await linesIn(file, each) : await file.lines(each);
    for (const json of lines ?? []) {
      const line = readLine(json);
      if (line !== undefined && line.kind !== 'began') yield line;
    }
  }
}

/** A position in a stretch from which to read. */
export interface Part {
  readonly stretch: Stretch;
  readonly beginning: Beginning;
}

/**
 * Returns the positions from which to read everything that happened between two times. The clock may have been set
 * back, so any stretch can contribute.
 */
export function partsBetween(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Part[] {
  const startStretch = beginningBefore(stretches, from)?.stretch;
  return stretches.flatMap((stretch) => {
    const beginning = stretch.beginnings.findLast(({ at }) => at <= from) ?? stretch.beginnings[0];
    if (beginning === undefined) return [];
    const members = file.members.slice(beginning.member, stretch.end);
    const isOfThen = stretch === startStretch || members.some(({ at }) => at >= from && at <= to);
    return isOfThen ? [{ stretch, beginning }] : [];
  });
}

/** Returns the last position at or before `until`, or the first position if all are later. */
export function beginningBefore(stretches: readonly Stretch[], until: number): Part | undefined {
  const positions = stretches.flatMap((stretch) => stretch.beginnings.map((beginning) => ({ stretch, beginning })));
  return positions.findLast(({ beginning }) => beginning.at <= until) ?? positions[0];
}
