/**
 * Replays the parts of a recording that a user browses. Each part is replayed once, as far as the user has requested.
 */
import { StretchPlayer } from '../../recording/play.ts';
import type { RecordingFile } from '../../recording/recordingFile.ts';
import { type Beginning, beginningBefore, type Stretch } from '../../recording/stretches.ts';
import { TouchedTrees } from '../live/touched.ts';
import { Reel, type ShownMoment } from './reel.ts';

/** Maximum number of cached reels. Each one contains an agent with all of its actors. */
const MAX_REELS = 3;

interface CachedReel {
  readonly reel: Reel;
  readonly player: StretchPlayer;
  readonly touched: TouchedTrees;
}

/** An opened recording. */
interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

interface ReelPart {
  readonly file: RecordingFile;
  readonly stretch: Stretch;
  readonly beginning: Beginning;
}

/** Caches the most recently used reels. */
export class Reels {
  readonly #machines: string;
  /** Cached reels by the position of the keyframe at which they start. */
  readonly #reels = new Map<string, Promise<CachedReel>>();
  /** Serializes the requests, because an agent can be replayed for one request at a time only. */
  #lastRequest: Promise<unknown> = Promise.resolve();

  /** `machines` is the digest of the machines of this program. */
  constructor(machines: string) {
    this.#machines = machines;
  }

  /**
   * Returns the state at a time, or at the start of the recording if the time is earlier. Returns undefined if the
   * recording is empty.
   */
  stateAt(moment: number, opened: OpenedRecording): Promise<ShownMoment | undefined> {
    const answer = this.#lastRequest.then(() => this.#replayTo(moment, opened));
    this.#lastRequest = answer.catch(() => {});
    return answer;
  }

  async #replayTo(moment: number, { file, stretches }: OpenedRecording): Promise<ShownMoment | undefined> {
    const position = beginningBefore(stretches, moment);
    const member = position && file.members[position.beginning.member];
    if (position === undefined || member === undefined) return undefined;
    const part = { file, ...position };
    const key = `${member.file} ${member.offset} ${member.at}`;
    const playing = this.#reelCovering(key, part, Math.max(moment, position.beginning.at));
    this.#reels.delete(key);
    this.#reels.set(key, playing);
    await this.#evictOldest();
    try {
      const { reel, player, touched } = await playing;
      await player.playTo(moment, file, position.stretch, (at) => reel.addState(player.agent, at, touched.take()));
      return reel.stateAt(moment);
    } catch (error) {
      // Drop the reel, because the position of its replay is unknown after an error.
      this.#reels.delete(key);
      await stopReel(playing);
      throw error;
    }
  }

  /**
   * Returns a reel that covers a time. The first request for a part replays up to that time without storing states,
   * which is fast. An earlier time then replays the whole part with stored states.
   */
  async #reelCovering(key: string, part: ReelPart, moment: number): Promise<CachedReel> {
    const cachedReel = this.#reels.get(key);
    if (cachedReel === undefined) return this.#createReel(part, moment);
    if ((await cachedReel).reel.covers(moment)) return cachedReel;
    await stopReel(cachedReel);
    return this.#createReel(part, part.beginning.at);
  }

  /** Creates a reel and replays its part up to a time. Later states are stored. */
  async #createReel({ file, stretch, beginning }: ReelPart, moment: number): Promise<CachedReel> {
    const [machines, touched] = [this.#machines, new TouchedTrees()];
    const player = await StretchPlayer.create(file, stretch, beginning, { machines, inspect: touched.inspect });
    player.agent.subscribe(touched.markPods);
    const reel = new Reel(stretch.versions.statelet);
    try {
      const lastMember = file.members.slice(beginning.member, stretch.end).findLast(({ at }) => at <= moment);
      const from = Math.max(beginning.at, lastMember?.at ?? beginning.at);
      if (from > beginning.at) await player.playTo(from - 1, file, stretch, () => {});
      touched.take();
      reel.addState(player.agent, from);
    } catch (error) {
      await player.agent.stop();
      throw error;
    }
    return { reel, player, touched };
  }

  async #evictOldest(): Promise<void> {
    const [oldest] = this.#reels.entries();
    if (this.#reels.size <= MAX_REELS || oldest === undefined) return;
    const [key, playing] = oldest;
    this.#reels.delete(key);
    await stopReel(playing);
  }
}

const stopReel = (playing: Promise<CachedReel>): Promise<void> =>
  playing.then(
    ({ player }) => player.agent.stop(),
    () => {},
  );
