#!/usr/bin/env node
/** The command `statelet`, by whatever Node it is started: it runs on the Node that the package brings along. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const root = dirname(import.meta.dirname);

if (Number.parseInt(process.versions.node, 10) >= 24) {
  // A burst of pods leaves much behind for the garbage collector: it is to give the memory back rather than to keep it.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
  const bundle = join(root, 'dist/statelet.mjs');
  await import(existsSync(bundle) ? bundle : join(root, 'cli/main.ts'));
} else {
  // As a dependency it may lie beside this package.
  const node24 = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin/node');
  const child = spawn(node24, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
