/**
 * Computes a digest that identifies a version of the state machines, because a recording can be replayed only by the
 * same version.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirectory } from '../host/paths.ts';

/** Digest of the bundled sources, which the bundler inserts. */
declare const STATELET_MACHINES: string | undefined;

/** The sources that determine which transitions actors take and how actors are displayed. */
const SOURCES = [
  'base',
  'kubernetes',
  'show',
  'machines',
  'actors/status',
  'actors/node/nodeAgent.ts',
  'actors/boundary.ts',
];
/** Directory of code that only draws the machines. Its files are excluded from the digest. */
const DRAWING = 'machines/drawing';
const LIBRARY = 'node_modules/xstate/package.json';
const LENGTH = 16;

/** Returns the digest of the machines of this program. */
export const machinesDigest = (): string =>
  typeof STATELET_MACHINES === 'undefined' ? digestOfSources(packageDirectory()) : STATELET_MACHINES;

/** Returns the digest of the sources in a directory. */
export function digestOfSources(root: string): string {
  const hash = createHash('sha256');
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(root, LIBRARY), 'utf8'));
  hash.update(`xstate ${version}\n`);
  for (const file of SOURCES.flatMap((path) => listFiles(root, path))) {
    hash.update(`${file}\n`);
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, LENGTH);
}

function listFiles(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  if (path === DRAWING) return [];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => listFiles(root, `${path}/${name}`));
}
