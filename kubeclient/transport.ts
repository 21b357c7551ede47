export interface KubeRequest {
  readonly method: string;
  /** Path including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether the request is a watch, which stays open for a long time and must leave streams for other requests. */
  readonly isWatch?: boolean;
}

export interface KubeResponse {
  readonly code: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Chunks of the body as they arrive. */
  readonly body: AsyncIterable<string>;
}

export interface KubeTransport {
  /** Sends a request. Rejects if there is no response or when the signal aborts. */
  send(request: KubeRequest, options: { readonly signal: AbortSignal }): Promise<KubeResponse>;
  /** Closes all connections and fails the requests on them. The next request uses a new connection. */
  reset(): void;
  close(): void;
}
