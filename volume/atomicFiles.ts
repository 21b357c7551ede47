/** Files that change all at once: whoever reads them sees the old set or the new one, never some of each. */
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import type { ProjectedFile } from '../pod/environment/projection.ts';

interface AtomicWrite {
  /** The time, in milliseconds since the epoch: the set is named after it. */
  readonly now: number;
  /** Called when the new set is written and not yet seen. */
  readonly beforeShown: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** The link to the present set. Every file that users see is a link through it, so moving it moves them all. */
const DATA = '..data';
const NEXT = '..data_tmp';
const READABLE = 0o755;

/** Makes a directory show these files and no others; where it shows them already nothing is written. Idempotent. */
export async function showFiles(
  directory: string,
  files: readonly ProjectedFile[],
  { now, beforeShown, signal }: AtomicWrite,
): Promise<void> {
  signal.throwIfAborted();
  const current = await currentSet(directory);
  const isSame = current !== undefined && (await holds(path.join(directory, current), files));
  const shown = isSame ? current : await writeSet(directory, files, now);
  if (!isSame) {
    await beforeShown();
    await rm(path.join(directory, NEXT), { force: true });
    await symlink(shown, path.join(directory, NEXT));
    await rename(path.join(directory, NEXT), path.join(directory, DATA));
  }
  await tidy(directory, shown, files);
}

/** The name of the set that is shown. */
async function currentSet(directory: string): Promise<string | undefined> {
  try {
    return path.basename(await readlink(path.join(directory, DATA)));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function holds(set: string, files: readonly ProjectedFile[]): Promise<boolean> {
  const wanted = new Map(files.map(({ path: file, text }) => [file, text]));
  try {
    const entries = await readdir(set, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => !entry.isDirectory());
    if (found.length !== wanted.size) return false;
    const same = await Promise.all(
      found.map(async ({ parentPath, name }) => {
        const file = path.join(parentPath, name);
        return (await readFile(file, 'utf8')) === wanted.get(path.relative(set, file));
      }),
    );
    return same.every(Boolean);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function writeSet(directory: string, files: readonly ProjectedFile[], now: number): Promise<string> {
  const set = await mkdtemp(path.join(directory, stamp(now)));
  await chmod(set, READABLE);
  for (const { path: file, text, mode } of files) {
    const target = path.join(set, file);
    await mkdir(path.dirname(target), { recursive: true, mode: READABLE });
    await writeFile(target, text);
    await chmod(target, mode);
  }
  return path.basename(set);
}

/** `..2026_11_21_22_36_07.` */
function stamp(now: number): string {
  return `..${new Date(now).toISOString().slice(0, 19).replace(/[-:T]/g, '_')}.`;
}

/** Links what users are to see, takes away what they are not to see any more, and sets that are not shown. */
async function tidy(directory: string, shown: string, files: readonly ProjectedFile[]): Promise<void> {
  const wanted = new Set(files.map(({ path: file }) => file.split('/', 1)[0] ?? file));
  const entries = await readdir(directory, { withFileTypes: true });
  const there = new Set(entries.map(({ name }) => name));
  for (const name of wanted) {
    if (!there.has(name)) await symlink(path.join(DATA, name), path.join(directory, name));
  }
  for (const entry of entries) {
    const isOld = entry.name.startsWith('..')
      ? entry.name !== DATA && entry.name !== shown
      : entry.isSymbolicLink() && !wanted.has(entry.name);
    if (isOld) await rm(path.join(directory, entry.name), { recursive: true, force: true });
  }
}
