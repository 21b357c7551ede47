/** Address of an API server and the credentials for it. */
import type { SecureContext } from 'node:tls';

/**
 * Source of credentials, e.g. files or a certificate that the agent renews. Each call has its own time limit, and
 * concurrent callers can share a call. A call rejects only if there have never been valid credentials.
 */
export interface CredentialSource {
  /** Returns the current CA certificates and client certificate for a new connection. */
  context(): Promise<SecureContext>;
  /** Returns the bearer token, or undefined if there is none. */
  token(): Promise<string | undefined>;
  /** Reports that the server rejected the last token, so that the next call to `token` reads the token again. */
  handleUnauthorized(): void;
}

export interface KubeEndpoint {
  /** Scheme, host and port of the server, as `https://host:port`. */
  readonly origin: string;
  /** Prefix of all paths. Empty, or of the form `/prefix`. */
  readonly basePath: string;
  /** Name in the server's certificate, if it differs from the host. */
  readonly serverName?: string;
  /** Whether verification of the server's certificate is disabled. */
  readonly isInsecure: boolean;
  /** URL of the proxy to the server. It may contain a password. Undefined for a direct connection. */
  readonly proxy?: URL;
  /** Headers to send with each request in addition to the token, e.g. for impersonation or basic authentication. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly credentials: CredentialSource;
}
