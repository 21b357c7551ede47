/** Where an API server is, and as whom it is asked. */

/** Certificates and key, in PEM. */
export interface KubeCredentials {
  /** Of whom the server's certificate has to be; absent: of whom the host trusts. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
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
  /** As they are now: files may have changed. */
  pems(): Promise<KubeCredentials>;
  /** What each request bears; undefined: nothing. */
  token(): Promise<string | undefined>;
  /** Whoever bore the last token was not known by it: the next one is read anew. */
  refused(): void;
}
