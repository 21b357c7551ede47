/** The story of one pod, or of the node itself, out of a recording. */
import { machineAt, tagOf } from '../machines/drawing/stateTags.ts';
import type { Line } from '../recording/lines.ts';
import type { RecordingFile } from '../recording/recordingFile.ts';
import { beganAt, beginningBefore, linesFrom, type Stretch } from '../recording/stretches.ts';
import type { Story, StoryLine } from './protocol.ts';
import { StoryTeller } from './storyLines.ts';

/** More is too much to read: the latest are kept. */
const MOST_LINES = 20_000;

interface Asked {
  /** Empty: the node itself. */
  readonly uid: string;
  readonly from: number;
  readonly to: number;
}

type State = Story['before'][number];

/** What happened between two moments, both included. */
export async function pastStory(file: RecordingFile, stretches: readonly Stretch[], asked: Asked): Promise<Story> {
  const states = new Map<string, State>();
  const lines: StoryLine[] = [];
  const teller = new StoryTeller();
  let said = 0;
  for await (const line of linesUpTo(file, stretches, asked, states)) {
    for (const told of teller.tell(line)) {
      if (!isAbout(told, asked.uid)) continue;
      if (told.at < asked.from) {
        if (told.kind === 'state') states.set(told.actor, stateOf(told.actor, told.state, told.at));
        continue;
      }
      said += 1;
      lines.push(told);
      // Now and then, not at each: what is thrown away is moved.
      if (lines.length > 2 * MOST_LINES) lines.splice(0, lines.length - MOST_LINES);
    }
  }
  const kept = lines.slice(-MOST_LINES);
  return {
    ...{ from: asked.from, to: asked.to, before: [...states.values()], lines: kept },
    ...(said > kept.length ? { unsaid: said - kept.length } : {}),
  };
}

/** The lines of all lives from the beginning before a moment on; `states` is filled with what the actors were in there. */
async function* linesUpTo(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { uid, from, to }: Asked,
  states: Map<string, State>,
): AsyncGenerator<Line> {
  const found = beginningBefore(stretches, from);
  if (found === undefined) return;
  for (const stretch of stretches.slice(stretches.indexOf(found.stretch))) {
    const beginning = stretch === found.stretch ? found.beginning : stretch.beginnings[0];
    if (beginning === undefined || beginning.at > to) return;
    const began = await beganAt(file, beginning);
    for (const [actor, { state, since }] of Object.entries(began.from?.since ?? {}))
      if (isOf(actor, uid) && state !== '' && stretch === found.stretch)
        states.set(actor, stateOf(actor, state, since));
    yield began;
    for await (const line of linesFrom(file, stretch, beginning)) {
      if (line.at > to) return;
      yield line;
    }
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
  if (line.kind === 'entered' && line.uid !== undefined) return line.uid === uid;
  return isOf(line.actor, uid);
}
