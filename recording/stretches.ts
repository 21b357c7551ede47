/** The lives of agents that a recording is of, one after the other, and where in each a replay can begin. */
import type { Began, Line } from './lines.ts';
import { type ForeignBegan, readForeignBegan, readLine } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { Member, RecordingFile } from './recordingFile.ts';

/** Where a replay can begin. What it begins with is read when it does: a keyframe is large. */
export interface Beginning {
  /** The index of the member whose first line it is. */
  readonly member: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A part of an agent's life in which nothing is missing. */
export interface Stretch extends Pick<Began, 'life' | 'machines' | 'versions'> {
  /** The earliest first; there is at least one. */
  readonly beginnings: readonly Beginning[];
  /** The index of the member after its last one. */
  readonly end: number;
  /** Who has written it, where this version cannot read it. */
  readonly foreign?: ForeignBegan;
}

/** What is known of a beginning without its keyframe, which is not to be kept. */
interface Known extends Pick<Began, 'life' | 'machines' | 'versions' | 'missed' | 'before'>, Pick<Stretch, 'foreign'> {
  readonly member: number;
}

/** All stretches of a recording, the earliest first. What comes before any beginning belongs to none. */
export async function stretchesOf(file: RecordingFile): Promise<readonly Stretch[]> {
  const stretches: { known: Known; beginnings: Beginning[]; end?: number }[] = [];
  for (const [index, member] of file.members.entries()) {
    if (member.begins === 'no') continue;
    const beginning = { member: index, at: member.at };
    const present = stretches.at(-1);
    const last = present?.end === undefined ? present : undefined;
    // In the midst of a file it goes on with what comes before.
    const known = last && member.begins === 'again' ? last.known : await knownOf(file, index);
    if (known === undefined) {
      // What follows does not belong to what comes before.
      if (last) last.end = index;
    } else if (last && (known === last.known || goesOn(last.known, known))) last.beginnings.push(beginning);
    else stretches.push({ known, beginnings: [beginning] });
  }
  return stretches.map(({ known: { life, machines, versions, foreign }, beginnings, end: cut }, index) => {
    const end = cut ?? stretches[index + 1]?.beginnings[0]?.member ?? file.members.length;
    return { life, machines, versions, ...(foreign ? { foreign } : {}), beginnings, end };
  });
}

/** Whether all members are there that were written between two beginnings of a file each. */
function goesOn(last: Known, next: Known): boolean {
  const isWhole =
    last.before === undefined || next.before === undefined || next.before - last.before === next.member - last.member;
  return last.life === next.life && last.foreign?.format === next.foreign?.format && !next.missed && isWhole;
}

/** What was read of each: the beginnings of a recording that grows are the same whenever it is looked at. */
const read = new WeakMap<Member, Promise<Omit<Known, 'member'> | undefined>>();

/** Undefined where nothing can begin with the member. */
async function knownOf(file: RecordingFile, index: number): Promise<Known | undefined> {
  const member = file.members[index];
  if (member === undefined) return undefined;
  const reading = read.get(member) ?? readKnown(file, member);
  read.set(member, reading);
  const known = await reading.catch((error: unknown) => {
    // A disk that failed may not fail again.
    read.delete(member);
    throw error;
  });
  return known && { ...known, member: index };
}

async function readKnown(file: RecordingFile, member: Member): Promise<Omit<Known, 'member'> | undefined> {
  const [first = ''] = await file.lines(member).catch(noneOfDamaged);
  const line = readLine(first);
  const foreign = line === undefined ? readForeignBegan(first) : undefined;
  if (foreign) return { life: foreign.life, machines: '', versions: { statelet: foreign.statelet, node: '' }, foreign };
  if (line?.kind !== 'began') return undefined;
  const { life, machines, versions, missed, before } = line;
  const counts = { ...(missed === undefined ? {} : { missed }), ...(before === undefined ? {} : { before }) };
  return { life, machines, versions, ...counts };
}

function noneOfDamaged(error: unknown): readonly string[] {
  if (error instanceof RecordingError) return [];
  throw error;
}

/** What a replay begins with. */
export async function beganAt(file: RecordingFile, { member }: Beginning): Promise<Began> {
  const found = file.members[member];
  const began = found && (await beganOf(file, found));
  if (began === undefined)
    throw new RecordingError(`${found?.file}: damaged: nothing can be replayed from byte ${found?.offset}`);
  return began;
}

/** Undefined where the member is torn, and where the line is none that this version knows. */
async function beganOf(file: RecordingFile, member: Member): Promise<Began | undefined> {
  const [first] = (await linesIn(file, member)) ?? [];
  const line = first === undefined ? undefined : readLine(first);
  return line?.kind === 'began' ? line : undefined;
}

/** Undefined where the member is torn: the last one of a recorder, or of its file, which was not written to its end. */
export async function linesIn(file: RecordingFile, member: Member): Promise<readonly string[] | undefined> {
  try {
    return await file.lines(member);
  } catch (error) {
    if (error instanceof RecordingError && file.isLast(member)) return undefined;
    throw error;
  }
}

/**
 * The lines of a stretch from one of its beginnings on, those of the beginnings left out. Of members that begin after
 * `until` nothing is read: others may follow, where a clock was set back.
 */
export async function* linesFrom(
  file: RecordingFile,
  stretch: Stretch,
  { member }: Beginning,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line> {
  for (const [offset, each] of file.members.slice(member, stretch.end).entries()) {
    if (each.at > until) continue;
    // In the midst of it nothing may be missing.
    const lines = member + offset === stretch.end - 1 ? await linesIn(file, each) : await file.lines(each);
    for (const json of lines ?? []) {
      const line = readLine(json);
      if (line !== undefined && line.kind !== 'began') yield line;
    }
  }
}

/** Where in a stretch something is to be read. */
export interface Part {
  readonly stretch: Stretch;
  readonly beginning: Beginning;
}

/** Where all is that happened between two moments. A clock may have been set back: any stretch can have some of it. */
export function partsBetween(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Part[] {
  const found = beginningBefore(stretches, from)?.stretch;
  return stretches.flatMap((stretch) => {
    const beginning = stretch.beginnings.findLast(({ at }) => at <= from) ?? stretch.beginnings[0];
    if (beginning === undefined) return [];
    const members = file.members.slice(beginning.member, stretch.end);
    const isOfThen = stretch === found || members.some(({ at }) => at >= from && at <= to);
    return isOfThen ? [{ stretch, beginning }] : [];
  });
}

/** Where a replay up to a moment begins: with the last beginning before it, or the very first one. */
export function beginningBefore(stretches: readonly Stretch[], until: number): Part | undefined {
  const all = stretches.flatMap((stretch) => stretch.beginnings.map((beginning) => ({ stretch, beginning })));
  return all.findLast(({ beginning }) => beginning.at <= until) ?? all[0];
}
