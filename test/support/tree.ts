/** The source files of this repository, for the tests that enforce rules on the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

export interface Source {
  /** Path relative to the root of the repository. */
  readonly file: string;
  readonly text: string;
}

const excluded = new Set(['node_modules', 'dist', 'docs', 'coverage', 'cri/generated']);
/** Top-level directories that are not shipped. */
const notShipped = new Set(['test', 'scripts', 'examples']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return excluded.has(file) || entry.name.startsWith('.') ? [] : filesBelow(file);
    return /[.](ts|mjs|cjs)$/.test(file) ? [file] : [];
  });
}

/** All source files that are written by hand. */
export const sources: readonly Source[] = filesBelow('').map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8'),
}));

const folderOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined);

/** Top-level directories that make up the product. */
export const productFolders: readonly string[] = [...new Set(sources.map(({ file }) => folderOf(file)))]
  .filter((folder) => folder !== undefined && !notShipped.has(folder))
  .map(String)
  .sort();

/** Whether a file belongs to the product. */
export const isProduct = (file: string): boolean => productFolders.includes(folderOf(file) ?? '');

export const productFiles: readonly Source[] = sources.filter(({ file }) => isProduct(file));
