/** Reads the story, i.e. the recorded history, of one pod or of the node itself. */
import { machineAt, stateCategory } from '../../../machines/drawing/stateTags.ts';
import type { RecordingFile } from '../../../recording/recordingFile.ts';
import {
  findPositionsBetween,
  readHeaderAt,
  readStretchLines,
  type Stretch,
  type StretchPosition,
} from '../../../recording/stretches.ts';
import type { Story, StoryLine } from '../../protocol.ts';
import { StoryConverter } from './storyConverter.ts';

/** Maximum number of lines in a story. If there are more, the earliest ones are dropped. */
const MAX_LINES = 20_000;
/** Maximum number of compressed bytes to read for a story. Decompressing and parsing them takes a few seconds. */
const MAX_READ_BYTES = 2 ** 24;

interface StoryQuery {
  /** UID of the pod. Empty for the node itself. */
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** Maximum number of compressed bytes to read. The default is 16 MiB. */
  readonly maxBytes?: number;
}

type ActorState = Story['before'][number];

/** Returns the story between two times, inclusive. Drops the earliest lines if there are too many. */
export async function readPastStory(
  file: RecordingFile,
  stretches: readonly Stretch[],
  query: StoryQuery,
): Promise<Story> {
  const states = new Map<string, ActorState>();
  const storyLines: StoryLine[] = [];
  const { parts, unread } = selectLatestParts(file, findPositionsBetween(file, stretches, query), query);
  let totalLineCount = unread;
  for await (const line of readStoryLines(file, parts, query, states)) {
    if (line.at > query.to || !concernsPod(line, query.uid)) continue;
    // Discard the states of a pod that was removed before the requested range, because they do not belong to a later
    // pod with the same UID.
    if (line.at < query.from && line.kind === 'gone') states.clear();
    if (line.at < query.from) {
      if (line.kind === 'state') states.set(line.actor, createState(line.actor, line.state, line.at));
      continue;
    }
    totalLineCount += 1;
    storyLines.push(line);
    // Trim only when the list is twice as long as needed, because removing lines from its start moves all later lines.
    if (storyLines.length > 2 * MAX_LINES) storyLines.splice(0, storyLines.length - MAX_LINES);
  }
  const lastLines = storyLines.slice(-MAX_LINES);
  return {
    from: query.from,
    to: query.to,
    before: [...states.values()],
    lines: lastLines,
    ...(totalLineCount > lastLines.length ? { unsaid: totalLineCount - lastLines.length } : {}),
  };
}

/**
 * Selects the latest parts of the recording whose total size is within `maxBytes`. `unread` is the number of entries in
 * the skipped parts, including those of other pods.
 */
function selectLatestParts(
  file: RecordingFile,
  positions: readonly StretchPosition[],
  { from, to, maxBytes: byteLimit = MAX_READ_BYTES }: StoryQuery,
) {
  const selectedParts: StretchPosition[] = [];
  let [remainingBytes, unread] = [byteLimit, 0];
  for (const { stretch, replayStart } of positions.toReversed()) {
    const replayStartByMember = new Map(stretch.replayStarts.map((each) => [each.member, each]));
    let [first, isInRange, skipped]: [StretchPosition['replayStart'] | undefined, boolean, number] = [
      undefined,
      false,
      0,
    ];
    for (let index = stretch.end - 1; index >= replayStart.member; index -= 1) {
      const { at = 0, size = 0, entries = 0 } = file.members[index] ?? {};
      if (at <= to) {
        isInRange = true;
        remainingBytes -= size;
        if (at >= from) skipped += entries;
      }
      const candidateStart = isInRange ? replayStartByMember.get(index) : undefined;
      // Include the latest part even if it exceeds `maxBytes`.
      if (candidateStart && (remainingBytes >= 0 || (selectedParts.length === 0 && first === undefined)))
        [first, skipped] = [candidateStart, 0];
    }
    unread += skipped;
    if (first) selectedParts.unshift({ stretch, replayStart: first });
  }
  return { parts: selectedParts, unread };
}

/** Yields the story lines of each part. Fills `states` with the actors' states at the start of the first part. */
async function* readStoryLines(
  file: RecordingFile,
  selectedParts: readonly StretchPosition[],
  { uid, to }: StoryQuery,
  states: Map<string, ActorState>,
): AsyncGenerator<StoryLine> {
  const converter = new StoryConverter();
  for (const [index, { stretch, replayStart }] of selectedParts.entries()) {
    // If this version cannot read the part, yield only a line for the start of the agent.
    if (stretch.foreign) yield { kind: 'began', at: replayStart.at };
    if (stretch.foreign) continue;
    const headerLine = await readHeaderAt(file, replayStart);
    for (const [actor, { state, since }] of Object.entries(headerLine.from?.since ?? {}))
      if (belongsToPod(actor, uid) && state !== '' && index === 0) states.set(actor, createState(actor, state, since));
    yield* converter.convert(headerLine);
    for await (const line of readStretchLines(file, stretch, replayStart, to)) yield* converter.convert(line);
  }
}

function createState(actor: string, state: string, since: number): ActorState {
  const tag = stateCategory(machineAt(actor), state);
  return { actor, state, since, ...(tag === undefined ? {} : { tag }) };
}

const belongsToPod = (actor: string, uid: string): boolean =>
  uid === '' ? !actor.startsWith('pod/') : actor === `pod/${uid}` || actor.startsWith(`pod/${uid}/`);

function concernsPod(line: StoryLine, uid: string): boolean {
  if (line.kind === 'began' || line.kind === 'ended') return true;
  if (line.kind === 'event') return line.uid === uid || (uid === '' && line.uid === '');
  if (line.kind === 'gone') return line.uid === uid;
  if (line.kind === 'entered' && line.uid !== undefined) return line.uid === uid;
  return belongsToPod(line.actor, uid);
}
