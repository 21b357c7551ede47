/** A digest of everything that happens in a simulation. */
import { createHash } from 'node:crypto';
import type { Hooks } from '../invariants/invariant.ts';

export class Trace {
  readonly #hash = createHash('sha256');

  add(kind: string, what: unknown): void {
    this.#hash.update(`${kind} ${JSON.stringify(what, toJson)}\n`);
  }

  /** Returns hooks that add every event to the digest. */
  hooks(elapsed: () => number): Hooks {
    return {
      onCall: (call, fault) => this.add('call', [elapsed(), call, fault]),
      onEffect: (effect) => this.add('effect', effect),
      onStatus: ({ pod, removed }) => this.add('status', [pod, removed]),
      onEvent: (event) => this.add('event', event),
      onReport: (report) => this.add('report', report),
    };
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

const toJson = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
