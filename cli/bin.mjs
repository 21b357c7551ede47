/** What `statelet.sh` runs on the Node.js of the package. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const root = dirname(import.meta.dirname);

/**
 * Only truly hot functions are compiled to machine code, because a node agent works little and in bursts. TurboFan is off,
 * because its own code takes 5 MiB as soon as it compiles one function, and Maglev suffices.
 */
const flags = ['--invocation-count-for-maglev=12000', '--no-turbofan'];

/**
 * Baseline code is made of bytecode in no time: an idle agent gives back what has not run between two collections, 2.5 MiB
 * with 50 pods. Bytecode stays: that takes the parser, and the next pod would wait for it.
 */
const forgetfulness = ['--flush-baseline-code', '--bytecode-old-age=2', '--no-flush-bytecode'];

/**
 * The room for young objects grows only while it starts, where that saves a tenth of the time, and during bursts
 * (node/start/quietRelease.ts). Without this, and with all that is called often compiled to machine code, 50 pods would take a
 * third more memory.
 */
const frugality = '--semi-space-growth-factor=1';

/** What `run` and `up` start is one bundle whose compiled code is kept; the other commands load only what they need. */
async function start() {
  const directory = join(root, 'dist/compiled');
  const daemon = join(root, 'dist/daemon.js');
  const beFrugal = () => setFlagsFromString(frugality);
  if (['run', 'up'].includes(process.argv[2] ?? '') && existsSync(daemon)) {
    const { runCompiled } = await import('./compileCache.mjs');
    return runCompiled(daemon, { directory, onSaved: beFrugal });
  }
  beFrugal();
  module.enableCompileCache(directory);
  const bundle = join(root, 'dist/statelet.mjs');
  await import(existsSync(bundle) ? bundle : join(root, 'cli/main.ts'));
}

// They are meant for this process, not for those that it starts.
const ofMemory = ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TOP_PAD_'];
for (const name of ofMemory) delete process.env[name];
for (const flag of [...flags, ...forgetfulness]) setFlagsFromString(flag);
await start();
