/** Behaviour of a simulated container after its start. Without any fields, the container runs until it is stopped. */
export interface Behaviour {
  /** Milliseconds from the start until the container exits. Undefined if it does not exit on its own. */
  readonly exitAfterMs?: number;
  /** Exit code after `exitAfterMs`. Defaults to 0. */
  readonly exitCode?: number;
  /** Whether the exit after `exitAfterMs` is an OOM kill (137, OOMKilled). */
  readonly oom?: boolean;
  /** Whether only SIGKILL terminates the container. */
  readonly ignoresSigterm?: boolean;
  /** Exit code after SIGTERM. Defaults to 143. */
  readonly termExitCode?: number;
  /** Milliseconds from SIGTERM to the exit. Defaults to 0. */
  readonly termAfterMs?: number;
  /** OCI runtime error with which every start fails. Undefined if starts succeed. */
  readonly startError?: string;
}

/** The run of a container for which a behaviour is requested. */
export interface ContainerRun {
  readonly image: string;
  readonly podName: string;
  readonly podUid: string;
  readonly container: string;
  readonly attempt: number;
  readonly command: readonly string[];
  readonly args: readonly string[];
}

/**
 * One behaviour for all runs, or a function that returns the behaviour of a run. Undefined means that the command
 * determines the behaviour.
 */
export type BehaviourSource = Behaviour | ((run: ContainerRun) => Behaviour | undefined);
