/** Files that change all at once: whoever reads them sees the old set or the new one, never some of each. */
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import type { ProjectedFile } from '../kubernetes/environment/projection.ts';

interface AtomicWrite {
  /** These files, and no others. */
  readonly shown: readonly ProjectedFile[];
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
const OWNER = 0o700;

/** Makes a directory show files; where it shows them already nothing is written. Idempotent. */
export async function showFiles(
  files: FileSystem,
  directory: string,
  { shown: wanted, now, beforeShown, signal }: AtomicWrite,
): Promise<void> {
  signal.throwIfAborted();
  const current = await currentSet(files, directory);
  const isSame = current !== undefined && (await holds(files, path.join(directory, current), wanted));
  const shown = isSame ? current : await writeSet(files, directory, { shown: wanted, now });
  if (!isSame) {
    await beforeShown();
    await files.rm(path.join(directory, NEXT), { force: true });
    await files.symlink(shown, path.join(directory, NEXT));
    await files.rename(path.join(directory, NEXT), path.join(directory, DATA));
  }
  await tidy(files, directory, { set: shown, shown: wanted });
}

/** The name of the set that is shown. */
async function currentSet(files: FileSystem, directory: string): Promise<string | undefined> {
  try {
    return path.basename(await files.readlink(path.join(directory, DATA)));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function holds(files: FileSystem, set: string, shown: readonly ProjectedFile[]): Promise<boolean> {
  const wanted = new Map(shown.map(({ path: file, data }) => [path.join(set, file), data]));
  try {
    const found = await filesBelow(files, set);
    if (found.length !== wanted.size) return false;
    const same = await Promise.all(
      found.map(async (file) => {
        const data = wanted.get(file);
        return data?.equals(await bytesIn(files, file));
      }),
    );
    return same.every(Boolean);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function bytesIn(files: FileSystem, file: string): Promise<Buffer> {
  const opened = await files.open(file, 'r');
  try {
    return await opened.readFile();
  } finally {
    await opened.close();
  }
}

async function filesBelow(files: FileSystem, directory: string): Promise<readonly string[]> {
  const entries = await files.entries(directory);
  const found = entries.map(async (entry) => {
    const file = path.join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(files, file) : [file];
  });
  return (await Promise.all(found)).flat();
}

async function writeSet(
  files: FileSystem,
  directory: string,
  { shown, now }: Pick<AtomicWrite, 'shown' | 'now'>,
): Promise<string> {
  const set = await files.mkdtemp(path.join(directory, stamp(now)));
  await files.chmod(set, READABLE);
  for (const { path: file, data, mode, owner } of shown) {
    const target = path.join(set, file);
    await files.mkdir(path.dirname(target), { recursive: true, mode: READABLE });
    // Nobody else reads it before it has its rights.
    await files.writeFile(target, data, { mode: mode & OWNER });
    await files.chmod(target, mode);
    if (owner !== undefined) await files.lchown(target, owner, -1);
  }
  return path.basename(set);
}

/** `..2026_11_21_22_36_07.` */
function stamp(now: number): string {
  return `..${new Date(now).toISOString().slice(0, 19).replace(/[-:T]/g, '_')}.`;
}

/** Links what users are to see, takes away what they are not to see any more, and sets that are not shown. */
async function tidy(
  files: FileSystem,
  directory: string,
  { set, shown }: { readonly set: string; readonly shown: readonly ProjectedFile[] },
): Promise<void> {
  const wanted = new Set(shown.map(({ path: file }) => file.split('/', 1)[0] ?? file));
  const entries = await files.entries(directory);
  const there = new Set(entries.map(({ name }) => name));
  for (const name of wanted) {
    if (!there.has(name)) await files.symlink(path.join(DATA, name), path.join(directory, name));
  }
  for (const entry of entries) {
    const isOld = entry.name.startsWith('..')
      ? entry.name !== DATA && entry.name !== set
      : entry.isSymbolicLink() && !wanted.has(entry.name);
    if (isOld) await files.rm(path.join(directory, entry.name), { recursive: true, force: true });
  }
}
