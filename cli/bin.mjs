/** Entry point that `statelet.sh` runs on the package's Node.js. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const root = dirname(import.meta.dirname);

/**
 * V8 flags with which V8 compiles only hot functions to machine code, because a node agent is mostly idle. TurboFan is
 * disabled, because Maglev suffices and TurboFan costs 5 MiB as soon as it compiles a single function.
 */
const optimizationFlags = ['--invocation-count-for-maglev=12000', '--no-turbofan'];

/**
 * V8 flags that discard baseline code that did not run between two garbage collections, which saves 2.5 MiB with 50
 * pods. Baseline code is quickly recompiled from bytecode. Bytecode is retained, because recreating it needs the parser
 * and would delay the next pod.
 */
const codeFlushFlags = ['--flush-baseline-code', '--bytecode-old-age=2', '--no-flush-bytecode'];

/**
 * V8 flag that prevents the young generation from growing. A daemon sets it only after startup, because startup is 10%
 * faster with a growing young generation. During bursts, the daemon raises the factor again
 * (node/start/observation/releaseWhenQuiet.ts). Without this flag and `optimizationFlags`, 50 pods would use a third
 * more memory.
 */
const heapGrowthFlag = '--semi-space-growth-factor=1';

/**
 * Runs the daemon commands from one bundle with cached machine code. Other commands load only the modules that they
 * need.
 */
async function start() {
  const directory = join(root, 'dist/compiled');
  const daemon = join(root, 'dist/daemon.js');
  const limitHeapGrowth = () => setFlagsFromString(heapGrowthFlag);
  if (['run', 'up'].includes(process.argv[2] ?? '') && existsSync(daemon)) {
    const { runCompiled } = await import('./compileCache.mjs');
    return runCompiled(daemon, { directory, onSaved: limitHeapGrowth });
  }
  limitHeapGrowth();
  module.enableCompileCache(directory);
  const bundle = join(root, 'dist/statelet.mjs');
  await import(existsSync(bundle) ? bundle : join(root, 'cli/main.ts'));
}

// Environment variables that `statelet.sh` sets for this process only, so child processes must not inherit them.
const allocatorVariables = ['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TOP_PAD_'];
for (const name of allocatorVariables) delete process.env[name];
for (const flag of [...optimizationFlags, ...codeFlushFlags]) setFlagsFromString(flag);
await start();
