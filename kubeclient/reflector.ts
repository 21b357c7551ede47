/**
 * Lists the objects of a collection and watches their changes until the signal aborts (`tools/cache/reflector.go` of
 * client-go). Objects are identified by their UIDs, so a recreated object is different from the deleted one with the
 * same name.
 */

import { messageOf } from '../base/failure.ts';
import type { Clock } from '../base/time/clock.ts';
import { UnexpectedResponse } from './answer.ts';
import { BackOff } from './backOff.ts';
import type { KubeClient } from './client.ts';
import { isExpiredVersionError, KubeError, summarizeError } from './kubeError.ts';
import { type ObjectType, toListType } from './paths.ts';
import { describeInvalidObject, type KubeObject, parseList, parseWatchEvent } from './watchEvent.ts';

export type { KubeObject } from './watchEvent.ts';

export type ReflectorState =
  | { readonly state: 'reading' }
  | { readonly state: 'watching' }
  /**
   * `why` summarizes the failure in a few words. `until` is the time of the next attempt, in milliseconds since the
   * epoch.
   */
  | { readonly state: 'failing'; readonly failure: string; readonly why: string; readonly until: number };

export interface ReflectorOptions<Stored = KubeObject> {
  readonly client: KubeClient;
  /** Path of the collection, e.g. `/api/v1/pods`. */
  readonly path: string;
  /** Type of the objects. A response with a different type is treated as an error and changes nothing. */
  readonly type: ObjectType;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Minimum timeout of a watch in seconds. The actual timeout is random, up to twice as long. Defaults to five minutes.
   */
  readonly minWatchSeconds?: number;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  /**
   * Reduces an object to the fields to store, in order to save memory. By default, the whole object is stored. Throws
   * if the object is invalid.
   */
  readonly transform?: (object: KubeObject) => Stored;
  /**
   * Called with each new or changed object of a watch before it is stored. The watch continues once the promise has
   * resolved, so that expensive work on an object can be spread over several turns of the event loop.
   */
  readonly prepare?: (object: KubeObject) => Promise<unknown> | undefined;
  /** Called with all current objects after each change. */
  readonly onSet: (objects: readonly Stored[]) => void;
  readonly onStep: (step: ReflectorState) => void;
  /**
   * Called once for each problem with an object that `transform` rejects. The last valid version of the object remains
   * in the set.
   */
  readonly onProblem?: ((problem: string) => void) | undefined;
}

const MIN_WATCH_SECONDS = 300;
/** Time after which the client closes a watch that the server has not closed at its timeout, in milliseconds. */
const WATCH_GRACE_MS = 30_000;
/**
 * Maximum duration of a short watch, in milliseconds. A short watch is considered failed if it sent no events or if the
 * previous watch was short, too.
 */
const SHORT_WATCH_MS = 1_000;
const SECOND_MS = 1_000;
/** Status codes of servers that do not support watches with initial events. */
const WATCH_LIST_UNSUPPORTED: readonly number[] = [400, 404, 405, 422];
const TOO_MANY_REQUESTS = 429;

/** Maximum delay to accept from a server's retry-after header. */
const MAX_RETRY_AFTER_MS = 60_000;

class WatchEndedImmediately extends Error {}

export class Reflector<Stored = KubeObject> {
  readonly #options: ReflectorOptions<Stored>;
  readonly #backOff: BackOff;
  #storedObjects = new Map<string, Stored>();
  /** Initial objects that a watch has sent so far. Undefined once all of them have arrived. */
  #initialObjects: Map<string, Stored> | undefined;
  /** Problems that have been reported since the current list operation started. */
  #currentProblems = new Set<string>();
  /**
   * Problems that were reported before the current list operation and are not reported again during it. Cleared once
   * all objects have been listed, because the problems may have been resolved since.
   */
  #reportedProblems = new Set<string>();
  /** The resourceVersion of the last event. Empty before the first one. */
  #resourceVersion = '';
  /** Whether the server no longer accepts `#resourceVersion`. */
  #isVersionExpired = false;
  /** Whether the objects must be listed again before they can be watched. */
  #shouldList = true;
  #supportsWatchList = true;
  /** Whether the previous watch was shorter than `SHORT_WATCH_MS`. */
  #wasLastWatchShort = false;

  constructor(options: ReflectorOptions<Stored>) {
    this.#options = options;
    this.#backOff = new BackOff(options.clock, options.jitter);
  }

  /** Lists and watches until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#shouldList) await this.#listAndWatch();
        else await this.#watchObjects({ resourceVersion: this.#resourceVersion });
      } catch (error) {
        if (signal.aborted) return;
        await this.#recoverFromError(error);
      }
    }
  }

  /**
   * Lists the objects with the initial events of a watch, or with a list request if the server does not support initial
   * events.
   */
  async #listAndWatch(): Promise<void> {
    this.#options.onStep({ state: 'reading' });
    for (const problem of this.#currentProblems) this.#reportedProblems.add(problem);
    this.#currentProblems.clear();
    if (this.#supportsWatchList) {
      try {
        return await this.#watchWithInitialEvents();
      } catch (error) {
        if (!this.#shouldList || !isWatchListRefusal(error)) throw error;
        this.#supportsWatchList = !(error instanceof KubeError && WATCH_LIST_UNSUPPORTED.includes(error.code));
      }
    }
    await this.#listObjects();
  }

  async #watchWithInitialEvents(): Promise<void> {
    this.#initialObjects = new Map();
    const knownVersion = this.#isVersionExpired ? '' : this.#resourceVersion;
    await this.#watchObjects({
      ...(knownVersion === '' ? {} : { resourceVersion: knownVersion }),
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    if (this.#shouldList) throw new Error('the watch has ended before all was told');
  }

  async #listObjects(): Promise<void> {
    const { client, path, type, query, signal } = this.#options;
    // The first list may come from the server's cache. Later lists must not be older than the last version.
    const versionQuery = this.#isVersionExpired ? {} : { resourceVersion: this.#resourceVersion || '0' };
    const { version, items } = parseList(
      await client.get(`${path}?${queryString({ ...query, ...versionQuery })}`, { signal, type: toListType(type) }),
      { request: path, type },
    );
    const listedObjects = new Map<string, Stored>();
    for (const item of items) this.#applyChange(listedObjects, item);
    this.#replaceAll(listedObjects, version);
  }

  async #watchObjects(watchOptions: Readonly<Record<string, string>>): Promise<void> {
    const { client, path, query, signal, onStep, jitter, clock, minWatchSeconds = MIN_WATCH_SECONDS } = this.#options;
    const seconds = Math.trunc(minWatchSeconds * (1 + jitter()));
    const watchQuery = {
      ...query,
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
      ...watchOptions,
    };
    const timeoutController = new AbortController();
    const timer = clock.setTimeout(() => timeoutController.abort(), seconds * SECOND_MS + WATCH_GRACE_MS);
    const onAbort = () => timeoutController.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const events = await client.watch(`${path}?${queryString(watchQuery)}`, timeoutController);
      if (!this.#shouldList) onStep({ state: 'watching' });
      const [startedAt, eventCount] = [clock.monotonic(), await this.#handleEvents(events)];
      const [isShort, wasPreviousShort] = [clock.monotonic() - startedAt < SHORT_WATCH_MS, this.#wasLastWatchShort];
      this.#wasLastWatchShort = isShort;
      if (isShort && (eventCount === 0 || wasPreviousShort))
        throw new WatchEndedImmediately('the watch has ended at once');
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Handles the events of a watch and returns the number of events. */
  async #handleEvents(events: AsyncIterable<unknown>): Promise<number> {
    let eventCount = 0;
    let failure: { readonly error: unknown } | undefined;
    try {
      for await (const line of events) {
        eventCount += 1;
        failure = await this.#tryHandle(line);
        if (failure) break;
      }
    } catch (error) {
      // A broken stream is treated as ended, because the events before the break were valid. An invalid event is an
      // error.
      if (this.#options.signal.aborted || error instanceof UnexpectedResponse) throw error;
    }
    if (failure) throw failure.error;
    return eventCount;
  }

  async #tryHandle(line: unknown): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#handleEvent(line);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async #handleEvent(line: unknown): Promise<void> {
    const { path, type, prepare, signal } = this.#options;
    const event = parseWatchEvent(line, { request: path, type });
    if (event.type === 'changed') {
      await prepare?.(event.object);
      signal.throwIfAborted();
    }
    const objects = this.#initialObjects ?? this.#storedObjects;
    switch (event.type) {
      case 'bookmark':
        if (this.#initialObjects === undefined) this.#advanceVersion(event.version);
        else if (event.endsInitial) this.#replaceAll(this.#initialObjects, event.version);
        return;
      case 'deleted':
        objects.delete(event.object.metadata.uid);
        break;
      case 'changed':
        this.#applyChange(objects, event.object);
    }
    if (this.#initialObjects !== undefined) return;
    this.#advanceVersion(event.object.metadata.resourceVersion);
    this.#publishObjects();
  }

  /** Records the resourceVersion of an event, so that the next watch starts after the event. */
  #advanceVersion(version: string | undefined): void {
    if (!version || this.#initialObjects !== undefined) return;
    if (Number(version) < Number(this.#resourceVersion)) {
      this.#isVersionExpired = true;
      throw new Error(`the server was at ${this.#resourceVersion} and is at ${version}: it may have been restored`);
    }
    this.#resourceVersion = version;
  }

  #applyChange(objects: Map<string, Stored>, object: KubeObject): void {
    const { transform } = this.#options;
    const { uid } = object.metadata;
    try {
      // Safe cast, because `Stored` defaults to `KubeObject` if there is no `transform`.
      objects.set(uid, transform === undefined ? (object as Stored) : transform(object));
    } catch (error) {
      this.#reportProblem(describeInvalidObject(object, error));
      const previousObject = this.#storedObjects.get(uid);
      if (previousObject !== undefined) objects.set(uid, previousObject);
    }
  }

  #replaceAll(objects: Map<string, Stored>, version: string): void {
    this.#storedObjects = objects;
    this.#reportedProblems.clear();
    this.#initialObjects = undefined;
    this.#resourceVersion = version;
    this.#isVersionExpired = false;
    this.#shouldList = false;
    this.#publishObjects();
  }

  #publishObjects(): void {
    this.#options.onSet([...this.#storedObjects.values()]);
    this.#options.onStep({ state: 'watching' });
  }

  #reportProblem(problem: string): void {
    if (!this.#currentProblems.has(problem) && !this.#reportedProblems.has(problem)) this.#options.onProblem?.(problem);
    this.#currentProblems.add(problem);
  }

  /**
   * Recovers from an error. After a temporary failure, the next watch continues from the last version. After any other
   * error, events may have been missed, so the objects must be listed again.
   */
  async #recoverFromError(error: unknown): Promise<void> {
    this.#initialObjects = undefined;
    if (this.#shouldList && !this.#isVersionExpired && isExpiredVersionError(error)) {
      // Retry immediately without a version, because every API server can answer such a request, however old its cached
      // data is.
      this.#isVersionExpired = true;
      return;
    }
    if (!isTemporarilyUnavailable(error)) this.#shouldList = true;
    await this.#waitForRetry(error);
  }

  async #waitForRetry(error: unknown): Promise<void> {
    const { clock, signal, onStep } = this.#options;
    const minDelayMs = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
    const delayMs = Math.max(this.#backOff.nextDelay(), minDelayMs);
    onStep({ state: 'failing', failure: messageOf(error), why: summarizeError(error), until: clock.now() + delayMs });
    await new Promise<void>((done) => {
      const finishWait = () => {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', finishWait);
        done();
      };
      const timer = clock.setTimeout(finishWait, delayMs);
      signal.addEventListener('abort', finishWait, { once: true });
    });
  }
}

/** Whether the server rejected a watch with initial events but may support a list request. */
const isWatchListRefusal = (error: unknown): boolean =>
  error instanceof WatchEndedImmediately ||
  (error instanceof KubeError && error.code !== TOO_MANY_REQUESTS && !isExpiredVersionError(error));

/** Whether the server is temporarily unreachable or overloaded, in which case the watch can continue later. */
const isTemporarilyUnavailable = (error: unknown): boolean =>
  error instanceof KubeError
    ? error.code === TOO_MANY_REQUESTS
    : typeof error === 'object' && error !== null && 'code' in error && error.code === 'ECONNREFUSED';

const queryString = (query: Readonly<Record<string, string>>): string => new URLSearchParams(query).toString();
