/** Writes the drawings to the directory from which the page loads them, unless they are up to date. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Drawing } from '../../inspect/protocol.ts';
import { drawAll } from './all.ts';

/** Files and directories on which the drawings depend. */
const SOURCE_PATHS = [
  'machines',
  'show',
  'scripts/drawings',
  'web/model/chart',
  'docs/conformance.md',
  'package-lock.json',
];

/** Returns the drawings, after regenerating them if a source has changed. */
export async function writeDrawings(root: string, directory: string): Promise<Drawing[]> {
  const digestFile = join(directory, 'digest.txt');
  const sourceDigest = computeDigest(root);
  mkdirSync(directory, { recursive: true });
  if (!existsSync(digestFile) || readFileSync(digestFile, 'utf8') !== sourceDigest) {
    const drawings = await drawAll(root);
    for (const [name, drawing] of drawings) writeFileSync(join(directory, `${name}.json`), JSON.stringify(drawing));
    const staleEntries = readdirSync(directory).filter((name) => !drawings.has(name.replace(/[.]json$/, '')));
    for (const name of staleEntries) rmSync(join(directory, name), { recursive: true, force: true });
    writeFileSync(digestFile, sourceDigest);
  }
  const fileNames = readdirSync(directory).filter((name) => name.endsWith('.json'));
  // Safe cast: this build or one with the same sources wrote the files.
  return fileNames.toSorted().map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Drawing);
}

function computeDigest(root: string): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const entries = path.includes('.') ? undefined : readdirSync(join(root, path), { withFileTypes: true });
    if (entries === undefined) hash.update(path).update(readFileSync(join(root, path)));
    else
      for (const { name } of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1)))
        add(`${path}/${name}`);
  };
  for (const path of SOURCE_PATHS) add(path);
  return hash.digest('hex');
}
