import { X509Certificate } from 'node:crypto';
import type { ExecPluginObserver, ValidityPeriod } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { LastGood } from './lastGood.ts';
import type { ExecCredential } from './runExecPlugin.ts';

/**
 * Minimum interval in milliseconds between two runs of the plugin, even if it fails or the server rejects its
 * credentials.
 */
const MIN_INTERVAL_MS = 1_000;

interface Options {
  readonly runPlugin: () => Promise<ExecCredential>;
  /** Clock. `now` returns milliseconds since the epoch, and `monotonic` returns monotonic time. */
  readonly clock: { now(): number; monotonic(): number };
  readonly onProblem: (problem: string) => void;
  /** Called when the certificate has changed, because open connections still use the previous one. */
  readonly onRenewed: () => void;
  readonly observer?: ExecPluginObserver | undefined;
}

/** Caches the credentials of an exec plugin until they expire or a server rejects them. */
export class ExecCredentials {
  readonly #options: Options;
  readonly #good: LastGood<ExecCredential>;
  #inFlight: Promise<ExecCredential> | undefined;
  #isRejected = false;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#good = new LastGood(options.onProblem);
  }

  /** Returns the cached credentials, or runs the plugin. Concurrent callers share one run. */
  current(): Promise<ExecCredential> {
    const { value } = this.#good;
    if (value !== undefined && (this.#isValid(value) || this.#hasJustRun())) return Promise.resolve(value);
    this.#inFlight ??= this.#run().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  markRejected(): void {
    this.#isRejected = true;
  }

  #isValid({ expiresAt = Number.POSITIVE_INFINITY }: ExecCredential): boolean {
    return !this.#isRejected && this.#options.clock.now() < expiresAt;
  }

  #hasJustRun(): boolean {
    return this.#options.clock.monotonic() - this.#startedAt < MIN_INTERVAL_MS;
  }

  async #run(): Promise<ExecCredential> {
    this.#startedAt = this.#options.clock.monotonic();
    const before = this.#good.value;
    const credential = await this.#good.read(this.#options.runPlugin);
    this.#isRejected = false;
    const isChanged = before?.pair?.cert !== credential.pair?.cert;
    if (isChanged) this.#options.observer?.certificateChanged(this, validityOf(credential));
    if (isChanged && before !== undefined) this.#options.onRenewed();
    return credential;
  }
}

/**
 * Returns the validity of the certificate, or undefined if it cannot be parsed. In that case, the connection that needs
 * it reports the problem.
 */
function validityOf({ pair }: ExecCredential): ValidityPeriod | undefined {
  if (pair === undefined) return undefined;
  try {
    const { validFromDate, validToDate } = new X509Certificate(pair.cert);
    return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
  } catch {
    return undefined;
  }
}
