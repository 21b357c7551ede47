import type { TimerClock } from '../../../base/time/clock.ts';
import type { Behaviour } from '../commands/behaviour.ts';

/** Exit of a process in the form that the CRI reports. */
export interface Exit {
  readonly exitCode: number;
  readonly reason: string;
}

/** A running process. It exits on its own, on a signal, or when a test calls `exit`. */
export interface Process {
  readonly signal: (name: 'SIGTERM' | 'SIGKILL') => void;
  readonly exit: (exit: Exit) => void;
}

/** Returns an exit with the given code and the corresponding reason, `Completed` or `Error`. */
export function createExit(exitCode: number): Exit {
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

/** Starts a process. `onExit` is called when it exits. */
export function startProcess(clock: TimerClock, behaviour: Behaviour, onExit: (exit: Exit) => void): Process {
  let hasExited = false;
  let isTerminating = false;
  let timer: unknown;
  const exitProcess = (exit: Exit) => {
    if (hasExited) return;
    hasExited = true;
    if (timer !== undefined) clock.clearTimeout(timer);
    onExit(exit);
  };
  const scheduleExit = (ms: number, exit: Exit) => {
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = clock.setTimeout(() => exitProcess(exit), ms);
  };
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (name === 'SIGKILL') return exitProcess(createExit(137));
    if (behaviour.ignoresSigterm || isTerminating || hasExited) return;
    isTerminating = true;
    const signalExit = createExit(behaviour.termExitCode ?? 143);
    if (behaviour.termAfterMs === undefined) exitProcess(signalExit);
    else scheduleExit(behaviour.termAfterMs, signalExit);
  };
  if (behaviour.exitAfterMs !== undefined) scheduleExit(behaviour.exitAfterMs, plannedExit(behaviour));
  return { signal, exit: exitProcess };
}

function plannedExit({ oom, exitCode }: Behaviour): Exit {
  return oom ? { exitCode: 137, reason: 'OOMKilled' } : createExit(exitCode ?? 0);
}
