/**
 * Writes the types of the library, index.ts and testing.ts with all that they name, for programs that import the package: into
 * dist/types, or the directory that the argument names. Also npm's `prepack`.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './setup/places.mjs';

const directory = resolve(process.argv[2] ?? join(root, 'dist/types'));
rmSync(directory, { recursive: true, force: true });
const tsc = join(root, 'node_modules/.bin/tsc');
const options = ['-p', join(root, 'tsconfig.types.json'), '--outDir', directory];
const { status, error } = spawnSync(tsc, options, { cwd: root, stdio: 'inherit' });
if (error) throw error;
if (status !== 0) process.exit(status ?? 1);
// Beside a declaration there is no source: './pod.ts' would be looked for in vain.
for (const name of readdirSync(directory, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = join(directory, name);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/((?:from |import\()['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js'));
}
