/**
 * Writes down what a node does, in a ring on disk: all that enters its actors, what they ask for, the states that they
 * come into, the statuses and events that they tell. The node goes on whatever happens to its recording.
 */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import type { NodeParts } from '../actors/nodeParts.ts';
import type { Redaction } from '../actors/redaction.ts';
import { withinLimit } from '../actors/services/timeLimit.ts';
import type { PodChange } from '../actors/status/statusBoard.ts';
import type { Clock } from '../base/clock.ts';
import { atOnce, overTurns } from '../base/steps.ts';
import { unlessAborted } from '../base/unlessAborted.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import { namespacedName } from '../kubernetes/shownName.ts';
import { type Began, FORMAT, type Line } from './lines.ts';
import { type Deflate, memberOf } from './member.ts';
import { beganText, Pending, type PendingText } from './pending.ts';
import { Ring, type RingOptions } from './ring.ts';

export interface FlightRecorderOptions extends RingOptions {
  readonly clock: Clock;
  readonly deflate: Deflate;
  /** What its recordings say of the program that they are of. */
  readonly program: Pick<Began, 'machines' | 'versions' | 'life'>;
  /** What may leave the agent of a value. */
  readonly redact: Redaction['redact'];
  /** Told why nothing can be written: once, until something can be again. */
  readonly onError: (error: unknown) => void;
}

/** What it writes about. */
type RecordedAgent = Pick<NodeAgent, 'input' | 'draftKeyframe' | 'now' | 'subscribe' | 'untold'>;

/** How it gets on. */
interface RecorderProgress {
  /** How many lines it was given since it began, and how many bytes it has written, compressed. */
  readonly lines: number;
  readonly bytes: number;
  /** How many characters wait to be written, and how many lines were given up since something could last be written. */
  readonly pending: number;
  readonly missed: number;
  /** Whether nothing can be written at present. */
  readonly isFailing: boolean;
}

export interface FlightRecorder {
  /** What is told of a node to it. */
  readonly onlookers: {
    readonly [K in 'record' | 'calls' | 'moves' | 'events']-?: NonNullable<NodeParts[K]>;
  };
  progress(): RecorderProgress;
  /** To be called before the agent starts. */
  begin(agent: RecordedAgent): void;
  /** Writes what has not been written yet; resolves when that is done, or has failed. */
  flush(): Promise<void>;
  /**
   * For whoever is about to read it, however often: resolves when what has happened is written, at once where that was done
   * within the last second or cannot be.
   */
  written(): Promise<void>;
  /** To be called when the agent has been stopped. */
  end(): Promise<void>;
}

/** What happened is on disk so long after it at the latest. */
const FLUSH_MS = 1_000;
/** Sooner where so much waits to be written, in characters. */
const FLUSH_LENGTH = 2 ** 18;
/** What waits to be written has so many characters at most, beside its longest line: a manifest may be as large. */
const MOST_LENGTH = 2 ** 21;
/**
 * After so many entries another keyframe is written, once what was written since is as long as the last one: to come to a
 * moment little has to be played, and a burst on a node of hundreds of pods is not spent on writing down all of them.
 */
const ENTRIES = 2_000;
/** So many steps of a keyframe are taken in one turn of the event loop. A step is about one actor. */
const STEPS = 100;
/** When nothing could be written, the next attempt is made after so long. */
const RETRY_MS = 10_000;
/** A disk that has not answered by then hangs. */
const WRITE_MS = 10_000;
/** So long the last lines may take to be written when the agent stops. */
const LAST_MS = 2_000;

export const createFlightRecorder = (options: FlightRecorderOptions): FlightRecorder => new Recorder(options);

class Recorder implements FlightRecorder {
  readonly #options: FlightRecorderOptions;
  readonly #ring: Ring;
  #agent: RecordedAgent | undefined;
  #pending = new Pending();
  /** Entries since the last keyframe. */
  #entries = 0;
  /** How long the last keyframe was, and what has been written since, in characters. */
  #lengths = { keyframe: 0, since: 0 };
  #missed = 0;
  /** How many members have been written. */
  #written = 0;
  #total = { lines: 0, bytes: 0 };
  /** Whether what is written now could not be read without another beginning. */
  #isCut = false;
  #isBroken = false;
  /** When what had happened by then was taken to be written, and was. */
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** A write that has not ended, also where nobody waits for it any more. */
  #appending: Promise<void> | undefined;
  #timer: { readonly id: unknown; readonly ms: number } | undefined;
  #writing: Promise<void> | undefined;
  #unsubscribe = () => {};

  constructor(options: FlightRecorderOptions) {
    this.#options = options;
    this.#ring = new Ring(options);
  }

  readonly onlookers: FlightRecorder['onlookers'] = {
    record: (entry) => {
      this.#entries += 1;
      this.#add(entry);
    },
    calls: (call) => this.#add({ kind: 'asked', ...call }),
    moves: (move) => this.#add({ kind: 'state', ...move }),
    events: ({ type: _, ...event }) => this.#add({ kind: 'event', ...this.#options.redact(event) }),
  };

  progress = (): RecorderProgress => ({
    ...this.#total,
    pending: this.#pending.length,
    missed: this.#missed,
    isFailing: this.#isBroken,
  });

  begin(agent: RecordedAgent): void {
    this.#agent = agent;
    // What happened before there were any actors comes after it.
    const began = this.#began(agent, agent.now(), 0);
    this.#pending.beginWith(began, atOnce(beganText(began)), 'anew');
    this.#unsubscribe = agent.subscribe(this.#statuses());
    this.#schedule();
  }

  flush = (): Promise<void> => {
    this.#endTimer();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (!this.#pending.isEmpty) this.#schedule();
    });
    return this.#writing;
  };

  written = async (): Promise<void> => {
    if (this.#isBroken || this.#options.clock.monotonic() - this.#writtenAt < FLUSH_MS) return;
    // What has been added since it began is not in it.
    await this.#writing;
    if (!this.#isBroken && !this.#pending.isEmpty) await this.flush();
  };

  async end(): Promise<void> {
    this.#unsubscribe();
    const untold = this.#agent?.untold() ?? [];
    // What a stopped agent is like is no moment to begin with.
    this.#agent = undefined;
    const written = (async () => {
      await this.#writing;
      this.#addEnd(untold);
      await this.flush();
    })();
    // A disk that hangs does not hold up the end of the agent.
    await this.#within(LAST_MS, written).catch(() => {});
    this.#endTimer();
  }

  /** Says of what has been given up, for which there is no other beginning any more, how much it was. */
  #addEnd(untold: readonly string[]): void {
    if (this.#isCut) this.#cut();
    this.#isCut = false;
    const missed = this.#missed > 0 ? { missed: this.#missed } : {};
    this.#add({
      kind: 'ended',
      at: this.#options.clock.now(),
      ...missed,
      ...(untold.length > 0 ? { untold } : {}),
    });
  }

  #began(agent: RecordedAgent, at: number, before: number): Began {
    const { program } = this.#options;
    const missed = this.#missed > 0 ? { missed: this.#missed } : {};
    this.#entries = 0;
    return { kind: 'began', at, format: FORMAT, ...program, input: agent.input, ...missed, before };
  }

  #add(line: Line): void {
    if (this.#pending.lengthOfRest > MOST_LENGTH) this.#cut();
    this.#lengths.since += this.#pending.add(line);
    this.#total.lines += 1;
    this.#schedule();
  }

  /** Tells each status that is another than the one before. */
  #statuses(): (change: PodChange) => void {
    const known = new Map<string, PodStatus | undefined>();
    const { clock, redact } = this.#options;
    return ({ uid, removed, pod }) => {
      const { status } = pod;
      if (!removed && known.get(uid) === status) return;
      if (removed) known.delete(uid);
      else known.set(uid, status);
      const told = removed || status === undefined ? {} : { status: redact(status) };
      this.#add({ kind: 'status', at: clock.now(), uid, pod: namespacedName(pod), ...told });
    };
  }

  /** What waits is given up: whatever follows needs another beginning. */
  #cut(): void {
    this.#missed += this.#pending.take()?.count ?? 0;
    this.#isCut = true;
  }

  #schedule(): void {
    if (this.#agent === undefined || this.#writing !== undefined) return;
    const usual = this.#isBroken ? RETRY_MS : FLUSH_MS;
    const ms = this.#pending.length > FLUSH_LENGTH && !this.#isBroken ? 0 : usual;
    if (this.#timer !== undefined && this.#timer.ms <= ms) return;
    this.#endTimer();
    this.#timer = { id: this.#options.clock.setTimeout(() => void this.flush(), ms), ms };
  }

  #endTimer(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer.id);
    this.#timer = undefined;
  }

  async #write(): Promise<void> {
    let unwritten: readonly PendingText[] = [];
    try {
      if (this.#appending !== undefined) throw new Error(`${this.#options.directory}: a write has not ended yet`);
      const began = this.#options.clock.monotonic();
      const inNew = this.#isCut || this.#ring.isFull;
      const { pending, beginning } = this.#due(inNew);
      unwritten = pending ? [pending] : [];
      const text = beginning && (await beginning);
      if (text) unwritten = [...unwritten, text];
      for (const text of unwritten) {
        this.#appending = this.#append(text, inNew).finally(() => {
          this.#appending = undefined;
        });
        await this.#within(WRITE_MS, this.#appending);
        if (text.missed !== undefined) this.#missed -= text.missed;
        unwritten = unwritten.slice(1);
      }
      this.#isBroken = false;
      this.#writtenAt = began;
    } catch (error) {
      this.#missed += unwritten.reduce((sum, { count }) => sum + count, 0);
      this.#isCut = true;
      if (!this.#isBroken) this.#options.onError(error);
      this.#isBroken = true;
    }
  }

  async #append(text: PendingText, inNew: boolean): Promise<void> {
    const member = await memberOf(text, this.#options.deflate);
    await this.#ring.append(member, { inNew: inNew && text.begins !== 'no' });
    this.#written += 1;
    this.#total.bytes += member.length;
  }

  /** What is to be written now, and after it another beginning, `inNew` or where the last one was long ago. */
  #due(inNew: boolean): {
    readonly pending?: PendingText | undefined;
    readonly beginning?: Promise<PendingText | undefined>;
  } {
    if (this.#isCut) this.#cut();
    const pending = this.#pending.take();
    const { keyframe, since } = this.#lengths;
    const begins = inNew || (this.#entries >= ENTRIES && since >= keyframe);
    const before = this.#written + (pending === undefined ? 0 : 1);
    if (!begins || this.#agent === undefined) return { pending };
    return { pending, beginning: this.#beginNow(this.#agent, inNew ? 'anew' : 'again', before) };
  }

  /** Writes down the present moment, over several turns of the event loop. What is added meanwhile comes after it. */
  async #beginNow(agent: RecordedAgent, begins: 'anew' | 'again', before: number): Promise<PendingText | undefined> {
    const { at, steps } = agent.draftKeyframe();
    const began = this.#began(agent, at, before);
    this.#isCut = false;
    this.#lengths = { keyframe: 0, since: 0 };
    const from = await overTurns(steps, STEPS);
    const text = await overTurns(beganText({ ...began, from }), STEPS);
    this.#lengths.keyframe = text.length;
    const pending = new Pending();
    pending.beginWith(began, text, begins);
    return pending.take();
  }

  /** Rejects where it has not come to an end by then. */
  #within<T>(ms: number, promise: Promise<T>): Promise<T> {
    const { clock, directory } = this.#options;
    const act = (signal: AbortSignal) =>
      unlessAborted(promise, signal).catch((error: unknown) => {
        throw signal.aborted ? new Error(`${directory}: no answer within ${ms / 1_000} s`) : error;
      });
    return withinLimit(act, { clock, timeoutMs: ms });
  }
}
