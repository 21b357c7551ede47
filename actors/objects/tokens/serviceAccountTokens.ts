/**
 * Provides the service account tokens of pods (`pkg/kubelet/token/token_manager.go`). Tokens are requested from the API
 * server, only cached in memory, and renewed before they expire. A token that cannot be renewed is used until it
 * expires.
 */

import type { Clock } from '../../../base/clock.ts';
import { type Failure, messageOf, NodeFailure } from '../../../base/failure.ts';
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
import { accountOf, formatTokenRequest, readToken, tokenRequestOf } from './tokenRequest.ts';

interface TokensParts {
  /** A client whose requests have a timeout. */
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  /** Whether the API server no longer has a pod, in which case it issues no tokens for the pod. */
  readonly isGone: (pod: PodIdentity) => boolean;
  readonly onError: (source: string, error: unknown) => void;
}

/** The state of one token. */
interface TokenEntry {
  token?: CachedToken;
  call?: SharedCall<CachedToken>;
  /** The reason why the last renewal failed. */
  failure?: Failure;
  /** Back-off after the last failure. */
  delayMs: number;
  /** Time of the next attempt on the monotonic clock, in milliseconds. */
  retryAt: number;
  /** Time of the last use on the monotonic clock. */
  usedAt: number;
}

type TokenKey = readonly [pod: Pod, request: TokenRequest];

const RETRY = { baseMs: 1_000, maxMs: 60_000 };
/** Tolerance for timers that fire early. */
const EARLY_MS = 1_000;
/**
 * Time after which an unused token is dropped. Every user requests its token at least once a day, when the token is
 * renewed, so a token that was unused for longer belongs to a terminated pod.
 */
const UNUSED_MS = 48 * 3_600_000;

export class ServiceAccountTokens implements PodTokens {
  readonly #parts: TokensParts;
  /** Keyed by the pod's UID and by the properties of the request. */
  readonly #pods = new Map<string, Map<string, TokenEntry>>();

  constructor(parts: TokensParts) {
    this.#parts = parts;
  }

  async get(...[pod, request, { signal }]: Parameters<PodTokens['get']>): Promise<PodToken> {
    signal.throwIfAborted();
    const now = readClocks(this.#parts.clock);
    const entry = this.#entryOf(pod, request, now);
    const { token } = entry;
    if (token !== undefined && !this.#isDue(entry, token, pod, now)) return this.#podToken(entry, token);
    return this.#podToken(entry, await this.#renewShared(entry, [pod, request], signal));
  }

  /** The number of pods with tokens. */
  get size(): number {
    return this.#pods.size;
  }

  /** Drops the tokens of a terminated pod. */
  forget(podUid: string): void {
    this.#pods.delete(podUid);
  }

  #entryOf(
    pod: Pod,
    { audience, expirationSeconds, accountUid }: TokenRequest,
    { monotonic }: ClockReading,
  ): TokenEntry {
    const { uid } = pod.metadata;
    this.#dropUnused(monotonic);
    const podEntries = this.#pods.get(uid) ?? new Map<string, TokenEntry>();
    const key = JSON.stringify([accountOf(pod), audience, expirationSeconds ?? 0, accountUid ?? '']);
    const entry = podEntries.get(key) ?? { delayMs: 0, retryAt: 0, usedAt: 0 };
    entry.usedAt = monotonic;
    this.#pods.set(uid, podEntries.set(key, entry));
    return entry;
  }

  #dropUnused(monotonic: number): void {
    for (const [uid, podEntries] of this.#pods) {
      for (const [key, { usedAt }] of podEntries) if (monotonic - usedAt > UNUSED_MS) podEntries.delete(key);
      if (podEntries.size === 0) this.#pods.delete(uid);
    }
  }

  /**
   * Whether a token must be renewed now. An expired token is renewed without waiting for the back-off, and the token of
   * a removed pod is never renewed.
   */
  #isDue(entry: TokenEntry, token: CachedToken, pod: Pod, now: ClockReading): boolean {
    if (token.dueIn(now) > EARLY_MS) return false;
    if (this.#parts.isGone(pod.metadata)) {
      // The pod may terminate long after its removal from the API server. The delay prevents its volumes from
      // requesting the token continually.
      entry.retryAt = Math.max(entry.retryAt, now.monotonic + RETRY.maxMs);
      return false;
    }
    return now.monotonic >= entry.retryAt || token.expiresIn(now) === 0;
  }

  #renewShared(entry: TokenEntry, key: TokenKey, signal: AbortSignal): Promise<CachedToken> {
    entry.call ??= new SharedCall(
      (callSignal) => this.#renew(entry, key, callSignal),
      () => delete entry.call,
    );
    return entry.call.wait(signal);
  }

  async #renew(entry: TokenEntry, [pod, request]: TokenKey, signal: AbortSignal): Promise<CachedToken> {
    try {
      entry.token = await this.#fetch(pod, request, signal);
      entry.delayMs = 0;
      delete entry.failure;
      return entry.token;
    } catch (error) {
      const { token } = entry;
      if (token === undefined) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error });
      if (!signal.aborted) this.#scheduleRetry(entry, error);
      const isGone = this.#parts.isGone(pod.metadata);
      const isExpired = token.expiresIn(readClocks(this.#parts.clock)) === 0;
      if (isExpired && !isGone) throw expired(pod, request, error);
      if (!isGone && !signal.aborted) {
        entry.failure = { reason: 'FailedRead', message: messageOf(error), at: this.#parts.clock.now() };
        this.#reportFailure(pod, error);
      }
      return token;
    }
  }

  async #fetch(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<CachedToken> {
    const { client, clock, jitter } = this.#parts;
    const requestedAt = readClocks(clock);
    const path = tokenPath(accountOf(pod));
    const response = await client.create(path, tokenRequestOf(pod, request), { signal }).catch((error) => {
      // Replace the error, because it quotes the start of the response, which may contain the token.
      throw error instanceof UnexpectedResponse ? new Error('the response of the API server cannot be read') : error;
    });
    const { token, lifetimeMs } = readToken(response);
    return new CachedToken(token, lifetimeMs, requestedAt, jitter());
  }

  #scheduleRetry(entry: TokenEntry, error: unknown): void {
    const { clock, jitter } = this.#parts;
    entry.delayMs = nextBackOff(entry.delayMs, RETRY);
    const minDelayMs = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, RETRY.maxMs) : 0;
    entry.retryAt = clock.monotonic() + Math.max(entry.delayMs * (1 + jitter() / 2), minDelayMs);
  }

  #reportFailure({ metadata: { namespace, name }, ...pod }: Pod, cause: unknown): void {
    const subject = `the token of service account ${pod.spec.serviceAccountName} for pod ${namespace}/${name}`;
    const message = `${subject} could not be renewed and is used until it expires: ${messageOf(cause)}`;
    this.#parts.onError('tokens', new NodeFailure('FailedRead', message, { cause }));
  }

  #podToken({ retryAt, failure }: TokenEntry, token: CachedToken): PodToken {
    const now = readClocks(this.#parts.clock);
    const dueIn = Math.max(token.dueIn(now), retryAt - now.monotonic);
    // After the token has expired, its renewal is not delayed.
    const expiresIn = token.expiresIn(now);
    return {
      token: token.token,
      renewAt: Math.ceil(now.now + (expiresIn > 0 ? Math.min(dueIn, expiresIn) : dueIn)),
      goodUntil: Math.floor(now.now + expiresIn),
      ...(failure === undefined ? {} : { failure }),
    };
  }
}

const expired = (pod: Pod, request: TokenRequest, cause: unknown): Error =>
  new Error(`token ${formatTokenRequest(pod, request)} expired and refresh failed: ${messageOf(cause)}`, { cause });
