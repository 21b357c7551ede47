/**
 * Splits a recording into stretches and locates the keyframes at which a replay can start. A stretch is a part of a run
 * of the agent that is recorded without gaps.
 */
import type { RecordingLine, SegmentHeader } from './lines.ts';
import { type ForeignHeader, readForeignHeader, readLine } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { Member, RecordingFile } from './recordingFile.ts';

/** A position at which a replay can start. Its keyframe is read only on demand, because it is large. */
export interface ReplayStart {
  /** Index of the gzip member that starts with the segment header. */
  readonly member: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A part of a run of the agent that is recorded without gaps. */
export interface Stretch extends Pick<SegmentHeader, 'life' | 'machines' | 'versions'> {
  /** The positions at which a replay can start, from earliest to latest. There is at least one. */
  readonly replayStarts: readonly ReplayStart[];
  /** Index of the first member after the stretch. */
  readonly end: number;
  /** The segment header, if this version does not support its format. */
  readonly foreign?: ForeignHeader;
}

/** The fields of a segment header without its keyframe, which is too large to cache. */
interface HeaderSummary
  extends Pick<SegmentHeader, 'life' | 'machines' | 'versions' | 'missed' | 'before'>,
    Pick<Stretch, 'foreign'> {
  readonly member: number;
}

/** Returns all stretches from earliest to latest. Members before the first segment header belong to none of them. */
export async function findStretches(file: RecordingFile): Promise<readonly Stretch[]> {
  const stretches: { header: HeaderSummary; replayStarts: ReplayStart[]; end?: number }[] = [];
  for (const [index, member] of file.members.entries()) {
    if (member.startKind === 'no') continue;
    const replayStart = { member: index, at: member.at };
    const lastStretch = stretches.at(-1);
    const openStretch = lastStretch?.end === undefined ? lastStretch : undefined;
    // Reuse the header of the stretch, because a keyframe within a file continues the previous segment.
    const header = openStretch && member.startKind === 'again' ? openStretch.header : await getSummaryAt(file, index);
    if (header === undefined) {
      // End the stretch, because the members after an unreadable header do not continue it.
      if (openStretch) openStretch.end = index;
    } else if (openStretch && (header === openStretch.header || continuesStretch(openStretch.header, header)))
      openStretch.replayStarts.push(replayStart);
    else stretches.push({ header, replayStarts: [replayStart] });
  }
  return stretches.map(
    ({ header: { life, machines, versions, foreign: foreignHeader }, replayStarts, end: explicitEnd }, index) => {
      const end = explicitEnd ?? stretches[index + 1]?.replayStarts[0]?.member ?? file.members.length;
      return {
        life,
        machines,
        versions,
        ...(foreignHeader ? { foreign: foreignHeader } : {}),
        replayStarts,
        end,
      };
    },
  );
}

/**
 * Whether the segment header `next` at the start of a file continues the stretch of `previous`. It does if both have
 * the same run and format and nothing between them has been lost.
 */
function continuesStretch(previous: HeaderSummary, next: HeaderSummary): boolean {
  const hasAllMembers =
    previous.before === undefined ||
    next.before === undefined ||
    next.before - previous.before === next.member - previous.member;
  return (
    previous.life === next.life && previous.foreign?.format === next.foreign?.format && !next.missed && hasAllMembers
  );
}

/**
 * Caches segment headers by member, because the headers of a recording in progress are requested repeatedly and never
 * change.
 */
const summaryCache = new WeakMap<Member, Promise<Omit<HeaderSummary, 'member'> | undefined>>();

/** Returns the header of the member at the given index. Undefined if no replay can start there. */
async function getSummaryAt(file: RecordingFile, index: number): Promise<HeaderSummary | undefined> {
  const member = file.members[index];
  if (member === undefined) return undefined;
  const pendingSummary = summaryCache.get(member) ?? readSummary(file, member);
  summaryCache.set(member, pendingSummary);
  const summary = await pendingSummary.catch((error: unknown) => {
    // Do not cache a disk error, because the next read may succeed.
    summaryCache.delete(member);
    throw error;
  });
  return summary && { ...summary, member: index };
}

async function readSummary(file: RecordingFile, member: Member): Promise<Omit<HeaderSummary, 'member'> | undefined> {
  const [first = ''] = await file.lines(member).catch(noLinesIfDamaged);
  const line = readLine(first);
  const foreignHeader = line === undefined ? readForeignHeader(first) : undefined;
  if (foreignHeader)
    return {
      life: foreignHeader.life,
      machines: '',
      versions: { statelet: foreignHeader.statelet, node: '' },
      foreign: foreignHeader,
    };
  if (line?.kind !== 'began') return undefined;
  const { life, machines, versions, missed, before } = line;
  const lossCounts = { ...(missed === undefined ? {} : { missed }), ...(before === undefined ? {} : { before }) };
  return { life, machines, versions, ...lossCounts };
}

function noLinesIfDamaged(error: unknown): readonly string[] {
  if (error instanceof RecordingError) return [];
  throw error;
}

/** Reads the segment header at which a replay starts. */
export async function readHeaderAt(file: RecordingFile, { member }: ReplayStart): Promise<SegmentHeader> {
  const startMember = file.members[member];
  const header = startMember && (await readHeader(file, startMember));
  if (header === undefined)
    throw new RecordingError(`${startMember?.file}: damaged: nothing can be replayed from byte ${startMember?.offset}`);
  return header;
}

/**
 * Reads a segment header. Returns undefined if the member is torn or does not start with a header that this version
 * supports.
 */
async function readHeader(file: RecordingFile, member: Member): Promise<SegmentHeader | undefined> {
  const [first] = (await readMemberLines(file, member)) ?? [];
  const line = first === undefined ? undefined : readLine(first);
  return line?.kind === 'began' ? line : undefined;
}

/**
 * Returns the lines of a member. Returns undefined if the member is damaged and no later member depends on it, because
 * the write of such a member was probably interrupted.
 */
export async function readMemberLines(file: RecordingFile, member: Member): Promise<readonly string[] | undefined> {
  try {
    return await file.lines(member);
  } catch (error) {
    if (error instanceof RecordingError && file.isLast(member)) return undefined;
    throw error;
  }
}

/**
 * Yields the lines of a stretch, starting at one of its keyframes, without segment headers. Skips members that start
 * after `until` but still reads later members, because the clock may have been set back.
 */
export async function* readStretchLines(
  file: RecordingFile,
  stretch: Stretch,
  { member }: ReplayStart,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<RecordingLine> {
  for (const [offset, each] of file.members.slice(member, stretch.end).entries()) {
    if (each.at > until) continue;
    // Tolerate a torn member only at the end of the stretch.
    const lines = member + offset === stretch.end - 1 ? await readMemberLines(file, each) : await file.lines(each);
    for (const json of lines ?? []) {
      const line = readLine(json);
      if (line !== undefined && line.kind !== 'began') yield line;
    }
  }
}

/** A stretch, and the position at which a reader should start. */
export interface StretchPosition {
  readonly stretch: Stretch;
  readonly replayStart: ReplayStart;
}

/**
 * Returns the positions from which to read everything that happened between two times. Considers every stretch, because
 * the clock may have been set back.
 */
export function findPositionsBetween(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly StretchPosition[] {
  const startStretch = findPositionBefore(stretches, from)?.stretch;
  return stretches.flatMap((stretch) => {
    const replayStart = stretch.replayStarts.findLast(({ at }) => at <= from) ?? stretch.replayStarts[0];
    if (replayStart === undefined) return [];
    const members = file.members.slice(replayStart.member, stretch.end);
    const isInRange = stretch === startStretch || members.some(({ at }) => at >= from && at <= to);
    return isInRange ? [{ stretch, replayStart }] : [];
  });
}

/** Returns the last position at or before `until`, or the first position if all are later. */
export function findPositionBefore(stretches: readonly Stretch[], until: number): StretchPosition | undefined {
  const positions = stretches.flatMap((stretch) =>
    stretch.replayStarts.map((replayStart) => ({ stretch, replayStart })),
  );
  return positions.findLast(({ replayStart }) => replayStart.at <= until) ?? positions[0];
}
