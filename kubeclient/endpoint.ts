/** Where an API server is, and as whom it is asked. */
import type { SecureContext } from 'node:tls';

/**
 * Where credentials come from: files, or whatever renews them. Each call is bounded by itself, and may be waited for by many;
 * it rejects only where nothing good has ever been had.
 */
export interface CredentialSource {
  /** Whom a new connection trusts, and the certificate that it shows: as they are now. */
  context(): Promise<SecureContext>;
  /** What each request bears; undefined: nothing. */
  token(): Promise<string | undefined>;
  /** Whoever bore the last token was not known by it: the next one is read anew. */
  refused(): void;
}

export interface KubeEndpoint {
  /** `https://host:port` */
  readonly origin: string;
  /** What stands before every path; empty, or `/prefix`. */
  readonly basePath: string;
  /** The name in the server's certificate, where it is another than the host's. */
  readonly serverName?: string;
  /** The server's certificate is not checked. */
  readonly isInsecure: boolean;
  /** Through which it is reached; absent: by itself. It may hold a password. */
  readonly proxy?: URL;
  /** What each request bears beside a token: for whom it is made, or a user with a password. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly credentials: CredentialSource;
}
