/**
 * Replays the parts of a recording that a user browses, and caches the results. A part is replayed only as far as
 * requested, and usually only once.
 */
import { StretchPlayer } from '../../../recording/play.ts';
import type { RecordingFile } from '../../../recording/recordingFile.ts';
import { findPositionBefore, type ReplayStart, type Stretch } from '../../../recording/stretches.ts';
import { TouchedTrees } from '../../live/touched.ts';
import { Reel, type ShownState } from './reel.ts';

/** Maximum number of cached reels, each of which contains an agent with all of its actors. */
const MAX_REELS = 3;

interface CachedReel {
  readonly reel: Reel;
  readonly player: StretchPlayer;
  readonly touchedTrees: TouchedTrees;
}

interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

interface ReelPart {
  readonly file: RecordingFile;
  readonly stretch: Stretch;
  readonly replayStart: ReplayStart;
}

/** Caches the most recently used reels. */
export class Reels {
  readonly #machines: string;
  /** Cached reels by the keyframe at which they start. */
  readonly #reels = new Map<string, Promise<CachedReel>>();
  /**
   * Settles when the last queued request has been served. Requests are served sequentially, because an agent can be
   * replayed for only one request at a time.
   */
  #lastRequest: Promise<unknown> = Promise.resolve();

  /** `machines` is the digest of the machines of this program. */
  constructor(machines: string) {
    this.#machines = machines;
  }

  /**
   * Returns the state at the given time, or at the start of the recording if the time is earlier. Returns undefined if
   * the recording is empty.
   */
  stateAt(targetTime: number, recording: OpenedRecording): Promise<ShownState | undefined> {
    const statePromise = this.#lastRequest.then(() => this.#replayTo(targetTime, recording));
    this.#lastRequest = statePromise.catch(() => {});
    return statePromise;
  }

  async #replayTo(targetTime: number, { file, stretches }: OpenedRecording): Promise<ShownState | undefined> {
    const startPosition = findPositionBefore(stretches, targetTime);
    const startMember = startPosition && file.members[startPosition.replayStart.member];
    if (startPosition === undefined || startMember === undefined) return undefined;
    const reelPart = { file, ...startPosition };
    const key = `${startMember.file} ${startMember.offset} ${startMember.at}`;
    const reelPromise = this.reelCoveringTime(key, reelPart, Math.max(targetTime, startPosition.replayStart.at));
    this.#reels.delete(key);
    this.#reels.set(key, reelPromise);
    await this.#evictOldest();
    try {
      const { reel, player, touchedTrees } = await reelPromise;
      await player.playTo(targetTime, file, startPosition.stretch, (at) =>
        reel.addState(player.agent, at, touchedTrees.take()),
      );
      return reel.stateAt(targetTime);
    } catch (error) {
      // Drop the reel, because an error leaves its replay at an unknown position.
      this.#reels.delete(key);
      await stopReel(reelPromise);
      throw error;
    }
  }

  /**
   * Returns a reel that covers the given time. The first request for a part replays the part up to that time without
   * storing states, which is fast. If an earlier time is requested later, the whole part is replayed and all states are
   * stored.
   */
  async reelCoveringTime(key: string, part: ReelPart, targetTime: number): Promise<CachedReel> {
    const cachedReel = this.#reels.get(key);
    if (cachedReel === undefined) return this.#createReel(part, targetTime);
    if ((await cachedReel).reel.covers(targetTime)) return cachedReel;
    await stopReel(cachedReel);
    return this.#createReel(part, part.replayStart.at);
  }

  /**
   * Creates a reel and replays the part up to the given time. The reel stores the state at that time and all later
   * states.
   */
  async #createReel({ file, stretch, replayStart }: ReelPart, targetTime: number): Promise<CachedReel> {
    const [machines, touchedTrees] = [this.#machines, new TouchedTrees()];
    const player = await StretchPlayer.create(file, stretch, replayStart, { machines, inspect: touchedTrees.inspect });
    player.agent.subscribe(touchedTrees.markPods);
    const reel = new Reel(stretch.versions.statelet);
    try {
      const lastMember = file.members.slice(replayStart.member, stretch.end).findLast(({ at }) => at <= targetTime);
      const from = Math.max(replayStart.at, lastMember?.at ?? replayStart.at);
      if (from > replayStart.at) await player.playTo(from - 1, file, stretch, () => {});
      touchedTrees.take();
      reel.addState(player.agent, from);
    } catch (error) {
      await player.agent.stop();
      throw error;
    }
    return { reel, player, touchedTrees };
  }

  async #evictOldest(): Promise<void> {
    const [oldest] = this.#reels.entries();
    if (this.#reels.size <= MAX_REELS || oldest === undefined) return;
    const [key, playing] = oldest;
    this.#reels.delete(key);
    await stopReel(playing);
  }
}

const stopReel = (reelPromise: Promise<CachedReel>): Promise<void> =>
  reelPromise.then(
    ({ player }) => player.agent.stop(),
    () => {},
  );
