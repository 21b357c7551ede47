/** The parts of a recording that somebody goes through: each is played once, as far as it is asked for. */
import { PartPlayer } from '../recording/play.ts';
import type { RecordingFile } from '../recording/recordingFile.ts';
import { beginningBefore, type Stretch } from '../recording/stretches.ts';
import { Reel, type ShownMoment } from './reel.ts';

/** So many are kept: each has an agent with all of its actors. */
const MOST = 3;

interface Playing {
  readonly reel: Reel;
  readonly player: PartPlayer;
}

/** A recording as it is at present. */
interface Opened {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
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
    const key = `${member.file} ${member.offset} ${member.at}`;
    const known = this.#playing.get(key) ?? this.#begin(file, found);
    this.#playing.delete(key);
    this.#playing.set(key, known);
    await this.#forgetOthers();
    try {
      const { reel, player } = await known;
      await player.playTo(moment, file, found.stretch, (at) => reel.note(player.agent, at));
      return reel.at(moment);
    } catch (error) {
      // Nobody knows how far it has come.
      this.#playing.delete(key);
      await stopped(known);
      throw error;
    }
  }

  async #begin(file: RecordingFile, found: NonNullable<ReturnType<typeof beginningBefore>>): Promise<Playing> {
    const { stretch, beginning } = found;
    const player = await PartPlayer.begin(file, stretch, beginning, this.#machines);
    const reel = new Reel(stretch.versions.statelet);
    try {
      reel.note(player.agent, beginning.at);
    } catch (error) {
      await player.agent.stop();
      throw error;
    }
    return { reel, player };
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
