/** Replays recordings, either up to a given time, or completely while comparing the replay with the recorded output. */
import type { InspectionEvent } from 'xstate';
import type { NodeAgent } from '../actors/node/nodeAgent.ts';
import type { NodeParts } from '../actors/node/nodeParts.ts';
import { createReplay, type Replay } from '../actors/replay/replay.ts';
import { messageOf } from '../base/failure.ts';
import type { RecordingLine, SegmentHeader } from './lines.ts';
import { readLine, unsupportedFormatMessage } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { type RecordingDifference, ReplayComparison } from './replayComparison.ts';
import {
  findPositionBefore,
  type ReplayStart,
  readHeaderAt,
  readMemberLines,
  readStretchLines,
  type Stretch,
} from './stretches.ts';

/** The agent's state at a given time, as reconstructed by a replay. */
export interface ReplayedState {
  /** The agent in its state at the time `at`. The caller must stop the agent. */
  readonly agent: NodeAgent;
  /**
   * The requested time, or the time of the last recorded line if the recording ends earlier. Milliseconds since the
   * epoch.
   */
  readonly at: number;
}

/**
 * Throws if this version does not support the recording's format, or if its state machines differ from the recorded
 * ones and may thus take different transitions.
 */
function assertSameMachines(
  { machines: recordedDigest, versions, foreign: foreignHeader }: Stretch,
  machines: string,
): void {
  if (foreignHeader) throw new RecordingError(unsupportedFormatMessage(foreignHeader));
  if (recordedDigest === machines) return;
  throw new RecordingError(
    `recorded by statelet ${versions.statelet}, whose state machines differ from this version's: use --story, or replay it with that version`,
  );
}

interface ReplayUntilOptions extends Pick<NodeParts, 'onStateChange'> {
  readonly until: number;
  /** Digest of this program's state machines. */
  readonly machines: string;
  /**
   * Time after which every event must be passed to `inspect`. The replay therefore starts at the last keyframe before
   * this time. The default is `until`.
   */
  readonly since?: number;
  /** Called with each XState inspection event and the time at which it was recorded. */
  readonly inspect?: (event: InspectionEvent, at: number) => void;
}

/**
 * Replays a recording up to and including the time `until`. Returns undefined if there is no keyframe to start from.
 */
export async function replayUntil(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { until, machines, since = until, inspect, onStateChange }: ReplayUntilOptions,
): Promise<ReplayedState | undefined> {
  const startPosition = findPositionBefore(stretches, until);
  if (startPosition === undefined) return undefined;
  const { stretch } = startPosition;
  assertSameMachines(stretch, machines);
  const replayStart =
    stretch.replayStarts.findLast(({ at }) => at <= since) ?? stretch.replayStarts[0] ?? startPosition.replayStart;
  let { at } = replayStart;
  const { agent, enterEntry, advanceTime } = await createReplayFrom(file, replayStart, {
    ...(onStateChange ? { onStateChange } : {}),
    ...(inspect ? { inspect: (event) => inspect(event, at) } : {}),
  });
  agent.start();
  try {
    for await (const line of readStretchLines(file, stretch, replayStart)) {
      // Clamp the time to the start of the replay, because no earlier state is available.
      at = Math.max(replayStart.at, Math.min(line.at, until));
      if (line.at > until) break;
      if (isEntry(line)) await enterOrThrow(enterEntry, line);
    }
  } catch (error) {
    await agent.stop();
    throw error;
  }
  advanceTime(at);
  return { agent, at };
}

/**
 * Replays a stretch, i.e. a part of a run of the agent that is recorded without gaps. The replay starts at a keyframe
 * and proceeds in steps, each of which ends at the time that the caller requests.
 */
export class StretchPlayer {
  readonly #replayStart: ReplayStart;
  readonly #replay: Replay;
  #nextMember: number;

  private constructor(replayStart: ReplayStart, replay: Replay) {
    this.#replayStart = replayStart;
    this.#replay = replay;
    this.#nextMember = replayStart.member;
  }

  /** Throws a `RecordingError` if this program's state machines cannot replay the stretch. */
  static async create(
    file: RecordingFile,
    stretch: Stretch,
    replayStart: ReplayStart,
    { machines, inspect }: { readonly machines: string; readonly inspect?: (event: InspectionEvent) => void },
  ): Promise<StretchPlayer> {
    assertSameMachines(stretch, machines);
    const replay = await createReplayFrom(file, replayStart, inspect ? { inspect } : {});
    replay.agent.start();
    return new StretchPlayer(replayStart, replay);
  }

  get agent(): NodeAgent {
    return this.#replay.agent;
  }

  /**
   * Replays all gzip members that start at or before `until`. Calls `onTimestamp` once for each timestamp, after all
   * entries with that timestamp. If the returned promise rejects, the player may be in an inconsistent state and must
   * be discarded.
   */
  async playTo(until: number, file: RecordingFile, stretch: Stretch, onTimestamp: (at: number) => void): Promise<void> {
    const nextStart = stretch.replayStarts.find(({ member }) => member > this.#replayStart.member);
    const end = nextStart?.member ?? stretch.end;
    for (; this.#nextMember < end; this.#nextMember += 1) {
      const member = file.members[this.#nextMember];
      if (member === undefined || member.at > until) return;
      await this.#replayLines((await readMemberLines(file, member)) ?? [], onTimestamp);
    }
  }

  async #replayLines(lines: readonly string[], onTimestamp: (at: number) => void): Promise<void> {
    let at: number | undefined;
    for (const json of lines) {
      const line = readLine(json);
      if (line === undefined || !isEntry(line)) continue;
      if (at !== undefined && line.at !== at) onTimestamp(at);
      at = line.at;
      await enterOrThrow(this.#replay.enterEntry, line);
    }
    if (at !== undefined) onTimestamp(at);
  }
}

type EntryLine = Extract<RecordingLine, { readonly source: string }>;

const isEntry = (line: RecordingLine): line is EntryLine => 'source' in line;

async function createReplayFrom(
  file: RecordingFile,
  replayStart: ReplayStart,
  options: Parameters<typeof createReplay>[2] = {},
): Promise<Replay & Pick<SegmentHeader, 'from'>> {
  const { input, from, at } = await readHeaderAt(file, replayStart);
  const keyframeOptions = from ? { from } : {};
  try {
    return { ...createReplay(input, [], { ...options, ...keyframeOptions, at }), ...keyframeOptions };
  } catch (cause) {
    throw createReplayError(at, cause);
  }
}

async function enterOrThrow(enter: Replay['enterEntry'], line: EntryLine): Promise<boolean> {
  try {
    return await enter(line);
  } catch (cause) {
    throw createReplayError(line.at, cause);
  }
}

/**
 * Wraps an error that a machine throws during a replay. A replayed machine may receive inputs that a live node never
 * sends.
 */
const createReplayError = (at: number, cause: unknown): RecordingError =>
  new RecordingError(`${new Date(at).toISOString()}: it cannot be replayed: ${messageOf(cause)}`, { cause });

/** The count of compared lines of each kind, and the first mismatch, if any. */
export interface CheckResult {
  readonly entries: number;
  readonly states: number;
  readonly statuses: number;
  readonly difference?: RecordingDifference;
}

/** Replays a whole stretch of a recording and compares each state and status with the recorded one. */
export async function checkStretch(file: RecordingFile, stretch: Stretch, machines: string): Promise<CheckResult> {
  const [firstStart] = stretch.replayStarts;
  const comparedCounts = { entries: 0, states: 0, statuses: 0 };
  if (firstStart === undefined) return comparedCounts;
  assertSameMachines(stretch, machines);
  const comparison = new ReplayComparison();
  const { agent, enterEntry, from } = await createReplayFrom(file, firstStart, {
    onStateChange: (move) => comparison.addStateChange(move),
  });
  if (from) comparison.startFrom(from);
  agent.subscribe(({ uid, removed, pod }) => comparison.addStatus(uid, removed ? undefined : pod.status));
  agent.start();
  try {
    for await (const line of readStretchLines(file, stretch, firstStart)) {
      const difference =
        isEntry(line) && !(await enterOrThrow(enterEntry, line)) ? unexpectedEntry(line) : comparison.compare(line);
      if (isEntry(line)) comparedCounts.entries += 1;
      if (line.kind === 'state') comparedCounts.states += 1;
      if (line.kind === 'status') comparedCounts.statuses += 1;
      if (difference) return { ...comparedCounts, difference };
    }
    return comparedCounts;
  } finally {
    await agent.stop();
  }
}

/** Returns the difference for a recorded input that no actor in the replay expects. */
const unexpectedEntry = ({ at, actor, source, kind }: EntryLine): RecordingDifference => ({
  at,
  subject: actor === '' ? 'node' : actor,
  recorded: `${kind} of ${source}`,
});
