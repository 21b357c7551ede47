/** Plays recordings again: to a moment, or from end to end beside what was written down. */
import type { InspectionEvent } from 'xstate';
import type { NodeAgent } from '../actors/nodeAgent.ts';
import type { NodeParts } from '../actors/nodeParts.ts';
import { createReplay, type Replay } from '../actors/replay.ts';
import { messageOf } from '../base/failure.ts';
import { Comparison, type Difference } from './comparison.ts';
import type { Began, Line } from './lines.ts';
import { foreignText, readLine } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { type Beginning, beganAt, beginningBefore, linesFrom, linesIn, type Stretch } from './stretches.ts';

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

interface PlayTo extends Pick<NodeParts, 'moves'> {
  readonly until: number;
  /** The digest of the machines that play. */
  readonly machines: string;
  /** What is to be seen of the way there begins here; absent: the way is as short as it can be. */
  readonly since?: number;
  /** Sees every inspection event of xstate, with its moment. */
  readonly inspect?: (event: InspectionEvent, at: number) => void;
}

/** Plays a recording up to a moment and with it; undefined where there is nothing to begin with. */
export async function playTo(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { until, machines, since = until, inspect, moves }: PlayTo,
): Promise<Played | undefined> {
  const found = beginningBefore(stretches, until);
  if (found === undefined) return undefined;
  const { stretch } = found;
  expectMachines(stretch, machines);
  const beginning = stretch.beginnings.findLast(({ at }) => at <= since) ?? stretch.beginnings[0] ?? found.beginning;
  let { at } = beginning;
  const { agent, enter, passTo } = await replayFrom(file, beginning, {
    ...(moves ? { moves } : {}),
    ...(inspect ? { inspect: (event) => inspect(event, at) } : {}),
  });
  agent.start();
  try {
    for await (const line of linesFrom(file, stretch, beginning)) {
      // Before all that was recorded there is nothing to see.
      at = Math.max(beginning.at, Math.min(line.at, until));
      if (line.at > until) break;
      if (isEntry(line)) await entered(enter, line);
    }
  } catch (error) {
    await agent.stop();
    throw error;
  }
  passTo(at);
  return { agent, at };
}

/** Plays the part of a stretch that begins at one of its beginnings, further and further, as far as it is asked to. */
export class PartPlayer {
  readonly #beginning: Beginning;
  readonly #replay: Replay;
  /** The member that is to be played next. */
  #next: number;

  private constructor(beginning: Beginning, replay: Replay) {
    this.#beginning = beginning;
    this.#replay = replay;
    this.#next = beginning.member;
  }

  /** Throws a `RecordingError` where these machines cannot play it. */
  static async begin(
    file: RecordingFile,
    stretch: Stretch,
    beginning: Beginning,
    { machines, inspect }: { readonly machines: string; readonly inspect?: (event: InspectionEvent) => void },
  ): Promise<PartPlayer> {
    expectMachines(stretch, machines);
    const replay = await replayFrom(file, beginning, inspect ? { inspect } : {});
    replay.agent.start();
    return new PartPlayer(beginning, replay);
  }

  get agent(): NodeAgent {
    return this.#replay.agent;
  }

  /**
   * Plays on to the first member that begins after a moment; `onMoment` is called after all that entered at one. Where it
   * rejects it has come to nowhere, and is of no use any more.
   */
  async playTo(until: number, file: RecordingFile, stretch: Stretch, onMoment: (at: number) => void): Promise<void> {
    const following = stretch.beginnings.find(({ member }) => member > this.#beginning.member);
    const end = following?.member ?? stretch.end;
    for (; this.#next < end; this.#next += 1) {
      const member = file.members[this.#next];
      if (member === undefined || member.at > until) return;
      await this.#play((await linesIn(file, member)) ?? [], onMoment);
    }
  }

  async #play(lines: readonly string[], onMoment: (at: number) => void): Promise<void> {
    let at: number | undefined;
    for (const json of lines) {
      const line = readLine(json);
      if (line === undefined || !isEntry(line)) continue;
      if (at !== undefined && line.at !== at) onMoment(at);
      at = line.at;
      await entered(this.#replay.enter, line);
    }
    if (at !== undefined) onMoment(at);
  }
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
  at,
  of: actor === '' ? 'node' : actor,
  recorded: `${kind} of ${source}`,
});
