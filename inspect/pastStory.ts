/** The story of one pod, or of the node itself, out of a recording. */
import { machineAt, tagOf } from '../machines/drawing/stateTags.ts';
import type { RecordingFile } from '../recording/recordingFile.ts';
import { beganAt, linesFrom, type Part, partsBetween, type Stretch } from '../recording/stretches.ts';
import type { Story, StoryLine } from './protocol.ts';
import { StoryTeller } from './storyLines.ts';

/** More is too much to read: the latest are kept. */
const MOST_LINES = 20_000;
/** So much of a recording is expanded for a story, in bytes: some seconds of work. */
const MOST_BYTES = 2 ** 24;

interface Asked {
  /** Empty: the node itself. */
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** Absent: 16 MiB. */
  readonly mostBytes?: number;
}

type State = Story['before'][number];

/** What happened between two moments, both included; of more than can be read the latest. */
export async function pastStory(file: RecordingFile, stretches: readonly Stretch[], asked: Asked): Promise<Story> {
  const states = new Map<string, State>();
  const lines: StoryLine[] = [];
  const { parts, unread } = latestOf(file, partsBetween(file, stretches, asked), asked);
  let said = unread;
  for await (const told of toldOf(file, parts, asked, states)) {
    if (told.at > asked.to || !isAbout(told, asked.uid)) continue;
    // Lines before the requested range belong to an earlier life, as do the states that they lead to.
    if (told.at < asked.from && told.kind === 'gone') states.clear();
    if (told.at < asked.from) {
      if (told.kind === 'state') states.set(told.actor, stateOf(told.actor, told.state, told.at));
      continue;
    }
    said += 1;
    lines.push(told);
    // Now and then, not at each: what is thrown away is moved.
    if (lines.length > 2 * MOST_LINES) lines.splice(0, lines.length - MOST_LINES);
  }
  const kept = lines.slice(-MOST_LINES);
  return {
    from: asked.from,
    to: asked.to,
    before: [...states.values()],
    lines: kept,
    ...(said > kept.length ? { unsaid: said - kept.length } : {}),
  };
}

/** The latest of it that is not too much to read; `unread` is how much entered in the rest, whomever it is about. */
function latestOf(file: RecordingFile, all: readonly Part[], { from, to, mostBytes: most = MOST_BYTES }: Asked) {
  const parts: Part[] = [];
  let [left, unread] = [most, 0];
  for (const { stretch, beginning } of all.toReversed()) {
    const begins = new Map(stretch.beginnings.map((each) => [each.member, each]));
    let [first, isAny, skipped]: [Part['beginning'] | undefined, boolean, number] = [undefined, false, 0];
    for (let index = stretch.end - 1; index >= beginning.member; index -= 1) {
      const { at = 0, size = 0, entries = 0 } = file.members[index] ?? {};
      if (at <= to) {
        isAny = true;
        left -= size;
        if (at >= from) skipped += entries;
      }
      const begun = isAny ? begins.get(index) : undefined;
      // Something of the end is read in any case.
      if (begun && (left >= 0 || (parts.length === 0 && first === undefined))) [first, skipped] = [begun, 0];
    }
    unread += skipped;
    if (first) parts.unshift({ stretch, beginning: first });
  }
  return { parts, unread };
}

/** What is told of each part; `states` is filled with what the actors were in where the first one begins. */
async function* toldOf(
  file: RecordingFile,
  parts: readonly Part[],
  { uid, to }: Asked,
  states: Map<string, State>,
): AsyncGenerator<StoryLine> {
  const teller = new StoryTeller();
  for (const [index, { stretch, beginning }] of parts.entries()) {
    // Of what this version cannot read it is known that it is there.
    if (stretch.foreign) yield { kind: 'began', at: beginning.at };
    if (stretch.foreign) continue;
    const began = await beganAt(file, beginning);
    for (const [actor, { state, since }] of Object.entries(began.from?.since ?? {}))
      if (isOf(actor, uid) && state !== '' && index === 0) states.set(actor, stateOf(actor, state, since));
    yield* teller.tell(began);
    for await (const line of linesFrom(file, stretch, beginning, to)) yield* teller.tell(line);
  }
}

function stateOf(actor: string, state: string, since: number): State {
  const tag = tagOf(machineAt(actor), state);
  return { actor, state, since, ...(tag === undefined ? {} : { tag }) };
}

const isOf = (actor: string, uid: string): boolean =>
  uid === '' ? !actor.startsWith('pod/') : actor === `pod/${uid}` || actor.startsWith(`pod/${uid}/`);

function isAbout(line: StoryLine, uid: string): boolean {
  if (line.kind === 'began' || line.kind === 'ended') return true;
  if (line.kind === 'event') return line.uid === uid || (uid === '' && line.uid === '');
  if (line.kind === 'gone') return line.uid === uid;
  if (line.kind === 'entered' && line.uid !== undefined) return line.uid === uid;
  return isOf(line.actor, uid);
}
