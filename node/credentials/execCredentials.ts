/** What a program has given, for as long as it is good, and until a server says that it is not. */

import { X509Certificate } from 'node:crypto';
import type { ExecPluginObserver, ValidityPeriod } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { ExecCredential } from './execProgram.ts';
import { LastGood } from './lastGood.ts';

/** A server that refuses all that a program gives, or a program that fails, makes it run so often and no more. */
const LEAST_PAUSE_MS = 1_000;

interface Options {
  readonly ask: () => Promise<ExecCredential>;
  /** `now` in milliseconds since the epoch; `monotonic` is set by nobody. */
  readonly clock: { now(): number; monotonic(): number };
  readonly onProblem: (problem: string) => void;
  /** The certificate is another now: what is connected shows the former. */
  readonly onRenewed: () => void;
  readonly observer?: ExecPluginObserver | undefined;
}

export class ExecCredentials {
  readonly #options: Options;
  readonly #good: LastGood<ExecCredential>;
  #asking: Promise<ExecCredential> | undefined;
  #isRefused = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#good = new LastGood(options.onProblem);
  }

  /** For all who ask meanwhile: a program is never run twice at a time. */
  current(): Promise<ExecCredential> {
    const { value } = this.#good;
    if (value !== undefined && (this.#isGood(value) || this.#wasJustAsked())) return Promise.resolve(value);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  refused(): void {
    this.#isRefused = true;
  }

  #isGood({ expiresAt = Number.POSITIVE_INFINITY }: ExecCredential): boolean {
    return !this.#isRefused && this.#options.clock.now() < expiresAt;
  }

  #wasJustAsked(): boolean {
    return this.#options.clock.monotonic() - this.#askedAt < LEAST_PAUSE_MS;
  }

  async #ask(): Promise<ExecCredential> {
    this.#askedAt = this.#options.clock.monotonic();
    const before = this.#good.value;
    const found = await this.#good.read(this.#options.ask);
    this.#isRefused = false;
    const isChanged = before?.pair?.cert !== found.pair?.cert;
    if (isChanged) this.#options.observer?.certificateChanged(this, validityOf(found));
    if (isChanged && before !== undefined) this.#options.onRenewed();
    return found;
  }
}

/** Undefined for a certificate that cannot be read. The connection that needs it reports the problem. */
function validityOf({ pair }: ExecCredential): ValidityPeriod | undefined {
  if (pair === undefined) return undefined;
  try {
    const { validFromDate, validToDate } = new X509Certificate(pair.cert);
    return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
  } catch {
    return undefined;
  }
}
