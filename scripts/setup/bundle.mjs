import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { node24, root, say } from './places.mjs';
import { runStep } from './runForeground.mjs';

const dist = join(root, 'dist');

/** Rebuilds the bundle if a source file is newer. */
export async function bundle() {
  if (isFresh()) return;
  say('building the bundle');
  const code = await runStep(node24, [join(root, 'scripts/build.mjs')], { stdio: ['ignore', 2, 2] });
  if (code !== 0) process.exit(code);
}

function isFresh() {
  const inputs = join(dist, 'inputs.json');
  if (!existsSync(inputs)) return false;
  const builtAt = statSync(inputs).mtimeMs;
  return JSON.parse(readFileSync(inputs, 'utf8')).every((input) => {
    const stats = statSync(join(root, input), { throwIfNoEntry: false });
    return stats !== undefined && stats.mtimeMs < builtAt;
  });
}
