/** The past of a node, out of what was recorded of it: moments, stories, the rail. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { messageOf } from '../base/failure.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import { playTo } from '../recording/play.ts';
import { readLine } from '../recording/readLine.ts';
import { RecordingError } from '../recording/recordingError.ts';
import { type Expand, RecordingFile } from '../recording/recordingFile.ts';
import {
  beginningBefore,
  linesFrom,
  linesIn,
  partsBetween,
  type Stretch,
  stretchesOf,
} from '../recording/stretches.ts';
import { NotInspected } from './inspected.ts';
import { type AskedEntry, pastEntry } from './pastEntry.ts';
import { pastStory } from './pastStory.ts';
import type { Rail, ShownPayload, Snapshot, Story } from './protocol.ts';
import { railOf, spanOf } from './rail.ts';
import type { ShownMoment } from './reel.ts';
import { Reels } from './reels.ts';

interface HistoryParts {
  /** A file, or the directory of a ring. */
  readonly path: string;
  /** The digest of the machines that are to play it. */
  readonly machines: string;
  /** Absent: as the threads of Node.js do it, which others may need. */
  readonly expand?: Expand;
}

interface Opened {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

/** A moment that was played: the agent as it was, and what recorded it. */
export interface PlayedMoment {
  readonly agent: NodeAgent;
  readonly at: number;
  readonly version: string;
}

/** What is to be seen on the way to a moment. */
type Seen = Pick<Parameters<typeof playTo>[2], 'inspect' | 'moves'>;

/** How far back it is looked how an actor moved, in milliseconds, and in keyframes: it takes as long as these are long. */
const SEEN_MS = 10 * 60_000;
const SEEN_BEGINNINGS = 3;

/** How far back statuses are looked for, in milliseconds. */
const STATUSES_MS = 30 * 60_000;

/** Reads a recording whenever something of it is asked for: it may grow meanwhile. */
export class History {
  readonly #parts: HistoryParts;
  readonly #reels: Reels;
  /** As it was found last. */
  #file: RecordingFile | undefined;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
    this.#reels = new Reels(parts.machines);
  }

  /** What can be gone back to; undefined where that is nothing. */
  async recorded(): Promise<Snapshot['recorded']> {
    const { file, stretches } = await this.#open();
    const span = spanOf(file.members, stretches);
    return span && { from: span.from, to: Math.max(span.to, await endOf(file)) };
  }

  /**
   * Plays to a moment, or to the last one; what is done with it has to be over when it settles. With `seen` it plays a part
   * of the way that is long enough to see how one actor moved.
   */
  async at<T>(at: number, use: (played: PlayedMoment) => T, seen?: Seen): Promise<T> {
    const { file, stretches } = await this.#open();
    const { machines } = this.#parts;
    const version = beginningBefore(stretches, at)?.stretch.versions.statelet ?? '';
    const way = seen ? { ...seen, since: seenSince(stretches, at) } : {};
    const played = await playTo(file, stretches, { until: at, machines, ...way }).catch(notPlayed);
    if (played === undefined) throw new NotInspected('nothing was recorded that could be played');
    try {
      return use({ ...played, version });
    } finally {
      await played.agent.stop();
    }
  }

  /** Everything as it was at a moment: the next one that is asked for near it is there at once. */
  async moment(at: number): Promise<ShownMoment> {
    const moment = await this.#reels.at(at, await this.#open()).catch(notPlayed);
    if (moment === undefined) throw new NotInspected('nothing was recorded that could be played');
    return moment;
  }

  /** The first moment from which it is seen how an actor came to be where it was at another. */
  async seenSince(at: number): Promise<number> {
    const { stretches } = await this.#open();
    return seenSince(stretches, at);
  }

  async story(uid: string, from: number, to: number): Promise<Story> {
    const { file, stretches } = await this.#open();
    return pastStory(file, stretches, { uid, from, to });
  }

  async entry(asked: AskedEntry): Promise<ShownPayload> {
    const { file, stretches } = await this.#open();
    const payload = await pastEntry(file, stretches, asked);
    if (payload === undefined) throw new NotInspected('it is not recorded');
    return payload;
  }

  async rail(now?: number): Promise<Rail> {
    const { file, stretches } = await this.#open();
    const rail = railOf(file.members, stretches, Math.max(now ?? 0, await endOf(file)));
    if (rail === undefined) throw new NotInspected('nothing is recorded yet');
    return rail;
  }

  /** Tells of a pod's statuses up to a moment, the earliest first. */
  async statuses(uid: string, to: number, learn: (status: PodStatus | undefined) => void): Promise<void> {
    const { file, stretches } = await this.#open();
    for (const { stretch, beginning } of partsBetween(file, stretches, { from: to - STATUSES_MS, to })) {
      for await (const line of linesFrom(file, stretch, beginning, to))
        if (line.kind === 'status' && line.uid === uid && line.at <= to) learn(line.status);
    }
  }

  async #open(): Promise<Opened> {
    const { path, expand } = this.#parts;
    const file = await RecordingFile.open(path, { before: this.#file, expand }).catch(notRead);
    this.#file = file;
    return { file, stretches: await stretchesOf(file) };
  }
}

/** The last moment of which something is recorded. */
async function endOf(file: RecordingFile): Promise<number> {
  const last = file.members.at(-1);
  const lines = last ? ((await linesIn(file, last)) ?? []) : [];
  return Math.max(last?.at ?? 0, readLine(lines.at(-1) ?? '')?.at ?? 0);
}

function seenSince(stretches: readonly Stretch[], at: number): number {
  const { stretch } = beginningBefore(stretches, at) ?? {};
  const known = (stretch?.beginnings ?? []).filter((beginning) => beginning.at <= at).slice(-SEEN_BEGINNINGS);
  return Math.max(at - SEEN_MS, known[0]?.at ?? at);
}

const notRead = (cause: unknown): never => {
  throw new NotInspected(`no recording can be read: ${messageOf(cause)}`, { cause });
};

function notPlayed(error: unknown): never {
  throw error instanceof RecordingError ? new NotInspected(error.message, { cause: error }) : error;
}
