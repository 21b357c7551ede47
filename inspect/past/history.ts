/** Reads the past of a node from its recording, including snapshots, stories and the rail. */
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { messageOf } from '../../base/failure.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { replayTo } from '../../recording/play.ts';
import { readLine } from '../../recording/readLine.ts';
import { RecordingError } from '../../recording/recordingError.ts';
import { type Expand, RecordingFile } from '../../recording/recordingFile.ts';
import {
  beginningBefore,
  linesFrom,
  linesIn,
  partsBetween,
  type Stretch,
  stretchesOf,
} from '../../recording/stretches.ts';
import { NotInspected } from '../inspected.ts';
import type { Rail, ShownPayload, Snapshot, Story } from '../protocol.ts';
import { type EntryQuery, readPastEntry } from './pastEntry.ts';
import { readPastStory } from './pastStory.ts';
import { createRail, timeRange } from './rail.ts';
import type { ShownMoment } from './reel.ts';
import { Reels } from './reels.ts';

interface HistoryOptions {
  /** A recording file or the directory of a ring. */
  readonly path: string;
  /** Digest of the machines of this program. */
  readonly machines: string;
  /**
   * Decompresses members. The default uses Node's thread pool, which delays the node's own work if it runs in the same
   * process.
   */
  readonly expand?: Expand;
}

interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

/** The agent at a past time, and the version of statelet that recorded it. */
export interface ReplayedState {
  readonly agent: NodeAgent;
  readonly at: number;
  readonly version: string;
}

/** Callbacks for the events that are replayed on the way to a time. */
type ReplayObservers = Pick<Parameters<typeof replayTo>[2], 'inspect' | 'moves'>;

/** Maximum length of an actor's history. */
const MAX_HISTORY_MS = 10 * 60_000;
/** Maximum length of an actor's history in keyframe intervals, which limits the duration of the replay. */
const MAX_HISTORY_KEYFRAMES = 3;

/** Maximum age of the statuses to read, in milliseconds. */
const MAX_STATUS_AGE_MS = 30 * 60_000;

/** Opens the recording for each request, because it may have grown. */
export class History {
  readonly #parts: HistoryOptions;
  readonly #reels: Reels;
  /** The recording as last opened. Opening it again only reads the appended part. */
  #file: RecordingFile | undefined;

  constructor(parts: HistoryOptions) {
    this.#parts = parts;
    this.#reels = new Reels(parts.machines);
  }

  /** Returns the time range of the recording, or undefined if it is empty. */
  async recordedSpan(): Promise<Snapshot['recorded']> {
    const { file, stretches } = await this.#open();
    const span = timeRange(file.members, stretches);
    return span && { from: span.from, to: Math.max(span.to, await lastRecordedTime(file)) };
  }

  /**
   * Replays to a time, or to the end of the recording, and calls `use` with the agent. The agent is stopped before the
   * result is returned. With `observers`, the replay starts early enough to collect the history of an actor.
   */
  async replayTo<T>(at: number, use: (played: ReplayedState) => T, observers?: ReplayObservers): Promise<T> {
    const { file, stretches } = await this.#open();
    const { machines } = this.#parts;
    const version = beginningBefore(stretches, at)?.stretch.versions.statelet ?? '';
    const replayStart = observers ? { ...observers, since: seenSince(stretches, at) } : {};
    const played = await replayTo(file, stretches, { until: at, machines, ...replayStart }).catch(throwNotReplayable);
    if (played === undefined) throw new NotInspected('nothing was recorded that could be played');
    try {
      return use({ ...played, version });
    } finally {
      await played.agent.stop();
    }
  }

  /** Returns a snapshot. Later requests for nearby times are then served from memory. */
  async snapshotAt(at: number): Promise<ShownMoment> {
    const moment = await this.#reels.stateAt(at, await this.#open()).catch(throwNotReplayable);
    if (moment === undefined) throw new NotInspected('nothing was recorded that could be played');
    return moment;
  }

  /** Returns the start of an actor's history for a snapshot at `at`. */
  async historyStart(at: number): Promise<number> {
    const { stretches } = await this.#open();
    return seenSince(stretches, at);
  }

  async story(uid: string, from: number, to: number): Promise<Story> {
    const { file, stretches } = await this.#open();
    return readPastStory(file, stretches, { uid, from, to });
  }

  async entry(asked: EntryQuery): Promise<ShownPayload> {
    const { file, stretches } = await this.#open();
    const payload = await readPastEntry(file, stretches, asked);
    if (payload === undefined) throw new NotInspected('it is not recorded');
    return payload;
  }

  async rail(now?: number): Promise<Rail> {
    const { file, stretches } = await this.#open();
    const rail = createRail(file.members, stretches, Math.max(now ?? 0, await lastRecordedTime(file)));
    if (rail === undefined) throw new NotInspected('nothing is recorded yet');
    return rail;
  }

  /** Calls `addStatus` with a pod's statuses up to a time, from earliest to latest. */
  async statuses(uid: string, to: number, addStatus: (status: PodStatus | undefined) => void): Promise<void> {
    const { file, stretches } = await this.#open();
    for (const { stretch, beginning } of partsBetween(file, stretches, { from: to - MAX_STATUS_AGE_MS, to })) {
      for await (const line of linesFrom(file, stretch, beginning, to))
        if (line.kind === 'status' && line.uid === uid && line.at <= to) addStatus(line.status);
    }
  }

  async #open(): Promise<OpenedRecording> {
    const { path, expand } = this.#parts;
    const file = await RecordingFile.open(path, { before: this.#file, expand }).catch(throwUnreadable);
    this.#file = file;
    return { file, stretches: await stretchesOf(file) };
  }
}

/** Returns the time of the last line. */
async function lastRecordedTime(file: RecordingFile): Promise<number> {
  const lastMember = file.members.at(-1);
  const lines = lastMember ? ((await linesIn(file, lastMember)) ?? []) : [];
  return Math.max(lastMember?.at ?? 0, readLine(lines.at(-1) ?? '')?.at ?? 0);
}

function seenSince(stretches: readonly Stretch[], at: number): number {
  const { stretch } = beginningBefore(stretches, at) ?? {};
  const keyframes = (stretch?.beginnings ?? []).filter((beginning) => beginning.at <= at).slice(-MAX_HISTORY_KEYFRAMES);
  return Math.max(at - MAX_HISTORY_MS, keyframes[0]?.at ?? at);
}

const throwUnreadable = (cause: unknown): never => {
  throw new NotInspected(`no recording can be read: ${messageOf(cause)}`, { cause });
};

function throwNotReplayable(error: unknown): never {
  throw error instanceof RecordingError ? new NotInspected(error.message, { cause: error }) : error;
}
