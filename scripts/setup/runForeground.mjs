import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program on our terminal to its end and gives its exit code (128 + the signal that killed it). A signal that
 * we get is passed on; the terminal's Ctrl-C reaches it without us as well.
 */
export async function runForeground(program, args, options) {
  return (await endOf(program, args, options)).code;
}

/** Runs one step of several likewise. What interrupts it ends us too, whatever it makes of that: no next one begins. */
export async function runStep(program, args, options) {
  const { code, interruption } = await endOf(program, args, options);
  if (interruption !== undefined) process.exit(128 + constants.signals[interruption]);
  return code;
}

function endOf(program, args, options) {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  let passedOn;
  const passOn = (signal) => {
    passedOn = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of signals) process.off(name, passOn);
      settle({
        code: code ?? 128 + constants.signals[signal],
        interruption: passedOn ?? signals.find((name) => name === signal),
      });
    });
  });
}
