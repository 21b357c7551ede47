/** The lives of agents that a recording is of, one after the other, and where in each a replay can begin. */
import type { Began, Line } from './lines.ts';
import { readLine } from './readLine.ts';
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
}

/** All stretches of a recording, the earliest first. What comes before any beginning belongs to none. */
export async function stretchesOf(file: RecordingFile): Promise<readonly Stretch[]> {
  const stretches: { began: Began; beginnings: Beginning[] }[] = [];
  for (const [index, member] of file.members.entries()) {
    if (member.begins === 'no') continue;
    const beginning = { member: index, at: member.at };
    const last = stretches.at(-1);
    // In the midst of a file it goes on with what comes before.
    const began = last && member.begins === 'again' ? last.began : await beganOf(file, member);
    if (began === undefined) continue;
    const goesOn = last !== undefined && began.life === last.began.life && (began === last.began || !began.missed);
    if (goesOn) last.beginnings.push(beginning);
    else stretches.push({ began: withoutFrame(began), beginnings: [beginning] });
  }
  return stretches.map(({ began: { life, machines, versions }, beginnings }, index) => {
    const end = stretches[index + 1]?.beginnings[0]?.member ?? file.members.length;
    return { ...{ life, machines, versions }, beginnings, end };
  });
}

/** What a replay begins with. */
export async function beganAt(file: RecordingFile, { member }: Beginning): Promise<Began> {
  const found = file.members[member];
  const began = found && (await beganOf(file, found));
  if (began === undefined)
    throw new RecordingError(`${found?.file}: damaged: nothing can be replayed from byte ${found?.offset}`);
  return began;
}

/** Its keyframe is not to be kept. */
const withoutFrame = ({ from: _, ...began }: Began): Began => began;

/** Undefined where the member is torn, and where the line is none that this version knows. */
async function beganOf(file: RecordingFile, member: Member): Promise<Began | undefined> {
  const [first] = (await linesIn(file, member)) ?? [];
  const line = first === undefined ? undefined : readLine(first);
  return line?.kind === 'began' ? line : undefined;
}

/** Undefined where the member is torn: the last one of its file, which was not written to its end. */
export async function linesIn(file: RecordingFile, member: Member): Promise<readonly string[] | undefined> {
  try {
    return await file.lines(member);
  } catch (error) {
    if (error instanceof RecordingError && file.isLast(member)) return undefined;
    throw error;
  }
}

/** The lines of a stretch from one of its beginnings on, those of the beginnings left out. */
export async function* linesFrom(file: RecordingFile, stretch: Stretch, { member }: Beginning): AsyncGenerator<Line> {
  for (const each of file.members.slice(member, stretch.end)) {
    for (const json of (await linesIn(file, each)) ?? []) {
      const line = readLine(json);
      if (line !== undefined && line.kind !== 'began') yield line;
    }
  }
}

/** Where a replay up to a moment begins: with the last beginning before it, or the very first one. */
export function beginningBefore(
  stretches: readonly Stretch[],
  until: number,
): { readonly stretch: Stretch; readonly beginning: Beginning } | undefined {
  const all = stretches.flatMap((stretch) => stretch.beginnings.map((beginning) => ({ stretch, beginning })));
  return all.findLast(({ beginning }) => beginning.at <= until) ?? all[0];
}
