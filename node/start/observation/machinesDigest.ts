/**
 * Computes a digest that identifies the version of the state machines. The digest is recorded because a recording can
 * be replayed only by the version that wrote it.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirectory } from '../../host/paths.ts';

/** Digest of the bundled sources. The bundler inserts this value. */
declare const STATELET_MACHINES: string | undefined;

/** The sources that determine which transitions actors take and how actors are displayed. */
const SOURCE_PATHS = [
  'base',
  'kubernetes',
  'show',
  'machines',
  'actors/status',
  'actors/node/nodeAgent.ts',
  'actors/boundary.ts',
];
/** Directory of code that only draws the machines. Its files are excluded from the digest. */
const DRAWING_DIRECTORY = 'machines/drawing';
const LIBRARY_MANIFEST = 'node_modules/xstate/package.json';
const DIGEST_LENGTH = 16;

/**
 * Returns the digest that the bundler has inserted. Without a bundle, computes the digest from the sources of this
 * package.
 */
export const machinesDigest = (): string =>
  typeof STATELET_MACHINES === 'undefined' ? digestOfSources(packageDirectory()) : STATELET_MACHINES;

/** Returns the digest of the sources in a directory. */
export function digestOfSources(root: string): string {
  const sha256Hash = createHash('sha256');
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(root, LIBRARY_MANIFEST), 'utf8'));
  sha256Hash.update(`xstate ${version}\n`);
  for (const file of SOURCE_PATHS.flatMap((path) => listFiles(root, path))) {
    sha256Hash.update(`${file}\n`);
    sha256Hash.update(readFileSync(join(root, file)));
  }
  return sha256Hash.digest('hex').slice(0, DIGEST_LENGTH);
}

function listFiles(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  if (path === DRAWING_DIRECTORY) return [];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => listFiles(root, `${path}/${name}`));
}
