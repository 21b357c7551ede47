import { X509Certificate } from 'node:crypto';
import type { ExecPluginObserver, ValidityPeriod } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { LastGood } from './lastGood.ts';
import type { ExecCredential } from './runExecPlugin.ts';

/**
 * Minimum interval in milliseconds between two runs of the plugin, even after a run fails or the server rejects the
 * plugin's credentials.
 */
const MIN_INTERVAL_MS = 1_000;

interface ExecCredentialsOptions {
  readonly runPlugin: () => Promise<ExecCredential>;
  /** Clock. `now` returns milliseconds since the epoch, and `monotonic` returns monotonic time. */
  readonly clock: { now(): number; monotonic(): number };
  readonly onProblem: (problem: string) => void;
  /**
   * Called after the certificate has changed, so that the caller can replace open connections, which still use the
   * previous one.
   */
  readonly onRenewed: () => void;
  readonly observer?: ExecPluginObserver | undefined;
}

/** Caches the credentials of an exec plugin until they expire or a server rejects them. */
export class ExecCredentials {
  readonly #options: ExecCredentialsOptions;
  readonly #lastGood: LastGood<ExecCredential>;
  #pendingRun: Promise<ExecCredential> | undefined;
  #wasRejected = false;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ExecCredentialsOptions) {
    this.#options = options;
    this.#lastGood = new LastGood(options.onProblem);
  }

  /** Returns the cached credentials, or runs the plugin. Concurrent callers share one run. */
  current(): Promise<ExecCredential> {
    const { value } = this.#lastGood;
    if (value !== undefined && (this.#isUnexpired(value) || this.#hasRunRecently())) return Promise.resolve(value);
    this.#pendingRun ??= this.#runPlugin().finally(() => {
      this.#pendingRun = undefined;
    });
    return this.#pendingRun;
  }

  markRejected(): void {
    this.#wasRejected = true;
  }

  #isUnexpired({ expiresAt = Number.POSITIVE_INFINITY }: ExecCredential): boolean {
    return !this.#wasRejected && this.#options.clock.now() < expiresAt;
  }

  #hasRunRecently(): boolean {
    return this.#options.clock.monotonic() - this.#startedAt < MIN_INTERVAL_MS;
  }

  async #runPlugin(): Promise<ExecCredential> {
    this.#startedAt = this.#options.clock.monotonic();
    const previousCredential = this.#lastGood.value;
    const credential = await this.#lastGood.read(this.#options.runPlugin);
    this.#wasRejected = false;
    const hasCertificateChanged = previousCredential?.certificatePair?.cert !== credential.certificatePair?.cert;
    if (hasCertificateChanged) this.#options.observer?.certificateChanged(this, readValidity(credential));
    if (hasCertificateChanged && previousCredential !== undefined) this.#options.onRenewed();
    return credential;
  }
}

/**
 * Returns the validity of the certificate, or undefined if it cannot be parsed. In that case, the connection that needs
 * it reports the problem.
 */
function readValidity({ certificatePair }: ExecCredential): ValidityPeriod | undefined {
  if (certificatePair === undefined) return undefined;
  try {
    const { validFromDate, validToDate } = new X509Certificate(certificatePair.cert);
    return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
  } catch {
    return undefined;
  }
}
