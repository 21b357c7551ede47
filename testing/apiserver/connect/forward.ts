/** What a server passes on to a node instead of answering itself. */

/** Where a node's server is, as far as its object says. */
export interface NodePlace {
  readonly name: string;
  /** By their types, as `InternalIP`. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly port: number;
  /** Whether it understands itself what clients speak over WebSockets (`ExtendWebSocketsToKubelet`). */
  readonly speaksWebSockets: boolean;
}

/** What a client wants of a command. */
export interface ForwardedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface Forward {
  readonly kind: 'exec' | 'attach' | 'portforward' | 'log' | 'proxy';
  readonly node: NodePlace;
  /** Path and query at the node. */
  readonly path: string;
  /** Of a command. */
  readonly streams?: ForwardedStreams;
  /** Of whose log, for what goes wrong with it. */
  readonly pod?: string;
}
