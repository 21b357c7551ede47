#!/usr/bin/env node
/** The command `statelet`, by whatever Node it is started: it runs on the Node that the package brings along. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const root = dirname(import.meta.dirname);

/**
 * A node agent works little and in bursts: only what is truly hot is compiled to machine code. V8 keeps compiled code by
 * its flags, so what the daemon needs later (`--expose-gc`) is set at once.
 */
const flags = ['--expose-gc', '--invocation-count-for-maglev=12000', '--invocation-count-for-turbofan=90000'];

/**
 * The room for young objects grows only while it starts, where that saves a tenth of the time. Without this, and with all
 * that is called often compiled to machine code, 50 pods would take a third more memory.
 */
const frugality = '--semi-space-growth-factor=1';

/** What `run` and `up` start is one bundle whose compiled code is kept; the other commands load only what they need. */
async function start() {
  const directory = join(root, 'dist/compiled');
  const daemon = join(root, 'dist/daemon.js');
  const beFrugal = () => setFlagsFromString(frugality);
  if (['run', 'up'].includes(process.argv[2] ?? '') && existsSync(daemon)) {
    const { runKept } = await import('./keptCode.mjs');
    return runKept(daemon, { directory, onKept: beFrugal });
  }
  beFrugal();
  module.enableCompileCache(directory);
  const bundle = join(root, 'dist/statelet.mjs');
  await import(existsSync(bundle) ? bundle : join(root, 'cli/main.ts'));
}

if (Number.parseInt(process.versions.node, 10) >= 24) {
  for (const flag of flags) setFlagsFromString(flag);
  await start();
} else {
  // As a dependency it may lie beside this package.
  const node24 = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin/node');
  const child = spawn(node24, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
