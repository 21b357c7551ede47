/** The files of this repository, as the tests see them that hold the code to something. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

export interface Source {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
}

const elsewhere = new Set(['node_modules', 'dist', 'docs', 'coverage', 'cri/generated']);
/** What is not shipped to run. */
const aside = new Set(['test', 'scripts', 'examples']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return elsewhere.has(file) || entry.name.startsWith('.') ? [] : filesBelow(file);
    return /[.](ts|mjs|cjs)$/.test(file) ? [file] : [];
  });
}

/** All of it that is written by hand. */
export const sources: readonly Source[] = filesBelow('').map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8'),
}));

const folderOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined);

/** The folders that the product consists of. */
export const productFolders: readonly string[] = [...new Set(sources.map(({ file }) => folderOf(file)))]
  .filter((folder) => folder !== undefined && !aside.has(folder))
  .map(String)
  .sort();

/** Whether a file is of the product. */
export const isProduct = (file: string): boolean => productFolders.includes(folderOf(file) ?? '');

export const productFiles: readonly Source[] = sources.filter(({ file }) => isProduct(file));
