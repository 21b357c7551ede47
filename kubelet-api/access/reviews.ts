/** Requests reviews from the API server. Caches responses and merges concurrent identical requests. */
import { createHmac, randomBytes } from 'node:crypto';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { type Failure, toFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { ReviewCacheObserver } from './accessObserver.ts';
import { ExpiringCache } from './expiringCache.ts';

/** Counts of reviews since the server started. */
export interface ReviewCounts {
  /** Number of requests sent to the API server. */
  readonly requested: number;
  /** Number of reviews served from the cache. */
  readonly cached: number;
  /** Number of reviews that shared a request in progress. */
  readonly shared: number;
  /** Number of failed requests. */
  readonly failed: number;
  readonly underWay: number;
  /** Number of cached responses. */
  readonly cachedResults: number;
  readonly lastFailure?: Failure;
  /**
   * Time of the first failure since the last success, in milliseconds since the epoch. Undefined while requests
   * succeed.
   */
  readonly failingSince?: number;
}

export interface ReviewsOptions<T> {
  readonly clock: Clock;
  /** Aborts requests in progress when the server closes. */
  readonly signal: AbortSignal;
  /** Whether a response is positive, e.g. allows an action. */
  readonly isPositive: (response: T) => boolean;
  /** Lifetime of cached responses, in milliseconds. Failures are not cached. */
  readonly positiveTtlMs: number;
  readonly negativeTtlMs: number;
  readonly observer?: ReviewCacheObserver | undefined;
}

/**
 * Timeout of a review including its retries (`sharedLookupTimeout` in `token/cache/cached_token_authenticator.go` of
 * apiserver).
 */
const REVIEW_TIMEOUT_MS = 30_000;
/**
 * Maximum number of entries per cache. Negative responses have their own cache, because any client can cause many of
 * them and would otherwise evict the positive ones.
 */
const MAX_CACHED_REVIEWS = 1024;
/** Maximum number of concurrent reviews. Any further review fails immediately. */
const MAX_REVIEWS_IN_PROGRESS = 256;

export class Reviews<T> {
  readonly #options: ReviewsOptions<T>;
  readonly #positiveResults: ExpiringCache<T>;
  readonly #negativeResults: ExpiringCache<T>;
  readonly #requestsInProgress = new Map<string, Promise<T>>();
  /** Cache keys are HMACs with this random key, because the reviewed specs can be long and contain secrets. */
  readonly #hmacKey = randomBytes(32);
  readonly #counts = { requested: 0, cached: 0, shared: 0, failed: 0 };
  #failureState: Pick<ReviewCounts, 'lastFailure' | 'failingSince'> = {};

  constructor(options: ReviewsOptions<T>) {
    this.#options = options;
    this.#positiveResults = new ExpiringCache(options.clock, MAX_CACHED_REVIEWS);
    this.#negativeResults = new ExpiringCache(options.clock, MAX_CACHED_REVIEWS);
  }

  counts(): ReviewCounts {
    return {
      ...this.#counts,
      ...this.#failureState,
      underWay: this.#requestsInProgress.size,
      cachedResults: this.#positiveResults.size + this.#negativeResults.size,
    };
  }

  /**
   * Returns the response from the cache or from `sendReview`. Rejects if `sendReview` does, or when `disconnectSignal`
   * aborts. The request itself continues after an abort, because other callers may share it.
   */
  async getOrRequest(
    reviewKey: string,
    sendReview: (signal: AbortSignal) => Promise<T>,
    disconnectSignal: AbortSignal,
  ): Promise<T> {
    disconnectSignal.throwIfAborted();
    const { observer } = this.#options;
    const onLookupEnd = observer?.startLookup();
    const key = createHmac('sha256', this.#hmacKey).update(reviewKey).digest('base64');
    const cachedResult = this.#positiveResults.get(key) ?? this.#negativeResults.get(key);
    if (cachedResult !== undefined) {
      this.#counts.cached += 1;
      onLookupEnd?.(true);
      return cachedResult.value;
    }
    const onWaitEnd = observer?.startWaiting();
    try {
      return await unlessAborted(this.#shareRequest(key, sendReview), disconnectSignal);
    } finally {
      onWaitEnd?.();
      onLookupEnd?.(false);
    }
  }

  #shareRequest(key: string, sendReview: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const pendingRequest = this.#requestsInProgress.get(key);
    if (pendingRequest !== undefined) {
      this.#counts.shared += 1;
      return pendingRequest;
    }
    if (this.#requestsInProgress.size >= MAX_REVIEWS_IN_PROGRESS) {
      const overloadError = new Error(`${MAX_REVIEWS_IN_PROGRESS} reviews are under way already`);
      this.#countFailure(overloadError);
      return Promise.reject(overloadError);
    }
    const request = this.#sendRequest(key, sendReview).finally(() => this.#requestsInProgress.delete(key));
    this.#requestsInProgress.set(key, request);
    return request;
  }

  async #sendRequest(key: string, sendReview: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { isPositive, positiveTtlMs, negativeTtlMs, observer } = this.#options;
    this.#counts.requested += 1;
    const onFetchEnd = observer?.startFetch();
    try {
      const result = await this.#withTimeout(sendReview);
      onFetchEnd?.(true);
      const { failingSince: _, ...before } = this.#failureState;
      this.#failureState = before;
      if (isPositive(result)) this.#positiveResults.set(key, result, positiveTtlMs);
      else this.#negativeResults.set(key, result, negativeTtlMs);
      return result;
    } catch (error) {
      onFetchEnd?.(false);
      this.#countFailure(error);
      throw error;
    }
  }

  #countFailure(error: unknown): void {
    const now = this.#options.clock.now();
    this.#counts.failed += 1;
    this.#failureState = { failingSince: this.#failureState.failingSince ?? now, lastFailure: toFailure(error, now) };
  }

  async #withTimeout(sendReview: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, signal } = this.#options;
    const timeoutController = new AbortController();
    const timeoutError = new Error(`no answer within ${REVIEW_TIMEOUT_MS / 1000}s`);
    const timer = clock.setTimeout(() => timeoutController.abort(timeoutError), REVIEW_TIMEOUT_MS);
    try {
      return await sendReview(AbortSignal.any([signal, timeoutController.signal]));
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
