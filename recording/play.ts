/** Replays recordings, either up to a time or completely while comparing the result with the recorded output. */
import type { InspectionEvent } from 'xstate';
import type { NodeAgent } from '../actors/node/nodeAgent.ts';
import type { NodeParts } from '../actors/node/nodeParts.ts';
import { createReplay, type Replay } from '../actors/replay/replay.ts';
import { messageOf } from '../base/failure.ts';
import { Comparison, type Difference } from './comparison.ts';
import type { Began, Line } from './lines.ts';
import { readLine, unsupportedFormatMessage } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { type Beginning, beginningBefore, linesFrom, linesIn, readHeaderAt, type Stretch } from './stretches.ts';

/** A recording replayed up to a time. */
export interface ReplayedMoment {
  /** The agent at that time. The caller must stop it. */
  readonly agent: NodeAgent;
  /**
   * The requested time, or that of the last recorded line if the recording ends earlier. Milliseconds since the epoch.
   */
  readonly at: number;
}

/** Throws if the recording cannot be read or was made with different machines, whose transitions may differ. */
function assertSameMachines({ machines: recorded, versions, foreign }: Stretch, machines: string): void {
  if (foreign) throw new RecordingError(unsupportedFormatMessage(foreign));
  if (recorded === machines) return;
  throw new RecordingError(
    `recorded by statelet ${versions.statelet}, whose state machines differ from this version's: use --story, or replay it with that version`,
  );
}

interface PlayTo extends Pick<NodeParts, 'moves'> {
  readonly until: number;
  /** Digest of the machines of this program. */
  readonly machines: string;
  /**
   * Time from which the replay must pass through `inspect`. If undefined, the replay starts at the last keyframe before
   * `until`.
   */
  readonly since?: number;
  /** Called with every inspection event of XState and the recorded time. */
  readonly inspect?: (event: InspectionEvent, at: number) => void;
}

/** Replays a recording up to and including a time. Returns undefined if there is no keyframe to start from. */
export async function replayTo(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { until, machines, since = until, inspect, moves }: PlayTo,
): Promise<ReplayedMoment | undefined> {
  const start = beginningBefore(stretches, until);
  if (start === undefined) return undefined;
  const { stretch } = start;
  assertSameMachines(stretch, machines);
  const beginning = stretch.beginnings.findLast(({ at }) => at <= since) ?? stretch.beginnings[0] ?? start.beginning;
  let { at } = beginning;
  const { agent, enter, advanceTo } = await createReplayAt(file, beginning, {
    ...(moves ? { moves } : {}),
    ...(inspect ? { inspect: (event) => inspect(event, at) } : {}),
  });
  agent.start();
  try {
    for await (const line of linesFrom(file, stretch, beginning)) {
      // Clamp to the start, because the recording contains nothing earlier.
      at = Math.max(beginning.at, Math.min(line.at, until));
      if (line.at > until) break;
      if (isEntry(line)) await enterOrThrow(enter, line);
    }
  } catch (error) {
    await agent.stop();
    throw error;
  }
  advanceTo(at);
  return { agent, at };
}

/** Replays a stretch from one of its keyframes in steps, each up to the time that the caller requests. */
export class StretchPlayer {
  readonly #beginning: Beginning;
  readonly #replay: Replay;
  /** Index of the next member to play. */
  #next: number;

  private constructor(beginning: Beginning, replay: Replay) {
    this.#beginning = beginning;
    this.#replay = replay;
    this.#next = beginning.member;
  }

  /** Throws a `RecordingError` if the machines of this program cannot replay the stretch. */
  static async create(
    file: RecordingFile,
    stretch: Stretch,
    beginning: Beginning,
    { machines, inspect }: { readonly machines: string; readonly inspect?: (event: InspectionEvent) => void },
  ): Promise<StretchPlayer> {
    assertSameMachines(stretch, machines);
    const replay = await createReplayAt(file, beginning, inspect ? { inspect } : {});
    replay.agent.start();
    return new StretchPlayer(beginning, replay);
  }

  get agent(): NodeAgent {
    return this.#replay.agent;
  }

  /**
   * Plays all members that start at or before `until`. Calls `onMoment` after all entries with the same timestamp. If
   * it rejects, the player is in an undefined state and must be discarded.
   */
  async playTo(until: number, file: RecordingFile, stretch: Stretch, onMoment: (at: number) => void): Promise<void> {
    const nextBeginning = stretch.beginnings.find(({ member }) => member > this.#beginning.member);
    const end = nextBeginning?.member ?? stretch.end;
    for (; this.#next < end; this.#next += 1) {
      const member = file.members[this.#next];
      if (member === undefined || member.at > until) return;
      await this.#playLines((await linesIn(file, member)) ?? [], onMoment);
    }
  }

  async #playLines(lines: readonly string[], onMoment: (at: number) => void): Promise<void> {
    let at: number | undefined;
    for (const json of lines) {
      const line = readLine(json);
      if (line === undefined || !isEntry(line)) continue;
      if (at !== undefined && line.at !== at) onMoment(at);
      at = line.at;
      await enterOrThrow(this.#replay.enter, line);
    }
    if (at !== undefined) onMoment(at);
  }
}

type EntryLine = Extract<Line, { readonly source: string }>;

const isEntry = (line: Line): line is EntryLine => 'source' in line;

async function createReplayAt(
  file: RecordingFile,
  beginning: Beginning,
  options: Parameters<typeof createReplay>[2] = {},
): Promise<Replay & Pick<Began, 'from'>> {
  const { input, from, at } = await readHeaderAt(file, beginning);
  const frame = from ? { from } : {};
  try {
    return { ...createReplay(input, [], { ...options, ...frame, at }), ...frame };
  } catch (cause) {
    throw replayError(at, cause);
  }
}

async function enterOrThrow(enter: Replay['enter'], line: EntryLine): Promise<boolean> {
  try {
    return await enter(line);
  } catch (cause) {
    throw replayError(line.at, cause);
  }
}

/** Wraps an error that a machine throws during a replay, which may send inputs that a live node never sends. */
const replayError = (at: number, cause: unknown): RecordingError =>
  new RecordingError(`${new Date(at).toISOString()}: it cannot be replayed: ${messageOf(cause)}`, { cause });

/** The numbers of compared lines by kind, and the first mismatch if there is one. */
export interface CheckResult {
  readonly entries: number;
  readonly states: number;
  readonly statuses: number;
  readonly difference?: Difference;
}

/** Replays a whole stretch and compares every state and status with the recording. */
export async function checkStretch(file: RecordingFile, stretch: Stretch, machines: string): Promise<CheckResult> {
  const [beginning] = stretch.beginnings;
  const counts = { entries: 0, states: 0, statuses: 0 };
  if (beginning === undefined) return counts;
  assertSameMachines(stretch, machines);
  const comparison = new Comparison();
  const { agent, enter, from } = await createReplayAt(file, beginning, { moves: (move) => comparison.move(move) });
  if (from) comparison.startFrom(from);
  agent.subscribe(({ uid, removed, pod }) => comparison.addStatus(uid, removed ? undefined : pod.status));
  agent.start();
  try {
    for await (const line of linesFrom(file, stretch, beginning)) {
      const difference =
        isEntry(line) && !(await enterOrThrow(enter, line)) ? unexpectedEntry(line) : comparison.compare(line);
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

/** Creates the difference for a recorded input that no actor of the replay expects. */
const unexpectedEntry = ({ at, actor, source, kind }: EntryLine): Difference => ({
  at,
  of: actor === '' ? 'node' : actor,
  recorded: `${kind} of ${source}`,
});
