/** The credentials of a node that keeps its client certificate itself: that one, once it is there. */
import type { SecureContext } from 'node:tls';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';

interface Sources {
  /** Of the files that are written whenever there is another certificate. */
  readonly kept: CredentialSource;
  /** What the kubeconfig has beside: tokens, and perhaps a certificate to begin with. */
  readonly own: CredentialSource;
  readonly hasOwnCertificate: boolean;
  /** Whether there is one in the files. */
  readonly isThere: () => Promise<boolean>;
}

export class KeptCredentials implements CredentialSource {
  readonly #sources: Sources;
  #isThere = false;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  async context(): Promise<SecureContext> {
    const { kept, own, hasOwnCertificate, isThere } = this.#sources;
    this.#isThere ||= await isThere();
    if (!this.#isThere && hasOwnCertificate) return own.context();
    // Nobody would be asked for anything by the name of nobody.
    if (!this.#isThere && (await own.token()) === undefined) throw new Error(NONE_YET);
    return this.#isThere ? kept.context() : own.context();
  }

  token(): Promise<string | undefined> {
    return this.#sources.own.token();
  }

  handleUnauthorized(): void {
    this.#sources.own.handleUnauthorized();
    if (this.#isThere) this.#sources.kept.handleUnauthorized();
  }
}

const NONE_YET = 'the node has no client certificate yet: its request for one is under way';
