/**
 * Tokens of the service accounts of pods (`pkg/kubelet/token/token_manager.go`): had from the API server, kept in memory
 * alone for as long as they are good, and renewed before they are not. One that cannot be renewed is kept until it expires.
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
import { accountOf, readToken, tokenCalled, tokenRequestOf } from './tokenRequest.ts';

interface TokensParts {
  /** Its calls have a limit: a server that hangs is one that fails. */
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** Whether the API server has a pod no more: it makes no tokens for it, and need not. */
  readonly isGone: (pod: PodIdentity) => boolean;
  readonly onError: (source: string, error: unknown) => void;
}

/** What is known of one token. */
interface Kept {
  held?: CachedToken;
  call?: SharedCall<CachedToken>;
  /** Why it could not be renewed when it was due. */
  failure?: Failure;
  /** The wait after the last failure, in milliseconds, and when that is over, by the monotonic clock. */
  delayMs: number;
  retryAt: number;
  /** When it was asked for last, by the monotonic clock. */
  usedAt: number;
}

type Asked = readonly [pod: Pod, request: TokenRequest];

const RETRY = { baseMs: 1_000, maxMs: 60_000 };
/** A timer may be early by so much. */
const EARLY_MS = 1_000;
/** Whoever uses a token asks for it once a day, for then it is renewed. What is older is of a pod that ended meanwhile. */
const UNUSED_MS = 48 * 3_600_000;

export class ServiceAccountTokens implements PodTokens {
  readonly #parts: TokensParts;
  /** Keyed by the pod's UID, and by what was asked for. */
  readonly #pods = new Map<string, Map<string, Kept>>();

  constructor(parts: TokensParts) {
    this.#parts = parts;
  }

  async get(...[pod, request, { signal }]: Parameters<PodTokens['get']>): Promise<PodToken> {
    signal.throwIfAborted();
    const now = readClocks(this.#parts.clock);
    const kept = this.#keptOf(pod, request, now);
    const { held } = kept;
    if (held !== undefined && !this.#isDue(kept, held, pod, now)) return this.#told(kept, held);
    return this.#told(kept, await this.#renewed(kept, [pod, request], signal));
  }

  /** Of how many pods it has any. */
  get size(): number {
    return this.#pods.size;
  }

  /** The pod has ended. */
  forget(podUid: string): void {
    this.#pods.delete(podUid);
  }

  #keptOf(pod: Pod, { audience, expirationSeconds, accountUid }: TokenRequest, { monotonic }: ClockReading): Kept {
    const { uid } = pod.metadata;
    this.#dropUnused(monotonic);
    const ofPod = this.#pods.get(uid) ?? new Map<string, Kept>();
    const key = JSON.stringify([accountOf(pod), audience, expirationSeconds ?? 0, accountUid ?? '']);
    const kept = ofPod.get(key) ?? { delayMs: 0, retryAt: 0, usedAt: 0 };
    kept.usedAt = monotonic;
    this.#pods.set(uid, ofPod.set(key, kept));
    return kept;
  }

  #dropUnused(monotonic: number): void {
    for (const [uid, ofPod] of this.#pods) {
      for (const [key, { usedAt }] of ofPod) if (monotonic - usedAt > UNUSED_MS) ofPod.delete(key);
      if (ofPod.size === 0) this.#pods.delete(uid);
    }
  }

  /** Of one that has expired there is nothing to wait for; for a pod that is gone no server makes another. */
  #isDue(kept: Kept, held: CachedToken, pod: Pod, now: ClockReading): boolean {
    if (held.dueIn(now) > EARLY_MS) return false;
    if (this.#parts.isGone(pod.metadata)) {
      // It may end long after it has gone, and its volumes are not to come back all the time.
      kept.retryAt = Math.max(kept.retryAt, now.monotonic + RETRY.maxMs);
      return false;
    }
    return now.monotonic >= kept.retryAt || held.expiresIn(now) === 0;
  }

  #renewed(kept: Kept, asked: Asked, signal: AbortSignal): Promise<CachedToken> {
    kept.call ??= new SharedCall(
      (within) => this.#renew(kept, asked, within),
      () => delete kept.call,
    );
    return kept.call.wait(signal);
  }

  async #renew(kept: Kept, [pod, request]: Asked, signal: AbortSignal): Promise<CachedToken> {
    try {
      kept.held = await this.#fetch(pod, request, signal);
      kept.delayMs = 0;
      delete kept.failure;
      return kept.held;
    } catch (error) {
      const { held } = kept;
      if (held === undefined) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error });
      if (!signal.aborted) this.#putOff(kept, error);
      const isGone = this.#parts.isGone(pod.metadata);
      const isExpired = held.expiresIn(readClocks(this.#parts.clock)) === 0;
      if (isExpired && !isGone) throw expired(pod, request, error);
      if (!isGone && !signal.aborted) {
        kept.failure = { reason: 'FailedRead', message: messageOf(error), at: this.#parts.clock.now() };
        this.#tell(pod, error);
      }
      return held;
    }
  }

  async #fetch(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<CachedToken> {
    const { client, clock, jitter } = this.#parts;
    const asked = readClocks(clock);
    const path = tokenPath(accountOf(pod));
    const answer = await client.create(path, tokenRequestOf(pod, request), { signal }).catch((error) => {
      // An odd answer is told with its beginning, in which the token may be.
      throw error instanceof UnexpectedResponse ? new Error('the answer of the API server cannot be read') : error;
    });
    const { token, lifetimeMs } = readToken(answer);
    return new CachedToken(token, lifetimeMs, asked, jitter());
  }

  #putOff(kept: Kept, error: unknown): void {
    const { clock, jitter } = this.#parts;
    kept.delayMs = nextBackOff(kept.delayMs, RETRY);
    const least = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, RETRY.maxMs) : 0;
    kept.retryAt = clock.monotonic() + Math.max(kept.delayMs * (1 + jitter() / 2), least);
  }

  #tell({ metadata: { namespace, name }, ...pod }: Pod, cause: unknown): void {
    const whose = `the token of service account ${pod.spec.serviceAccountName} for pod ${namespace}/${name}`;
    const message = `${whose} could not be renewed, and is used until it expires: ${messageOf(cause)}`;
    this.#parts.onError('tokens', new NodeFailure('FailedRead', message, { cause }));
  }

  #told({ retryAt, failure }: Kept, held: CachedToken): PodToken {
    const now = readClocks(this.#parts.clock);
    const dueIn = Math.max(held.dueIn(now), retryAt - now.monotonic);
    // From when it expires on it is not put off.
    const expiresIn = held.expiresIn(now);
    return {
      token: held.token,
      renewAt: Math.ceil(now.now + (expiresIn > 0 ? Math.min(dueIn, expiresIn) : dueIn)),
      goodUntil: Math.floor(now.now + expiresIn),
      ...(failure === undefined ? {} : { failure }),
    };
  }
}

const expired = (pod: Pod, request: TokenRequest, cause: unknown): Error =>
  new Error(`token ${tokenCalled(pod, request)} expired and refresh failed: ${messageOf(cause)}`, { cause });
