/** Where a connection goes. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Over TLS, whatever certificate is shown. */
  readonly isSecure: boolean;
}

/** Told what becomes of a connection, until that is destroyed: never before it is returned. */
export interface ConnectionListener {
  readonly onConnect?: () => void;
  readonly onData?: (chunk: Buffer) => void;
  /** Nothing comes any more. */
  readonly onEnd?: () => void;
  readonly onError: (error: unknown) => void;
}

export interface Connection {
  write(text: string): unknown;
  destroy(): unknown;
}

/** A service of a server that speaks the health protocol of gRPC. */
export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  readonly service: string;
}

/** What came of asking for health: a status of the protocol, an error of gRPC, or nothing in time. */
export type HealthAnswer =
  | { readonly served: number }
  | { readonly code: number; readonly details: string }
  | 'unconnected'
  | 'incomplete';

export interface HealthOptions {
  /** When the time is over, in milliseconds since the epoch; infinite when only the signal ends it. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** What a fetch is answered with. */
export interface FetchedAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

export interface FetchOptions {
  readonly headers: [name: string, value: string][];
  readonly signal: AbortSignal;
}

/** What probes and hooks of containers dial, and the sources of pods: the host's network, or a model of it. */
export interface Network {
  connect(endpoint: Endpoint, listener: ConnectionListener): Connection;
  checkHealth(target: GrpcTarget, options: HealthOptions): Promise<HealthAnswer>;
  /** Asks a URL; rejects as `fetch` does, with the cause. */
  fetch(url: string, options: FetchOptions): Promise<FetchedAnswer>;
}
