/** Reads the story of one pod, or of the node itself, from a recording. */
import { machineAt, tagOf } from '../../machines/drawing/stateTags.ts';
import type { RecordingFile } from '../../recording/recordingFile.ts';
import { linesFrom, type Part, partsBetween, readHeaderAt, type Stretch } from '../../recording/stretches.ts';
import type { Story, StoryLine } from '../protocol.ts';
import { StoryConverter } from './storyLines.ts';

/** Maximum number of lines. Beyond this, the earliest lines are dropped. */
const MAX_LINES = 20_000;
/** Maximum number of compressed bytes to read for a story. Decompressing and parsing them takes a few seconds. */
const MAX_READ_BYTES = 2 ** 24;

interface StoryQuery {
  /** UID of the pod. Empty for the node itself. */
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** The default is 16 MiB. */
  readonly maxBytes?: number;
}

type State = Story['before'][number];

/** Returns the story between two times, inclusive. Drops the earliest lines if there are too many. */
export async function readPastStory(
  file: RecordingFile,
  stretches: readonly Stretch[],
  asked: StoryQuery,
): Promise<Story> {
  const states = new Map<string, State>();
  const lines: StoryLine[] = [];
  const { parts, unread } = selectLatestParts(file, partsBetween(file, stretches, asked), asked);
  let totalLines = unread;
  for await (const line of readStoryLines(file, parts, asked, states)) {
    if (line.at > asked.to || !concerns(line, asked.uid)) continue;
    // Lines before the requested range belong to an earlier life of the pod, and so do the states that result from
    // them.
    if (line.at < asked.from && line.kind === 'gone') states.clear();
    if (line.at < asked.from) {
      if (line.kind === 'state') states.set(line.actor, createState(line.actor, line.state, line.at));
      continue;
    }
    totalLines += 1;
    lines.push(line);
    // Trim rarely, because removing lines from the start moves all later ones.
    if (lines.length > 2 * MAX_LINES) lines.splice(0, lines.length - MAX_LINES);
  }
  const lastLines = lines.slice(-MAX_LINES);
  return {
    from: asked.from,
    to: asked.to,
    before: [...states.values()],
    lines: lastLines,
    ...(totalLines > lastLines.length ? { unsaid: totalLines - lastLines.length } : {}),
  };
}

/**
 * Selects the latest parts within the limit of bytes. `unread` is the number of entries of all actors in the skipped
 * parts.
 */
function selectLatestParts(
  file: RecordingFile,
  all: readonly Part[],
  { from, to, maxBytes: most = MAX_READ_BYTES }: StoryQuery,
) {
  const parts: Part[] = [];
  let [remainingBytes, unread] = [most, 0];
  for (const { stretch, beginning } of all.toReversed()) {
    const begins = new Map(stretch.beginnings.map((each) => [each.member, each]));
    let [first, isInRange, skipped]: [Part['beginning'] | undefined, boolean, number] = [undefined, false, 0];
    for (let index = stretch.end - 1; index >= beginning.member; index -= 1) {
      const { at = 0, size = 0, entries = 0 } = file.members[index] ?? {};
      if (at <= to) {
        isInRange = true;
        remainingBytes -= size;
        if (at >= from) skipped += entries;
      }
      const beginning = isInRange ? begins.get(index) : undefined;
      // Read at least one part.
      if (beginning && (remainingBytes >= 0 || (parts.length === 0 && first === undefined)))
        [first, skipped] = [beginning, 0];
    }
    unread += skipped;
    if (first) parts.unshift({ stretch, beginning: first });
  }
  return { parts, unread };
}

/** Yields the story lines of each part. Fills `states` with the actors' states at the start of the first part. */
async function* readStoryLines(
  file: RecordingFile,
  parts: readonly Part[],
  { uid, to }: StoryQuery,
  states: Map<string, State>,
): AsyncGenerator<StoryLine> {
  const teller = new StoryConverter();
  for (const [index, { stretch, beginning }] of parts.entries()) {
    // Report the existence of a part that this version cannot read.
    if (stretch.foreign) yield { kind: 'began', at: beginning.at };
    if (stretch.foreign) continue;
    const began = await readHeaderAt(file, beginning);
    for (const [actor, { state, since }] of Object.entries(began.from?.since ?? {}))
      if (belongsTo(actor, uid) && state !== '' && index === 0) states.set(actor, createState(actor, state, since));
    yield* teller.convert(began);
    for await (const line of linesFrom(file, stretch, beginning, to)) yield* teller.convert(line);
  }
}

function createState(actor: string, state: string, since: number): State {
  const tag = tagOf(machineAt(actor), state);
  return { actor, state, since, ...(tag === undefined ? {} : { tag }) };
}

const belongsTo = (actor: string, uid: string): boolean =>
  uid === '' ? !actor.startsWith('pod/') : actor === `pod/${uid}` || actor.startsWith(`pod/${uid}/`);

function concerns(line: StoryLine, uid: string): boolean {
  if (line.kind === 'began' || line.kind === 'ended') return true;
  if (line.kind === 'event') return line.uid === uid || (uid === '' && line.uid === '');
  if (line.kind === 'gone') return line.uid === uid;
  if (line.kind === 'entered' && line.uid !== undefined) return line.uid === uid;
  return belongsTo(line.actor, uid);
}
