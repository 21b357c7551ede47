/** How requests reach an API server: whatever carries them. */

export interface KubeRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** It goes on until it is ended: it takes no place from what is urgent. */
  readonly isWatch?: boolean;
}

export interface KubeResponse {
  readonly code: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body in pieces, as they come. */
  readonly body: AsyncIterable<string>;
}

export interface KubeTransport {
  /** Rejects where there is no answer, and once the signal aborts. */
  send(request: KubeRequest, options: { readonly signal: AbortSignal }): Promise<KubeResponse>;
  /** Gives up the connections there are, with all that goes over them: the next request goes over a new one. */
  reset(): void;
  close(): void;
}
