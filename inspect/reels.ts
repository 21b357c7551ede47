/** The parts of a recording that somebody goes through: each is played once, as far as it is asked for. */
import { PartPlayer } from '../recording/play.ts';
import type { RecordingFile } from '../recording/recordingFile.ts';
import { type Beginning, beginningBefore, type Stretch } from '../recording/stretches.ts';
import { Reel, type ShownMoment } from './reel.ts';
import { Touched } from './touched.ts';

/** So many are kept: each has an agent with all of its actors. */
const MOST = 3;

interface Playing {
  readonly reel: Reel;
  readonly player: PartPlayer;
  readonly touched: Touched;
}

/** A recording as it is at present. */
interface Opened {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
}

/** A part of a recording. */
interface Part {
  readonly file: RecordingFile;
  readonly stretch: Stretch;
  readonly beginning: Beginning;
}

/** Keeps those that were asked for last. */
export class Reels {
  readonly #machines: string;
  /** By where they begin. */
  readonly #playing = new Map<string, Promise<Playing>>();
  /** One after the other: an agent is played by one who asks. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `machines` is the digest of those that are to play. */
  constructor(machines: string) {
    this.#machines = machines;
  }

  /** Everything as it was at a moment, or at the beginning of all; undefined where nothing was recorded. */
  at(moment: number, opened: Opened): Promise<ShownMoment | undefined> {
    const answer = this.#turn.then(() => this.#at(moment, opened));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #at(moment: number, { file, stretches }: Opened): Promise<ShownMoment | undefined> {
    const found = beginningBefore(stretches, moment);
    const member = found && file.members[found.beginning.member];
    if (found === undefined || member === undefined) return undefined;
    const part = { file, ...found };
    const key = `${member.file} ${member.offset} ${member.at}`;
    const playing = this.#covering(key, part, Math.max(moment, found.beginning.at));
    this.#playing.delete(key);
    this.#playing.set(key, playing);
    await this.#forgetOthers();
    try {
      const { reel, player, touched } = await playing;
      await player.playTo(moment, file, found.stretch, (at) => reel.note(player.agent, at, touched.take()));
      return reel.at(moment);
    } catch (error) {
      // Nobody knows how far it has come.
      this.#playing.delete(key);
      await stopped(playing);
      throw error;
    }
  }

  /** What knows a moment of a part: the first time what leads there is played as fast as it can be, the next time all is noted. */
  async #covering(key: string, part: Part, moment: number): Promise<Playing> {
    const known = this.#playing.get(key);
    if (known === undefined) return this.#begin(part, moment);
    if ((await known).reel.covers(moment)) return known;
    await stopped(known);
    return this.#begin(part, part.beginning.at);
  }

  /** Plays to a moment, of which it knows all that comes after. */
  async #begin({ file, stretch, beginning }: Part, moment: number): Promise<Playing> {
    const [machines, touched] = [this.#machines, new Touched()];
    const player = await PartPlayer.begin(file, stretch, beginning, { machines, inspect: touched.inspect });
    player.agent.subscribe(touched.tell);
    const reel = new Reel(stretch.versions.statelet);
    try {
      const last = file.members.slice(beginning.member, stretch.end).findLast(({ at }) => at <= moment);
      const from = Math.max(beginning.at, last?.at ?? beginning.at);
      if (from > beginning.at) await player.playTo(from - 1, file, stretch, () => {});
      touched.take();
      reel.note(player.agent, from);
    } catch (error) {
      await player.agent.stop();
      throw error;
    }
    return { reel, player, touched };
  }

  async #forgetOthers(): Promise<void> {
    const [oldest] = this.#playing.entries();
    if (this.#playing.size <= MOST || oldest === undefined) return;
    const [key, playing] = oldest;
    this.#playing.delete(key);
    await stopped(playing);
  }
}

const stopped = (playing: Promise<Playing>): Promise<void> =>
  playing.then(
    ({ player }) => player.agent.stop(),
    () => {},
  );
