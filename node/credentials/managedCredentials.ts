import type { SecureContext } from 'node:tls';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';

interface Sources {
  /** Credentials of the managed certificate, whose files are replaced at each renewal. */
  readonly managed: CredentialSource;
  /** Credentials of the kubeconfig: tokens and possibly an initial certificate. */
  readonly initial: CredentialSource;
  readonly hasInitialCertificate: boolean;
  /** Returns whether the managed certificate exists. */
  readonly exists: () => Promise<boolean>;
}

/**
 * Provides the credentials of a node that manages its client certificate. Uses the managed certificate once it exists.
 */
export class ManagedCredentials implements CredentialSource {
  readonly #sources: Sources;
  #exists = false;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  async context(): Promise<SecureContext> {
    const { managed, initial, hasInitialCertificate, exists } = this.#sources;
    this.#exists ||= await exists();
    if (!this.#exists && hasInitialCertificate) return initial.context();
    // Without any credentials, the request would be anonymous.
    if (!this.#exists && (await initial.token()) === undefined) throw new Error(NO_CERTIFICATE);
    return this.#exists ? managed.context() : initial.context();
  }

  token(): Promise<string | undefined> {
    return this.#sources.initial.token();
  }

  handleUnauthorized(): void {
    this.#sources.initial.handleUnauthorized();
    if (this.#exists) this.#sources.managed.handleUnauthorized();
  }
}

const NO_CERTIFICATE = 'the node has no client certificate yet; its certificate signing request is pending';
