/** Tells versions of the machines apart: what one of them has recorded, another cannot play. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirectory } from '../host/places.ts';

/** In a bundle that of the sources that it was made of. */
declare const STATELET_MACHINES: string | undefined;

/** What decides which ways actors take, and what is told of them; and who runs them. */
const SOURCES = [
  'base',
  'kubernetes',
  'show',
  'machines',
  'actors/status',
  'actors/node/nodeAgent.ts',
  'actors/boundary.ts',
];
/** Only shows them. */
const DRAWING = 'machines/drawing';
const LIBRARY = 'node_modules/xstate/package.json';
const LENGTH = 16;

/** The digest of the machines of this program. */
export const machinesDigest = (): string =>
  typeof STATELET_MACHINES === 'undefined' ? digestOfSources(packageDirectory()) : STATELET_MACHINES;

/** That of the sources in a directory. */
export function digestOfSources(root: string): string {
  const hash = createHash('sha256');
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(root, LIBRARY), 'utf8'));
  hash.update(`xstate ${version}\n`);
  for (const file of SOURCES.flatMap((path) => filesAt(root, path))) {
    hash.update(`${file}\n`);
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, LENGTH);
}

function filesAt(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  if (path === DRAWING) return [];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesAt(root, `${path}/${name}`));
}
