import type { Duplex } from 'node:stream';

/** A command or a process of a simulated container, as it is served to whoever comes to its URL. */
export interface SimulatedCommand {
  readonly kind: 'exec' | 'attach';
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /** What it says and how it ends; undefined: it says what it is told, and ends with that. */
  readonly answer: ExecAnswer | undefined;
  /** Resolves when the container has ended. */
  readonly ended: Promise<void>;
}

/** The ports of a simulated pod. */
export interface SimulatedPorts {
  readonly kind: 'portForward';
  /** A connection to one of its ports; undefined: nobody listens there. */
  readonly dial: (port: number) => Duplex | undefined;
  /** Resolves when the sandbox is stopped or the runtime is gone; absent: that is not known. */
  readonly ended?: Promise<void>;
}

export type SimulatedStream = SimulatedCommand | SimulatedPorts;

/** What serves the streams of a simulated runtime: gives the URL of one. */
export type ServeStream = (stream: SimulatedStream) => Promise<string>;

/** What a command in a container answers. */
export interface ExecAnswer {
  /** 0 when absent. */
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Milliseconds that it runs; none when absent. */
  readonly afterMs?: number;
}
