import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { node24, printProgress, root } from './places.mjs';
import { runStep } from './runForeground.mjs';

const distDirectory = join(root, 'dist');

/** Rebuilds the bundle if a source file is newer than the bundle. */
export async function bundle() {
  if (isFresh()) return;
  printProgress('building the bundle');
  const exitCode = await runStep(node24, [join(root, 'scripts/build.mjs')], { stdio: ['ignore', 2, 2] });
  if (exitCode !== 0) process.exit(exitCode);
}

function isFresh() {
  const inputsFile = join(distDirectory, 'inputs.json');
  if (!existsSync(inputsFile)) return false;
  const builtAt = statSync(inputsFile).mtimeMs;
  return JSON.parse(readFileSync(inputsFile, 'utf8')).every((input) => {
    const stats = statSync(join(root, input), { throwIfNoEntry: false });
    return stats !== undefined && stats.mtimeMs < builtAt;
  });
}
