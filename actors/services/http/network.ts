export interface NetworkEndpoint {
  readonly host: string;
  readonly port: number;
  /** Whether to use TLS. Any certificate is accepted. */
  readonly isSecure: boolean;
}

/** Receives the events of a connection until it is destroyed. Never called before `connect` has returned. */
export interface ConnectionListener {
  readonly onConnect?: () => void;
  readonly onData?: (chunk: Buffer) => void;
  /** Called when the server closes its side. */
  readonly onEnd?: () => void;
  readonly onError: (error: unknown) => void;
}

export interface NetworkConnection {
  write(text: string): unknown;
  destroy(): unknown;
}

/** A service of a server that implements the gRPC health protocol. */
export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  readonly service: string;
}

/** The outcome of a health check: a serving status, a gRPC error, or a timeout before or after connecting. */
export type HealthResult =
  | { readonly served: number }
  | { readonly code: number; readonly details: string }
  | 'unconnected'
  | 'incomplete';

export interface HealthOptions {
  /** Deadline in milliseconds since the epoch. Infinite if only the signal ends the check. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly statusText: string;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

export interface FetchOptions {
  readonly headers: [name: string, value: string][];
  readonly signal: AbortSignal;
}

/** The network over which probes, hooks and pod sources connect: the host's network or a simulation. */
export interface Network {
  connect(endpoint: NetworkEndpoint, listener: ConnectionListener): NetworkConnection;
  checkHealth(target: GrpcTarget, options: HealthOptions): Promise<HealthResult>;
  /** Fetches a URL. Like the global `fetch`, rejects with an error that has a cause. */
  fetch(url: string, options: FetchOptions): Promise<FetchResponse>;
}
