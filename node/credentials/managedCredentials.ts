import type { SecureContext } from 'node:tls';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';

interface CredentialSources {
  /** Credentials of the managed certificate, whose files are replaced at each renewal. */
  readonly managedSource: CredentialSource;
  /** Credentials of the kubeconfig: tokens and possibly an initial certificate. */
  readonly initialSource: CredentialSource;
  readonly hasInitialCertificate: boolean;
  readonly managedCertificateExists: () => Promise<boolean>;
}

/**
 * Provides the credentials of a node that manages its client certificate. Uses the managed certificate once it exists.
 */
export class ManagedCredentials implements CredentialSource {
  readonly #sources: CredentialSources;
  #hasManagedCertificate = false;

  constructor(sources: CredentialSources) {
    this.#sources = sources;
  }

  async context(): Promise<SecureContext> {
    const { managedSource, initialSource, hasInitialCertificate, managedCertificateExists } = this.#sources;
    this.#hasManagedCertificate ||= await managedCertificateExists();
    if (!this.#hasManagedCertificate && hasInitialCertificate) return initialSource.context();
    // Reject a request without any credentials, because it would be anonymous.
    if (!this.#hasManagedCertificate && (await initialSource.token()) === undefined) throw new Error(NO_CERTIFICATE);
    return this.#hasManagedCertificate ? managedSource.context() : initialSource.context();
  }

  token(): Promise<string | undefined> {
    return this.#sources.initialSource.token();
  }

  handleUnauthorized(): void {
    this.#sources.initialSource.handleUnauthorized();
    if (this.#hasManagedCertificate) this.#sources.managedSource.handleUnauthorized();
  }
}

const NO_CERTIFICATE = 'the node has no client certificate yet; its certificate signing request is pending';
