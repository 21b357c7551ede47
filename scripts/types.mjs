/**
 * Writes the type declarations of the library (index.ts, testing.ts) to dist/types or to the directory passed as the
 * argument, for programs that import the package. Also runs as npm's `prepack` script.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './setup/places.mjs';

const typesDirectory = resolve(process.argv[2] ?? join(root, 'dist/types'));
rmSync(typesDirectory, { recursive: true, force: true });
const tsc = join(root, 'node_modules/.bin/tsc');
// Use a single checker, because several would each infer the shared types again.
const options = ['-p', join(root, 'tsconfig.types.json'), '--checkers', '1', '--outDir', typesDirectory];
const { status, error } = spawnSync(tsc, options, { cwd: root, stdio: 'inherit' });
if (error) throw error;
if (status !== 0) process.exit(status ?? 1);
// Change the extension of imports to that of declarations, because the package does not contain the sources.
for (const name of readdirSync(typesDirectory, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = join(typesDirectory, name);
  const declarationText = readFileSync(file, 'utf8');
  writeFileSync(file, declarationText.replaceAll(/((?:from |import\()['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js'));
}
