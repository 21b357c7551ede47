import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program in the foreground. Returns its exit code, or 128 plus the number of the signal that killed it.
 * Forwards the signals that this process receives to the program.
 */
export async function runForeground(program, args, options) {
  return (await waitForExit(program, args, options)).code;
}

/** Runs one of several steps. A signal that interrupts it also stops this process, so that no further step starts. */
export async function runStep(program, args, options) {
  const { code, interruption } = await waitForExit(program, args, options);
  if (interruption !== undefined) process.exit(128 + constants.signals[interruption]);
  return code;
}

function waitForExit(program, args, options) {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  let lastForwardedSignal;
  const forwardSignal = (signal) => {
    lastForwardedSignal = signal;
    child.kill(signal);
  };
  for (const signal of forwardedSignals) process.on(signal, forwardSignal);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of forwardedSignals) process.off(name, forwardSignal);
      settle({
        code: code ?? 128 + constants.signals[signal],
        interruption: lastForwardedSignal ?? forwardedSignals.find((name) => name === signal),
      });
    });
  });
}
