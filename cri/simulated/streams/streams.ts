import type { Duplex } from 'node:stream';

/** A command or the main process of a simulated container. It is served to the client that connects to its URL. */
export interface SimulatedCommand {
  readonly kind: 'exec' | 'attach';
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /**
   * Result of the command. If undefined, the command copies its input to its output and exits at the end of the input.
   */
  readonly result: ExecResult | undefined;
  /** Resolves when the container exits. */
  readonly ended: Promise<void>;
}

export interface SimulatedPorts {
  readonly kind: 'portForward';
  /** Connects to a port. Returns undefined if the port is closed. */
  readonly dial: (port: number) => Duplex | undefined;
  /** Resolves when the sandbox is stopped or the runtime goes down. Undefined if neither is reported. */
  readonly ended?: Promise<void>;
}

export type SimulatedStream = SimulatedCommand | SimulatedPorts;

/** Serves a stream of the simulated runtime and returns its URL. */
export type ServeStream = (stream: SimulatedStream) => Promise<string>;

export interface ExecResult {
  /** Exit code of the command. Defaults to 0. */
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Duration of the command in milliseconds. Defaults to 0. */
  readonly afterMs?: number;
}
