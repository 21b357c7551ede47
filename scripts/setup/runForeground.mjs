import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a program on our terminal to its end and gives its exit code (128 + the signal that killed it). A signal that
 * we get is passed on; the terminal's Ctrl-C reaches it without us as well.
 */
export function runForeground(program, args, options = {}) {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  const passOn = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of signals) process.off(name, passOn);
      settle(code ?? 128 + constants.signals[signal]);
    });
  });
}
