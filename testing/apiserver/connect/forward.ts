/** Requests that the server forwards to a node. */

/** The addresses of a node's kubelet, according to the Node object. */
export interface NodeAddress {
  readonly name: string;
  /** Keyed by type, e.g. `InternalIP`. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly port: number;
  /** Whether the node accepts the WebSocket subprotocols of clients (`ExtendWebSocketsToKubelet`). */
  readonly speaksWebSockets: boolean;
}

/** The streams that a command requests. */
export interface ForwardedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface Forward {
  readonly kind: 'exec' | 'attach' | 'portforward' | 'log' | 'proxy';
  readonly node: NodeAddress;
  /** Path and query at the node. */
  readonly path: string;
  /** The streams of exec and attach. */
  readonly streams?: ForwardedStreams;
  /** The pod of a log request, for error messages. */
  readonly pod?: string;
}
