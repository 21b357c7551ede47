/**
 * Provides the service account tokens of pods (`pkg/kubelet/token/token_manager.go`). Tokens are requested from the API
 * server, cached in memory only, and renewed before they expire. A token that cannot be renewed is used until it
 * expires.
 */

import { type Failure, messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { UnexpectedResponse } from '../../../kubeclient/answer.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';
import { tokenPath } from '../../../kubeclient/paths.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { nextBackOff } from '../../../kubernetes/lifecycle/backoff.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';
import type { PodToken, PodTokens, TokenRequest } from '../../../kubernetes/objects/podObjects.ts';
import { SharedCall } from '../cache/sharedCall.ts';
import { CachedToken, type ClockReading, readClocks } from './cachedToken.ts';
import { createTokenRequest, formatTokenRequest, readToken, serviceAccountOf } from './tokenRequest.ts';

interface TokenDependencies {
  /** A client whose requests have a timeout. */
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  /** Whether the API server no longer has a pod, in which case it issues no tokens for the pod. */
  readonly isGone: (pod: PodIdentity) => boolean;
  readonly onError: (source: string, error: unknown) => void;
}

/** A cached token and the state of its renewal. */
interface TokenEntry {
  token?: CachedToken;
  renewalCall?: SharedCall<CachedToken>;
  /** The reason why the last renewal failed. */
  lastFailure?: Failure;
  /** Back-off after the last failure. */
  delayMs: number;
  /** Monotonic time of the next attempt, in milliseconds. */
  nextAttemptAt: number;
  /** Monotonic time of the last use. */
  lastUsedAt: number;
}

type TokenKey = readonly [pod: Pod, request: TokenRequest];

const RETRY_BACK_OFF = { baseMs: 1_000, maxMs: 60_000 };
const EARLY_TIMER_TOLERANCE_MS = 1_000;
/**
 * Time after which an unused token is dropped. A token in use is requested at least once a day, when it is renewed, so
 * a token that has been unused for longer belongs to a terminated pod.
 */
const MAX_UNUSED_MS = 48 * 3_600_000;

export class ServiceAccountTokens implements PodTokens {
  readonly #dependencies: TokenDependencies;
  /** Keyed by the pod's UID and by the properties of the request. */
  readonly #pods = new Map<string, Map<string, TokenEntry>>();

  constructor(dependencies: TokenDependencies) {
    this.#dependencies = dependencies;
  }

  async get(...[pod, request, { signal }]: Parameters<PodTokens['get']>): Promise<PodToken> {
    signal.throwIfAborted();
    const now = readClocks(this.#dependencies.clock);
    const tokenEntry = this.#getEntry(pod, request, now);
    const { token } = tokenEntry;
    if (token !== undefined && !this.#isRenewalDue(tokenEntry, token, pod, now))
      return this.#podToken(tokenEntry, token);
    return this.#podToken(tokenEntry, await this.#renewShared(tokenEntry, [pod, request], signal));
  }

  /** The number of pods with tokens. */
  get size(): number {
    return this.#pods.size;
  }

  /** Drops the tokens of a terminated pod. */
  forget(podUid: string): void {
    this.#pods.delete(podUid);
  }

  #getEntry(
    pod: Pod,
    { audience, expirationSeconds, accountUid }: TokenRequest,
    { monotonic }: ClockReading,
  ): TokenEntry {
    const { uid } = pod.metadata;
    this.#removeUnused(monotonic);
    const podEntries = this.#pods.get(uid) ?? new Map<string, TokenEntry>();
    const key = JSON.stringify([serviceAccountOf(pod), audience, expirationSeconds ?? 0, accountUid ?? '']);
    const tokenEntry = podEntries.get(key) ?? { delayMs: 0, nextAttemptAt: 0, lastUsedAt: 0 };
    tokenEntry.lastUsedAt = monotonic;
    this.#pods.set(uid, podEntries.set(key, tokenEntry));
    return tokenEntry;
  }

  #removeUnused(monotonic: number): void {
    for (const [uid, podEntries] of this.#pods) {
      for (const [key, { lastUsedAt }] of podEntries)
        if (monotonic - lastUsedAt > MAX_UNUSED_MS) podEntries.delete(key);
      if (podEntries.size === 0) this.#pods.delete(uid);
    }
  }

  /**
   * Whether a token must be renewed now. An expired token is renewed without waiting for the back-off, and the token of
   * a removed pod is never renewed.
   */
  #isRenewalDue(entry: TokenEntry, token: CachedToken, pod: Pod, now: ClockReading): boolean {
    if (token.msUntilRenewal(now) > EARLY_TIMER_TOLERANCE_MS) return false;
    if (this.#dependencies.isGone(pod.metadata)) {
      // The pod may terminate long after its removal from the API server. The delay prevents its volumes from
      // requesting the token continually.
      entry.nextAttemptAt = Math.max(entry.nextAttemptAt, now.monotonic + RETRY_BACK_OFF.maxMs);
      return false;
    }
    return now.monotonic >= entry.nextAttemptAt || token.remainingLifetimeMs(now) === 0;
  }

  #renewShared(entry: TokenEntry, key: TokenKey, signal: AbortSignal): Promise<CachedToken> {
    entry.renewalCall ??= new SharedCall(
      (callSignal) => this.#renewToken(entry, key, callSignal),
      () => delete entry.renewalCall,
    );
    return entry.renewalCall.wait(signal);
  }

  async #renewToken(entry: TokenEntry, [pod, request]: TokenKey, signal: AbortSignal): Promise<CachedToken> {
    try {
      entry.token = await this.#fetch(pod, request, signal);
      entry.delayMs = 0;
      delete entry.lastFailure;
      return entry.token;
    } catch (error) {
      const { token } = entry;
      if (token === undefined) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error });
      if (!signal.aborted) this.#scheduleRetry(entry, error);
      const isPodGone = this.#dependencies.isGone(pod.metadata);
      const isTokenExpired = token.remainingLifetimeMs(readClocks(this.#dependencies.clock)) === 0;
      if (isTokenExpired && !isPodGone) throw createExpiredError(pod, request, error);
      if (!isPodGone && !signal.aborted) {
        entry.lastFailure = { reason: 'FailedRead', message: messageOf(error), at: this.#dependencies.clock.now() };
        this.#reportFailure(pod, error);
      }
      return token;
    }
  }

  async #fetch(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<CachedToken> {
    const { client, clock, jitter } = this.#dependencies;
    const requestTime = readClocks(clock);
    const path = tokenPath(serviceAccountOf(pod));
    const response = await client.create(path, createTokenRequest(pod, request), { signal }).catch((error) => {
      // Replace the error, because it quotes the start of the response, which may contain the token.
      throw error instanceof UnexpectedResponse ? new Error('the response of the API server cannot be read') : error;
    });
    const { token, lifetimeMs } = readToken(response);
    return new CachedToken(token, lifetimeMs, requestTime, jitter());
  }

  #scheduleRetry(entry: TokenEntry, error: unknown): void {
    const { clock, jitter } = this.#dependencies;
    entry.delayMs = nextBackOff(entry.delayMs, RETRY_BACK_OFF);
    const minDelayMs = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, RETRY_BACK_OFF.maxMs) : 0;
    entry.nextAttemptAt = clock.monotonic() + Math.max(entry.delayMs * (1 + jitter() / 2), minDelayMs);
  }

  #reportFailure({ metadata: { namespace, name }, ...pod }: Pod, cause: unknown): void {
    const tokenDescription = `the token of service account ${pod.spec.serviceAccountName} for pod ${namespace}/${name}`;
    const message = `${tokenDescription} could not be renewed and is used until it expires: ${messageOf(cause)}`;
    this.#dependencies.onError('tokens', new NodeFailure('FailedRead', message, { cause }));
  }

  #podToken({ nextAttemptAt, lastFailure }: TokenEntry, token: CachedToken): PodToken {
    const now = readClocks(this.#dependencies.clock);
    const renewInMs = Math.max(token.msUntilRenewal(now), nextAttemptAt - now.monotonic);
    // A valid token is renewed no later than its expiration, even during a back-off.
    const expiresInMs = token.remainingLifetimeMs(now);
    return {
      token: token.token,
      renewAt: Math.ceil(now.now + (expiresInMs > 0 ? Math.min(renewInMs, expiresInMs) : renewInMs)),
      goodUntil: Math.floor(now.now + expiresInMs),
      ...(lastFailure === undefined ? {} : { failure: lastFailure }),
    };
  }
}

const createExpiredError = (pod: Pod, request: TokenRequest, cause: unknown): Error =>
  new Error(`token ${formatTokenRequest(pod, request)} expired and refresh failed: ${messageOf(cause)}`, { cause });
