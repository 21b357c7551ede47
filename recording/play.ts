/** Plays recordings again: to a moment, or from end to end beside what was written down. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { createReplay, type Replay } from '../actors/replay.ts';
import { messageOf } from '../pod/failure.ts';
import { Comparison, type Difference } from './comparison.ts';
import type { Began, Line } from './lines.ts';
import { foreignText } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { type Beginning, beganAt, beginningBefore, linesFrom, type Stretch } from './stretches.ts';

/** A moment of a recording. */
export interface Played {
  /** The agent as it was then; it is to be stopped. */
  readonly agent: NodeAgent;
  /** The moment, or that of the last thing that was recorded, in milliseconds since the epoch. */
  readonly at: number;
}

/** Throws where the recording is of other machines, which would take other ways, or cannot be read. */
function expectMachines({ machines: recorded, versions, foreign }: Stretch, machines: string): void {
  if (foreign) throw new RecordingError(foreignText(foreign));
  if (recorded === machines) return;
  throw new RecordingError(
    `recorded by statelet ${versions.statelet}, whose state machines differ from this version's: use --story, or replay it with that version`,
  );
}

/** Plays a recording up to a moment and with it; undefined where there is nothing to begin with. */
export async function playTo(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { until, machines }: { readonly until: number; readonly machines: string },
): Promise<Played | undefined> {
  const found = beginningBefore(stretches, until);
  if (found === undefined) return undefined;
  const { stretch, beginning } = found;
  expectMachines(stretch, machines);
  const { agent, enter, passTo } = await replayFrom(file, beginning);
  agent.start();
  let { at } = beginning;
  for await (const line of linesFrom(file, stretch, beginning)) {
    // Before all that was recorded there is nothing to see.
    at = Math.max(beginning.at, Math.min(line.at, until));
    if (line.at > until) break;
    if (isEntry(line)) await entered(enter, line);
  }
  passTo(at);
  return { agent, at };
}

type Entered = Extract<Line, { readonly source: string }>;

const isEntry = (line: Line): line is Entered => 'source' in line;

async function replayFrom(
  file: RecordingFile,
  beginning: Beginning,
  options: Parameters<typeof createReplay>[2] = {},
): Promise<Replay & Pick<Began, 'from'>> {
  const { input, from, at } = await beganAt(file, beginning);
  const frame = from ? { from } : {};
  try {
    return { ...createReplay(input, [], { ...options, ...frame, at }), ...frame };
  } catch (cause) {
    throw notPlayable(at, cause);
  }
}

async function entered(enter: Replay['enter'], line: Entered): Promise<boolean> {
  try {
    return await enter(line);
  } catch (cause) {
    throw notPlayable(line.at, cause);
  }
}

/** Whatever the machines are given that they never were given live. */
const notPlayable = (at: number, cause: unknown): RecordingError =>
  new RecordingError(`${new Date(at).toISOString()}: it cannot be replayed: ${messageOf(cause)}`, { cause });

/** How much was compared. */
export interface Checked {
  readonly entries: number;
  readonly states: number;
  readonly statuses: number;
  readonly difference?: Difference;
}

/** Plays a stretch from its first beginning on, and compares every state and status with what was written down. */
export async function checkStretch(file: RecordingFile, stretch: Stretch, machines: string): Promise<Checked> {
  const [beginning] = stretch.beginnings;
  const counts = { entries: 0, states: 0, statuses: 0 };
  if (beginning === undefined) return counts;
  expectMachines(stretch, machines);
  const comparison = new Comparison();
  const { agent, enter, from } = await replayFrom(file, beginning, { moves: (move) => comparison.move(move) });
  if (from) comparison.beginWith(from);
  agent.subscribe(({ uid, removed, pod }) => comparison.tell(uid, removed ? undefined : pod.status));
  agent.start();
  try {
    for await (const line of linesFrom(file, stretch, beginning)) {
      const difference = isEntry(line) && !(await entered(enter, line)) ? unawaited(line) : comparison.with(line);
      if (isEntry(line)) counts.entries += 1;
      if (line.kind === 'state') counts.states += 1;
      if (line.kind === 'status') counts.statuses += 1;
      if (difference) return { ...counts, difference };
    }
    return counts;
  } finally {
    await agent.stop();
  }
}

/** What entered live, and nobody waits for now. */
const unawaited = ({ at, actor, source, kind }: Entered): Difference => ({
  ...{ at, of: actor === '' ? 'node' : actor, recorded: `${kind} of ${source}` },
});
