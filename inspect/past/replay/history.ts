/**
 * Reads the past of a node from its recording, i.e. snapshots, histories of pods, and the overview of the recording.
 */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import { messageOf } from '../../../base/failure.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { replayUntil } from '../../../recording/play.ts';
import { readLine } from '../../../recording/readLine.ts';
import { RecordingError } from '../../../recording/recordingError.ts';
import { type Decompress, RecordingFile } from '../../../recording/recordingFile.ts';
import {
  findPositionBefore,
  findPositionsBetween,
  findStretches,
  readMemberLines,
  readStretchLines,
  type Stretch,
} from '../../../recording/stretches.ts';
import { NotInspected } from '../../inspected.ts';
import type { Rail, ShownPayload, Snapshot, Story } from '../../protocol.ts';
import { createRail, timeRange } from '../rail.ts';
import { type EntryQuery, readPastEntry } from '../story/pastEntry.ts';
import { readPastStory } from '../story/pastStory.ts';
import type { ShownState } from './reel.ts';
import { Reels } from './reels.ts';

interface HistoryOptions {
  /** A recording file, or the directory that contains a ring of recording files. */
  readonly path: string;
  /** Digest of this program's state machines, which must match the digest in the recording. */
  readonly machines: string;
  /**
   * Decompresses gzip members of a recording. The default uses the thread pool of Node.js, which would delay the work
   * of the Kubernetes node if it runs in the same process.
   */
  readonly decompress?: Decompress;
}

interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

/** The agent at a past time, and the version of statelet that wrote the recording. */
export interface ReplayedState {
  readonly agent: NodeAgent;
  readonly at: number;
  readonly version: string;
}

/** Callbacks for events that are replayed before the requested time. */
type ReplayObservers = Pick<Parameters<typeof replayUntil>[2], 'inspect' | 'onStateChange'>;

/** Maximum duration of an actor's history. */
const MAX_HISTORY_MS = 10 * 60_000;
/** Maximum duration of an actor's history in keyframe intervals, which bounds the time that the replay takes. */
const MAX_HISTORY_KEYFRAMES = 3;

/** Maximum age of the recorded statuses that are read, in milliseconds. */
const MAX_STATUS_AGE_MS = 30 * 60_000;

/** Opens the recording for each request, because it may have grown. */
export class History {
  readonly #options: HistoryOptions;
  readonly #reels: Reels;
  /** The recording as of the last request. The next request only reads what has been appended since. */
  #file: RecordingFile | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#reels = new Reels(options.machines);
  }

  /** Returns the time range of the recording, or undefined if it is empty. */
  async recordedSpan(): Promise<Snapshot['recorded']> {
    const { file, stretches } = await this.#openRecording();
    const recordedRange = timeRange(file.members, stretches);
    return recordedRange && { from: recordedRange.from, to: Math.max(recordedRange.to, await lastRecordedTime(file)) };
  }

  /**
   * Replays the recording up to the given time, or to its end, and calls `useState` with the agent. Stops the agent
   * afterwards. With `observers`, the replay starts early enough to collect the history of an actor.
   */
  async replayTo<T>(
    at: number,
    useState: (replayedState: ReplayedState) => T,
    observers?: ReplayObservers,
  ): Promise<T> {
    const { file, stretches } = await this.#openRecording();
    const { machines } = this.#options;
    const version = findPositionBefore(stretches, at)?.stretch.versions.statelet ?? '';
    const replayStart = observers ? { ...observers, since: replayStartTime(stretches, at) } : {};
    const replayedState = await replayUntil(file, stretches, { until: at, machines, ...replayStart }).catch(
      throwNotReplayable,
    );
    if (replayedState === undefined) throw new NotInspected('nothing was recorded that could be played');
    try {
      return useState({ ...replayedState, version });
    } finally {
      await replayedState.agent.stop();
    }
  }

  /** Returns a snapshot, and caches the replayed states so that later requests for nearby times are fast. */
  async snapshotAt(at: number): Promise<ShownState> {
    const replayedSnapshot = await this.#reels.stateAt(at, await this.#openRecording()).catch(throwNotReplayable);
    if (replayedSnapshot === undefined) throw new NotInspected('nothing was recorded that could be played');
    return replayedSnapshot;
  }

  /** Returns the time from which the history of an actor is collected if it is requested for the time `at`. */
  async historyStart(at: number): Promise<number> {
    const { stretches } = await this.#openRecording();
    return replayStartTime(stretches, at);
  }

  async story(uid: string, from: number, to: number): Promise<Story> {
    const { file, stretches } = await this.#openRecording();
    return readPastStory(file, stretches, { uid, from, to });
  }

  async entry(query: EntryQuery): Promise<ShownPayload> {
    const { file, stretches } = await this.#openRecording();
    const entryPayload = await readPastEntry(file, stretches, query);
    if (entryPayload === undefined) throw new NotInspected('it is not recorded');
    return entryPayload;
  }

  async rail(now?: number): Promise<Rail> {
    const { file, stretches } = await this.#openRecording();
    const rail = createRail(file.members, stretches, Math.max(now ?? 0, await lastRecordedTime(file)));
    if (rail === undefined) throw new NotInspected('nothing is recorded yet');
    return rail;
  }

  /** Calls `addStatus` with each status of a pod up to the given time, from earliest to latest. */
  async statuses(uid: string, to: number, addStatus: (status: PodStatus | undefined) => void): Promise<void> {
    const { file, stretches } = await this.#openRecording();
    for (const { stretch, replayStart } of findPositionsBetween(file, stretches, {
      from: to - MAX_STATUS_AGE_MS,
      to,
    })) {
      for await (const line of readStretchLines(file, stretch, replayStart, to))
        if (line.kind === 'status' && line.uid === uid && line.at <= to) addStatus(line.status);
    }
  }

  async #openRecording(): Promise<OpenedRecording> {
    const { path, decompress } = this.#options;
    const file = await RecordingFile.open(path, { previousFile: this.#file, decompress }).catch(throwUnreadable);
    this.#file = file;
    return { file, stretches: await findStretches(file) };
  }
}

/** Returns the time of the last recorded line. */
async function lastRecordedTime(file: RecordingFile): Promise<number> {
  const lastMember = file.members.at(-1);
  const lastMemberLines = lastMember ? ((await readMemberLines(file, lastMember)) ?? []) : [];
  return Math.max(lastMember?.at ?? 0, readLine(lastMemberLines.at(-1) ?? '')?.at ?? 0);
}

function replayStartTime(stretches: readonly Stretch[], at: number): number {
  const { stretch } = findPositionBefore(stretches, at) ?? {};
  const keyframes = (stretch?.replayStarts ?? [])
    .filter((beginning) => beginning.at <= at)
    .slice(-MAX_HISTORY_KEYFRAMES);
  return Math.max(at - MAX_HISTORY_MS, keyframes[0]?.at ?? at);
}

const throwUnreadable = (cause: unknown): never => {
  throw new NotInspected(`no recording can be read: ${messageOf(cause)}`, { cause });
};

function throwNotReplayable(error: unknown): never {
  throw error instanceof RecordingError ? new NotInspected(error.message, { cause: error }) : error;
}
