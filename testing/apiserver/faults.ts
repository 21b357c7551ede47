/** Injects faults into requests according to rules. */

import type { TimerClock } from '../../base/time/clock.ts';
import type { Attributes } from './authorization/attributes.ts';
import { internalError } from './failures/failures.ts';
import type { ApiResponse } from './requests/request.ts';

export type Fault =
  /** The request is delayed. */
  | { readonly kind: 'latency'; readonly ms: number }
  /**
   * The request is rejected without an effect. Code 429 has the response of priority and fairness, any other code that
   * of a server error.
   */
  | { readonly kind: 'refused'; readonly code: number; readonly retryAfterSeconds?: number }
  /** The connection is cut before the request has an effect. */
  | { readonly kind: 'dropped' }
  /** The request has an effect, and the connection is cut before the response. */
  | { readonly kind: 'lost' }
  /** The request never gets a response. */
  | { readonly kind: 'hung' }
  /** A watch is cut after this time, without the regular end of the stream. */
  | { readonly kind: 'cut'; readonly afterMs: number }
  /** A watch stays open but delivers no more events. */
  | { readonly kind: 'silent' }
  /** A read returns the state before the last `writes` writes. */
  | { readonly kind: 'stale'; readonly writes: number };

export interface FaultRule {
  readonly fault: Fault;
  /** Whether a request gets the fault. Default: all requests. */
  readonly matches?: (attributes: Attributes, user: string) => boolean;
  /** Maximum number of times the fault is injected. Default: unlimited. */
  readonly times?: number;
}

/** The connection was cut, so the effect of the request is unknown. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';
}

/** Handles the request. A read ignores the last `staleBy` writes. */
type Handle = (staleBy: number) => Promise<ApiResponse>;

export class Faults {
  readonly #clock: TimerClock;
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>();

  constructor(clock: TimerClock) {
    this.#clock = clock;
  }

  /** Adds a rule. It applies until the returned function is called or the fault has been injected `times` times. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(entry);
    return () => void this.#rules.delete(entry);
  }

  /**
   * Handles a request with the fault that applies to it, if any. Rejects with `ConnectionCut` if there is no response.
   */
  async handle(attributes: Attributes, user: string, carryOut: Handle): Promise<ApiResponse> {
    const fault = this.#nextFault(attributes, user);
    if (fault === undefined) return await carryOut(0);
    switch (fault.kind) {
      case 'latency':
        await new Promise<void>((done) => void this.#clock.setTimeout(done, fault.ms));
        return await carryOut(0);
      case 'refused':
        return rejection(fault);
      case 'dropped':
        throw new ConnectionCut('the connection was cut before the request was carried out');
      case 'lost':
        await carryOut(0);
        throw new ConnectionCut('the connection was cut before the answer');
      case 'hung':
        return await new Promise<never>(() => undefined);
      case 'stale':
        return await carryOut(fault.writes);
      default:
        return this.#faultyWatch(fault, await carryOut(0));
    }
  }

  #nextFault(attributes: Attributes, user: string): Fault | undefined {
    for (const entry of this.#rules) {
      if (!(entry.rule.matches?.(attributes, user) ?? true)) continue;
      entry.left -= 1;
      if (entry.left <= 0) this.#rules.delete(entry);
      return entry.rule.fault;
    }
    return undefined;
  }

  #faultyWatch(fault: Extract<Fault, { kind: 'cut' | 'silent' }>, answer: ApiResponse): ApiResponse {
    if ('body' in answer) return answer;
    if (fault.kind === 'silent') return { ...answer, start: () => () => undefined };
    return {
      ...answer,
      start: (send, end, cut) => {
        const stop = answer.start(send, end, cut);
        const timer = this.#clock.setTimeout(() => {
          stop();
          cut();
        }, fault.afterMs);
        return () => {
          this.#clock.clearTimeout(timer);
          stop();
        };
      },
    };
  }
}

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const TOO_MANY_REQUESTS = 429;

function rejection({ code, retryAfterSeconds }: Extract<Fault, { kind: 'refused' }>): ApiResponse {
  const after = retryAfterSeconds === undefined ? [] : [['retry-after', String(retryAfterSeconds)] as const];
  if (code === TOO_MANY_REQUESTS) {
    const headers = new Map([
      ['content-type', PLAIN_TEXT],
      ...(after.length > 0 ? after : [['retry-after', '1'] as const]),
    ]);
    return { code, headers, body: 'Too many requests, please try again later.\n' };
  }
  const { status } = internalError('a fault that was asked for');
  const headers = new Map([['content-type', 'application/json'], ...after]);
  return { code, headers, body: JSON.stringify({ ...status, code }) };
}
