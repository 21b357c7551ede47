/** What a simulated container does once it is started. An empty one runs until it is stopped. */
export interface Behaviour {
  /** Milliseconds after its start at which it ends by itself; absent: never. */
  readonly exitAfterMs?: number;
  /** The exit code of its own end; 0 when absent. */
  readonly exitCode?: number;
  /** Its own end is the kernel's doing: 137, OOMKilled. */
  readonly oom?: boolean;
  /** Only SIGKILL ends it. */
  readonly ignoresSigterm?: boolean;
  /** The exit code that it ends with on SIGTERM; 143 when absent. */
  readonly termExitCode?: number;
  /** Milliseconds that it takes to end on SIGTERM; at once when absent. */
  readonly termAfterMs?: number;
  /** Why it cannot be started at all, as the OCI runtime says it. */
  readonly startError?: string;
}

/** The run of a container whose behaviour is asked for. */
export interface Run {
  readonly image: string;
  readonly podName: string;
  readonly podUid: string;
  readonly container: string;
  readonly attempt: number;
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/** One behaviour for all runs, or one for each; undefined leaves it to the command. */
export type BehaviourSource = Behaviour | ((run: Run) => Behaviour | undefined);
