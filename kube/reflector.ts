/**
 * Follows the objects of a path: all there are at first, then each change, again and again (`tools/cache/reflector.go` of
 * client-go). An object that takes the place of another of its name is another object, told by its UID.
 */
import * as z from 'zod/mini';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { KubeError } from './kubeError.ts';

const objectSchema = z.looseObject({
  metadata: z.looseObject({ uid: z.optional(z.string()), resourceVersion: z.optional(z.string()) }),
});

export type KubeObject = z.infer<typeof objectSchema>;

const eventSchema = z.looseObject({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({
    code: z.optional(z.number()),
    message: z.optional(z.string()),
    metadata: z.optional(
      z.looseObject({
        uid: z.optional(z.string()),
        resourceVersion: z.optional(z.string()),
        annotations: z.optional(z.record(z.string(), z.string())),
      }),
    ),
  }),
});
const listSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  items: z.nullable(z.array(objectSchema)),
});

/** How it gets on. */
export type ReflectorStep =
  | { readonly state: 'reading' }
  | { readonly state: 'watching' }
  /** `until` is when it tries again, in milliseconds since the epoch. */
  | { readonly state: 'failing'; readonly failure: string; readonly until: number };

export interface ReflectorOptions {
  readonly client: KubeClient;
  /** `/api/v1/pods` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  /** All objects there are now. */
  readonly onSet: (objects: readonly KubeObject[]) => void;
  readonly onStep: (step: ReflectorStep) => void;
}

/** The wait after a failure doubles up to the longest, and begins anew once all was well for so long. */
const FIRST_WAIT_MS = 800;
const LONGEST_WAIT_MS = 30_000;
const RESET_MS = 120_000;
/** A watch lasts between this and twice as long. */
const SHORTEST_WATCH_S = 300;
/** One that ends sooner, without a word, is one that has failed. */
const SHORT_MS = 1_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const GONE = 410;
/** What servers answer that do not know how to begin a watch with all there is. */
const NO_WATCH_LIST: readonly number[] = [400, 404, 405, 422];

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #objects = new Map<string, KubeObject>();
  /** Empty: nothing is known, or it is forgotten at the server. */
  #version = '';
  #hasWatchList = true;
  #wait = FIRST_WAIT_MS;
  #failedAt = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  /** Goes on until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#version === '' && !this.#hasWatchList) await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error);
      }
    }
  }

  async #list(): Promise<void> {
    const { client, path, query, signal, onStep } = this.#options;
    onStep({ state: 'reading' });
    const answer = z.parse(
      listSchema,
      await client.get(`${path}?${queryOf({ ...query, resourceVersion: '0' })}`, { signal }),
    );
    this.#objects.clear();
    for (const object of answer.items ?? []) change(this.#objects, 'ADDED', object);
    this.#version = answer.metadata.resourceVersion;
    this.#tell();
  }

  async #watch(): Promise<void> {
    const { client, path, query, signal, onStep, jitter, clock } = this.#options;
    const begins = this.#version === '';
    if (begins) onStep({ state: 'reading' });
    const timeoutSeconds = String(Math.trunc(SHORTEST_WATCH_S * (1 + jitter())));
    const how = begins
      ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion: this.#version };
    const asked = { ...query, watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds, ...how };
    const events = await client.watch(`${path}?${queryOf(asked)}`, { signal });
    if (!begins) onStep({ state: 'watching' });
    const initial = begins ? new Map<string, KubeObject>() : undefined;
    const since = clock.now();
    const told = await this.#follow(events, initial);
    if (told === 0 && clock.now() - since < SHORT_MS) throw new Error('the watch has ended at once');
  }

  /** `initial` gathers what there is until the server says that this is all; gives how much was told. */
  async #follow(events: AsyncIterable<unknown>, initial: Map<string, KubeObject> | undefined): Promise<number> {
    let [gathering, told] = [initial, 0];
    for await (const each of events) {
      told += 1;
      const { type, object } = z.parse(eventSchema, each);
      if (type === 'ERROR') throw new KubeError(object.code ?? 0, object.message ?? 'the watch has failed');
      const { resourceVersion = '', annotations } = object.metadata ?? {};
      if (type === 'BOOKMARK') {
        this.#version = gathering === undefined || isInitialEnd(annotations) ? resourceVersion : this.#version;
        if (gathering === undefined || !isInitialEnd(annotations)) continue;
        this.#objects.clear();
        for (const [uid, known] of gathering) this.#objects.set(uid, known);
        gathering = undefined;
        this.#tell();
        continue;
      }
      const read = z.parse(objectSchema, object);
      change(gathering ?? this.#objects, type, read);
      if (gathering !== undefined) continue;
      this.#version = resourceVersion;
      this.#tell();
    }
    if (gathering !== undefined) throw new Error('the watch has ended before all was told');
    return told;
  }

  #tell(): void {
    this.#options.onSet([...this.#objects.values()]);
    this.#options.onStep({ state: 'watching' });
  }

  /** What the server has forgotten is listed anew at once; whoever cannot be reached is asked again after a while. */
  async #recover(error: unknown): Promise<void> {
    const code = error instanceof KubeError ? error.code : 0;
    const begins = this.#version === '';
    if (code === GONE) this.#version = '';
    if (begins && this.#hasWatchList && NO_WATCH_LIST.includes(code)) {
      this.#hasWatchList = false;
      return;
    }
    if (code === GONE && !begins) return;
    // What failed in a way of its own is read whole again.
    if (error instanceof KubeError && code !== TOO_MANY && code < 500) this.#version = '';
    await this.#pause(error instanceof Error ? error.message : String(error));
  }

  async #pause(failure: string): Promise<void> {
    const { clock, jitter, signal, onStep } = this.#options;
    const now = clock.now();
    if (now - this.#failedAt > RESET_MS) this.#wait = FIRST_WAIT_MS;
    this.#failedAt = now;
    const wait = this.#wait * (1 + jitter());
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    onStep({ state: 'failing', failure, until: now + wait });
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

const TOO_MANY = 429;

function change(objects: Map<string, KubeObject>, type: string, object: KubeObject): void {
  const { uid = '' } = object.metadata;
  if (type === 'DELETED') objects.delete(uid);
  else objects.set(uid, object);
}

const isInitialEnd = (annotations: Readonly<Record<string, string>> = {}): boolean =>
  Object.hasOwn(annotations, INITIAL_EVENTS_END);

const queryOf = (query: Readonly<Record<string, string>>): string => new URLSearchParams(query).toString();
