/** What goes wrong with requests, as a test wants it: each rule for those that it is about. */

import type { TimerClock } from '../../base/clock.ts';
import type { Attributes } from './authorization/attributes.ts';
import { internalError } from './failures.ts';
import type { Answer } from './request.ts';

export type Fault =
  /** The request is carried out so much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** It is not carried out: 429 as priority and fairness answers it, any other code as a failure of the server. */
  | { readonly kind: 'refused'; readonly code: number; readonly retryAfterSeconds?: number }
  /** It is not carried out: the connection is cut before. */
  | { readonly kind: 'dropped' }
  /** It is carried out, and the connection is cut before the answer. */
  | { readonly kind: 'lost' }
  /** It is never answered. */
  | { readonly kind: 'hung' }
  /** A watch is cut after so long, without its end. */
  | { readonly kind: 'cut'; readonly afterMs: number }
  /** A watch stays open, and tells nothing any more. */
  | { readonly kind: 'silent' }
  /** A read is answered as of so many writes ago. */
  | { readonly kind: 'stale'; readonly writes: number };

export interface FaultRule {
  readonly fault: Fault;
  /** By default it is about every request. */
  readonly matches?: (asked: Attributes, user: string) => boolean;
  /** How often; by default always. */
  readonly times?: number;
}

/** The connection is gone: nobody knows what became of the request. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';
}

/** How far back a read looks, and who carries it out. */
type CarryOut = (staleBy: number) => Promise<Answer>;

export class Faults {
  readonly #clock: TimerClock;
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>();

  constructor(clock: TimerClock) {
    this.#clock = clock;
  }

  /** Lets a rule hold until the function that it returns is called, or it has been met so often. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.add(entry);
    return () => void this.#rules.delete(entry);
  }

  /** Answers a request with what goes wrong with it; rejects with `ConnectionCut` where it is not answered. */
  async around(asked: Attributes, user: string, carryOut: CarryOut): Promise<Answer> {
    const fault = this.#taken(asked, user);
    if (fault === undefined) return await carryOut(0);
    switch (fault.kind) {
      case 'latency':
        await new Promise<void>((done) => void this.#clock.setTimeout(done, fault.ms));
        return await carryOut(0);
      case 'refused':
        return refusal(fault);
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
        return this.#ofWatch(fault, await carryOut(0));
    }
  }

  #taken(asked: Attributes, user: string): Fault | undefined {
    for (const entry of this.#rules) {
      if (!(entry.rule.matches?.(asked, user) ?? true)) continue;
      entry.left -= 1;
      if (entry.left <= 0) this.#rules.delete(entry);
      return entry.rule.fault;
    }
    return undefined;
  }

  #ofWatch(fault: Extract<Fault, { kind: 'cut' | 'silent' }>, answer: Answer): Answer {
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

const TEXT = 'text/plain; charset=utf-8';
const TOO_MANY = 429;

function refusal({ code, retryAfterSeconds }: Extract<Fault, { kind: 'refused' }>): Answer {
  const after = retryAfterSeconds === undefined ? [] : [['retry-after', String(retryAfterSeconds)] as const];
  if (code === TOO_MANY) {
    const headers = new Map([['content-type', TEXT], ...(after.length > 0 ? after : [['retry-after', '1'] as const])]);
    return { code, headers, body: 'Too many requests, please try again later.\n' };
  }
  const { status } = internalError('a fault that was asked for');
  const headers = new Map([['content-type', 'application/json'], ...after]);
  return { code, headers, body: JSON.stringify({ ...status, code }) };
}
