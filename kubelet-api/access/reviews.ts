/** Questions to the API server: answers are kept for a while, and the same question is asked once at a time. */
import { createHmac, randomBytes } from 'node:crypto';
import { type Failure, toFailure } from '../../base/failure.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { Clock } from '../../kubeclient/clock.ts';
import type { ReviewCacheObserver } from './accessObserver.ts';
import { ExpiringCache } from './expiringCache.ts';

/** What has become of the questions so far. */
export interface ReviewCounts {
  /** Asked of the API server. */
  readonly made: number;
  /** Answered out of the cache. */
  readonly cached: number;
  /** Answered together with the same question, which was under way. */
  readonly shared: number;
  /** Not answered by the API server. */
  readonly failed: number;
  readonly underWay: number;
  /** Answers that are kept. */
  readonly held: number;
  /** The last that was not answered by the API server. */
  readonly lastFailure?: Failure;
  /** Since when it has answered none, in milliseconds since the epoch; absent once it has. */
  readonly failingSince?: number;
}

export interface ReviewsOptions<T> {
  readonly clock: Clock;
  /** Aborts what is under way when the server ends. */
  readonly signal: AbortSignal;
  /** Whether an answer is a good one. */
  readonly isGood: (answer: T) => boolean;
  /** How long answers are kept, in milliseconds; failures never are. */
  readonly goodMs: number;
  readonly badMs: number;
  readonly observer?: ReviewCacheObserver | undefined;
}

/** So long one may take, its tries together (`sharedLookupTimeout` in `token/cache/cached_token_authenticator.go` of apiserver). */
const REVIEW_MS = 30_000;
/** Answers of each kind: bad ones, which anybody can ask for as many of as they like, take no place from good ones. */
const MOST_HELD = 1024;
/** Under way at once: what comes beyond fails, and is not waited for. */
const MOST_UNDER_WAY = 256;

export class Reviews<T> {
  readonly #options: ReviewsOptions<T>;
  readonly #good: ExpiringCache<T>;
  readonly #bad: ExpiringCache<T>;
  readonly #underWay = new Map<string, Promise<T>>();
  /** Questions may be secrets, and long: what is kept of them is a digest that nobody can compute beforehand. */
  readonly #key = randomBytes(32);
  readonly #counts = { made: 0, cached: 0, shared: 0, failed: 0 };
  #trouble: Pick<ReviewCounts, 'lastFailure' | 'failingSince'> = {};

  constructor(options: ReviewsOptions<T>) {
    this.#options = options;
    this.#good = new ExpiringCache(options.clock, MOST_HELD);
    this.#bad = new ExpiringCache(options.clock, MOST_HELD);
  }

  counts(): ReviewCounts {
    return { ...this.#counts, ...this.#trouble, underWay: this.#underWay.size, held: this.#good.size + this.#bad.size };
  }

  /** Rejects as `ask` does, and when whoever wants to know has gone: what is asked is for others too, and goes on. */
  async answer(question: string, ask: (signal: AbortSignal) => Promise<T>, gone: AbortSignal): Promise<T> {
    gone.throwIfAborted();
    const { observer } = this.#options;
    const found = observer?.lookedUp();
    const key = createHmac('sha256', this.#key).update(question).digest('base64');
    const held = this.#good.get(key) ?? this.#bad.get(key);
    if (held !== undefined) {
      this.#counts.cached += 1;
      found?.(true);
      return held.value;
    }
    const released = observer?.blocked();
    try {
      return await unlessAborted(this.#asked(key, ask), gone);
    } finally {
      released?.();
      found?.(false);
    }
  }

  #asked(key: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) {
      this.#counts.shared += 1;
      return underWay;
    }
    if (this.#underWay.size >= MOST_UNDER_WAY) {
      const error = new Error(`${MOST_UNDER_WAY} reviews are under way already`);
      this.#noteFailed(error);
      return Promise.reject(error);
    }
    const asked = this.#ask(key, ask).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asked);
    return asked;
  }

  async #ask(key: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { isGood, goodMs, badMs, observer } = this.#options;
    this.#counts.made += 1;
    const fetched = observer?.fetching();
    try {
      const answer = await this.#inTime(ask);
      fetched?.(true);
      const { failingSince: _, ...before } = this.#trouble;
      this.#trouble = before;
      if (isGood(answer)) this.#good.set(key, answer, goodMs);
      else this.#bad.set(key, answer, badMs);
      return answer;
    } catch (error) {
      fetched?.(false);
      this.#noteFailed(error);
      throw error;
    }
  }

  #noteFailed(error: unknown): void {
    const now = this.#options.clock.now();
    this.#counts.failed += 1;
    this.#trouble = { failingSince: this.#trouble.failingSince ?? now, lastFailure: toFailure(error, now) };
  }

  async #inTime(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, signal } = this.#options;
    const limit = new AbortController();
    const late = new Error(`no answer within ${REVIEW_MS / 1000}s`);
    const timer = clock.setTimeout(() => limit.abort(late), REVIEW_MS);
    try {
      return await ask(AbortSignal.any([signal, limit.signal]));
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
