/**
 * Follows the objects of a path: all there are at first, then each change, again and again (`tools/cache/reflector.go` of
 * client-go). An object that takes the place of another of its name is another object, told by its UID.
 */
import { messageOf } from '../base/failure.ts';
import { OddAnswer } from './answer.ts';
import { BackOff } from './backOff.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { isVersionUnknown, KubeError, troubleIn } from './kubeError.ts';
import { listTypeOf, type ObjectType } from './paths.ts';
import { type KubeObject, readList, readWatchEvent, unreadable } from './watchEvent.ts';

export type { KubeObject } from './watchEvent.ts';

/** How it gets on. */
export type ReflectorStep =
  | { readonly state: 'reading' }
  | { readonly state: 'watching' }
  /** `why` in a word or two; `until` is when it tries again, in milliseconds since the epoch. */
  | { readonly state: 'failing'; readonly failure: string; readonly why: string; readonly until: number };

export interface ReflectorOptions<Kept = KubeObject> {
  readonly client: KubeClient;
  /** `/api/v1/pods` */
  readonly path: string;
  /** The type of the objects. A response about any other is an error and changes nothing. */
  readonly type: ObjectType;
  readonly query?: Readonly<Record<string, string>>;
  /** In seconds: a watch lasts between this and twice as long; absent: five minutes. */
  readonly shortestWatch?: number;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  /** What is kept of each object, so that the rest takes no memory; absent: all of it. May throw what is wrong with it. */
  readonly keep?: (object: KubeObject) => Kept;
  /** All objects there are now. */
  readonly onSet: (objects: readonly Kept[]) => void;
  readonly onStep: (step: ReflectorStep) => void;
  /** Called once for each object that `keep` cannot read. Its last readable version stays in the set. */
  readonly onProblem?: ((problem: string) => void) | undefined;
}

const SHORTEST_WATCH_S = 300;
/** A server that does not end it then has forgotten it. */
const OVERTIME_MS = 30_000;
/** One that ends sooner, without a word, is one that has failed. */
const SHORT_MS = 1_000;
const SECOND_MS = 1_000;
/** What servers answer that do not know how to begin a watch with all there is. */
const NO_WATCH_LIST: readonly number[] = [400, 404, 405, 422];
const TOO_MANY = 429;

/** However late a server wants to be asked again. */
const LONGEST_WAIT_MS = 60_000;

class EndedAtOnce extends Error {}

export class Reflector<Kept = KubeObject> {
  readonly #options: ReflectorOptions<Kept>;
  readonly #backOff: BackOff;
  #objects = new Map<string, Kept>();
  /** What there is at first, until all of it is told. */
  #gathered: Map<string, Kept> | undefined;
  /** What was told to be wrong, and what of it may be over: whatever the read that is under way does not meet. */
  #problems = new Set<string>();
  #oldProblems = new Set<string>();
  /** That of the last event; empty before there was one. */
  #version = '';
  /** Whether the server has said that it does not know that one. */
  #isForgotten = false;
  /** Whether all there is has to be read before it can be watched on. */
  #mustRead = true;
  #hasWatchList = true;
  /** Whether the last watch ended soon. */
  #wasShort = false;

  constructor(options: ReflectorOptions<Kept>) {
    this.#options = options;
    this.#backOff = new BackOff(options.clock, options.jitter);
  }

  /** Goes on until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#mustRead) await this.#read();
        else await this.#watch({ resourceVersion: this.#version });
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error);
      }
    }
  }

  /** By a watch that begins with all there is, and then goes on; by a list where the server refuses that. */
  async #read(): Promise<void> {
    this.#options.onStep({ state: 'reading' });
    for (const problem of this.#problems) this.#oldProblems.add(problem);
    this.#problems.clear();
    if (this.#hasWatchList) {
      try {
        return await this.#watchFromAll();
      } catch (error) {
        if (!this.#mustRead || !isRefusal(error)) throw error;
        this.#hasWatchList = !(error instanceof KubeError && NO_WATCH_LIST.includes(error.code));
      }
    }
    await this.#list();
  }

  async #watchFromAll(): Promise<void> {
    this.#gathered = new Map();
    const version = this.#isForgotten ? '' : this.#version;
    await this.#watch({
      ...(version === '' ? {} : { resourceVersion: version }),
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    if (this.#mustRead) throw new Error('the watch has ended before all was told');
  }

  async #list(): Promise<void> {
    const { client, path, type, query, signal } = this.#options;
    // At first whatever the server has at hand will do; later it must not be older than what is known.
    const from = this.#isForgotten ? {} : { resourceVersion: this.#version || '0' };
    const { version, items } = readList(
      await client.get(`${path}?${queryOf({ ...query, ...from })}`, { signal, type: listTypeOf(type) }),
      { asked: path, type },
    );
    const listed = new Map<string, Kept>();
    for (const item of items) this.#change(listed, item);
    this.#takeAll(listed, version);
  }

  async #watch(how: Readonly<Record<string, string>>): Promise<void> {
    const { client, path, query, signal, onStep, jitter, clock, shortestWatch = SHORTEST_WATCH_S } = this.#options;
    const seconds = Math.trunc(shortestWatch * (1 + jitter()));
    const asked = { ...query, watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds), ...how };
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(), seconds * SECOND_MS + OVERTIME_MS);
    const giveUp = () => limit.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      signal.throwIfAborted();
      const events = await client.watch(`${path}?${queryOf(asked)}`, limit);
      if (!this.#mustRead) onStep({ state: 'watching' });
      const [since, told] = [clock.monotonic(), await this.#follow(events)];
      const [isShort, wasShort] = [clock.monotonic() - since < SHORT_MS, this.#wasShort];
      this.#wasShort = isShort;
      if (isShort && (told === 0 || wasShort)) throw new EndedAtOnce('the watch has ended at once');
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Gives how much was told. */
  async #follow(events: AsyncIterable<unknown>): Promise<number> {
    let told = 0;
    let failed: { readonly error: unknown } | undefined;
    try {
      for await (const line of events) {
        told += 1;
        failed = this.#tryToTake(line);
        if (failed) break;
      }
    } catch (error) {
      // A stream that breaks off has ended, as far as its events go; what cannot be read is another matter.
      if (this.#options.signal.aborted || error instanceof OddAnswer) throw error;
    }
    if (failed) throw failed.error;
    return told;
  }

  #tryToTake(line: unknown): { readonly error: unknown } | undefined {
    try {
      this.#take(line);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  #take(line: unknown): void {
    const event = readWatchEvent(line, { asked: this.#options.path, type: this.#options.type });
    const objects = this.#gathered ?? this.#objects;
    switch (event.type) {
      case 'bookmark':
        if (this.#gathered === undefined) this.#goOn(event.version);
        else if (event.endsInitial) this.#takeAll(this.#gathered, event.version);
        return;
      case 'deleted':
        objects.delete(event.object.metadata.uid);
        break;
      case 'changed':
        this.#change(objects, event.object);
    }
    if (this.#gathered !== undefined) return;
    this.#goOn(event.object.metadata.resourceVersion);
    this.#tell();
  }

  /** What was told is not told again. */
  #goOn(version: string | undefined): void {
    if (!version || this.#gathered !== undefined) return;
    if (Number(version) < Number(this.#version)) {
      this.#isForgotten = true;
      throw new Error(`the server was at ${this.#version} and is at ${version}: it may have been restored`);
    }
    this.#version = version;
  }

  #change(objects: Map<string, Kept>, object: KubeObject): void {
    const { keep } = this.#options;
    const { uid } = object.metadata;
    try {
      // The type of what is kept defaults to that of the object, so without `keep` it is the object.
      objects.set(uid, keep === undefined ? (object as Kept) : keep(object));
    } catch (error) {
      this.#complain(unreadable(object, error));
      const last = this.#objects.get(uid);
      if (last !== undefined) objects.set(uid, last);
    }
  }

  #takeAll(objects: Map<string, Kept>, version: string): void {
    this.#objects = objects;
    this.#oldProblems.clear();
    this.#gathered = undefined;
    this.#version = version;
    this.#isForgotten = false;
    this.#mustRead = false;
    this.#tell();
  }

  #tell(): void {
    this.#options.onSet([...this.#objects.values()]);
    this.#options.onStep({ state: 'watching' });
  }

  #complain(problem: string): void {
    if (!this.#problems.has(problem) && !this.#oldProblems.has(problem)) this.#options.onProblem?.(problem);
    this.#problems.add(problem);
  }

  /** Who only cannot be asked now will go on from there; of anything else it is not known what was missed. */
  async #recover(error: unknown): Promise<void> {
    this.#gathered = undefined;
    if (this.#mustRead && !this.#isForgotten && isVersionUnknown(error)) {
      // All that there is now, whatever that is, can be asked for at once.
      this.#isForgotten = true;
      return;
    }
    if (!isAway(error)) this.#mustRead = true;
    await this.#pause(error);
  }

  async #pause(error: unknown): Promise<void> {
    const { clock, signal, onStep } = this.#options;
    const least = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS) : 0;
    const wait = Math.max(this.#backOff.next(), least);
    onStep({ state: 'failing', failure: messageOf(error), why: troubleIn(error), until: clock.now() + wait });
    await new Promise<void>((done) => {
      const end = () => {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', end);
        done();
      };
      const timer = clock.setTimeout(end, wait);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** Whether the server does not begin a watch with all there is, but may list it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof EndedAtOnce || (error instanceof KubeError && error.code !== TOO_MANY && !isVersionUnknown(error));

/** Whether nobody is there, or whoever is there is busy: it will know later what it knew. */
const isAway = (error: unknown): boolean =>
  error instanceof KubeError
    ? error.code === TOO_MANY
    : typeof error === 'object' && error !== null && 'code' in error && error.code === 'ECONNREFUSED';

const queryOf = (query: Readonly<Record<string, string>>): string => new URLSearchParams(query).toString();
