import type { Behaviour } from './behaviour.ts';
import type { Clock } from './clock.ts';

/** How a process ended, as the CRI reports it. */
export interface Exit {
  readonly exitCode: number;
  readonly reason: string;
}

/** A process that runs: it ends once, by itself, by a signal, or by a test's hand. */
export interface Process {
  readonly signal: (name: 'SIGTERM' | 'SIGKILL') => void;
  readonly end: (exit: Exit) => void;
}

/** The exit with this code. */
export function exitWith(exitCode: number): Exit {
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

/** Starts a process that behaves as told; `onExit` is called when it has ended. */
export function startProcess(clock: Clock, behaviour: Behaviour, onExit: (exit: Exit) => void): Process {
  let ended = false;
  let terminating = false;
  let timer: unknown;
  const end = (exit: Exit) => {
    if (ended) return;
    ended = true;
    if (timer !== undefined) clock.clearTimeout(timer);
    onExit(exit);
  };
  const endAfter = (ms: number, exit: Exit) => {
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = clock.setTimeout(() => end(exit), ms);
  };
  const signal = (name: 'SIGTERM' | 'SIGKILL') => {
    if (name === 'SIGKILL') return end(exitWith(137));
    if (behaviour.ignoresSigterm || terminating || ended) return;
    terminating = true;
    const exit = exitWith(behaviour.termExitCode ?? 143);
    if (behaviour.termAfterMs === undefined) end(exit);
    else endAfter(behaviour.termAfterMs, exit);
  };
  if (behaviour.exitAfterMs !== undefined) endAfter(behaviour.exitAfterMs, ownEnd(behaviour));
  return { signal, end };
}

function ownEnd({ oom, exitCode }: Behaviour): Exit {
  return oom ? { exitCode: 137, reason: 'OOMKilled' } : exitWith(exitCode ?? 0);
}
