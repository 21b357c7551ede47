/** Replaces a set of files atomically, so that readers see either the old set or the new one and never a mixture. */
import path from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';
import type { FileSystem } from '../host/files/fileSystem.ts';
import type { ProjectedFile } from '../kubernetes/environment/projection.ts';

interface AtomicWrite {
  /** The complete set of files. */
  readonly files: readonly ProjectedFile[];
  /** Current time in milliseconds since the epoch, from which the name of the new directory is derived. */
  readonly now: number;
  /** Called after the new set has been written, before it becomes visible. */
  readonly onBeforePublish: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Symbolic link to the directory of the current set. All visible files are links through it, so that one rename
 * replaces all of them.
 */
const DATA_LINK = '..data';
const NEXT_DATA_LINK = '..data_tmp';
const DIRECTORY_MODE = 0o755;
const OWNER_ONLY_MASK = 0o700;

/** Publishes files in a directory. Writes nothing if they are up to date. Idempotent. */
export async function publishFiles(
  fileSystem: FileSystem,
  directory: string,
  { files, now, onBeforePublish, signal }: AtomicWrite,
): Promise<void> {
  signal.throwIfAborted();
  const currentName = await readCurrentName(fileSystem, directory);
  const isUpToDate =
    currentName !== undefined && (await hasFiles(fileSystem, path.join(directory, currentName), files));
  const publishedName = isUpToDate ? currentName : await writeSet(fileSystem, directory, { files, now });
  if (!isUpToDate) {
    await onBeforePublish();
    await fileSystem.rm(path.join(directory, NEXT_DATA_LINK), { force: true });
    await fileSystem.symlink(publishedName, path.join(directory, NEXT_DATA_LINK));
    await fileSystem.rename(path.join(directory, NEXT_DATA_LINK), path.join(directory, DATA_LINK));
  }
  await removeOutdated(fileSystem, directory, { set: publishedName, files });
}

/** Returns the name of the current set's directory. */
async function readCurrentName(fileSystem: FileSystem, directory: string): Promise<string | undefined> {
  try {
    return path.basename(await fileSystem.readlink(path.join(directory, DATA_LINK)));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function hasFiles(fileSystem: FileSystem, set: string, files: readonly ProjectedFile[]): Promise<boolean> {
  const expectedFiles = new Map(files.map(({ path: file, data }) => [path.join(set, file), data]));
  try {
    const existingPaths = await listFilesRecursively(fileSystem, set);
    if (existingPaths.length !== expectedFiles.size) return false;
    const matchResults = await Promise.all(
      existingPaths.map(async (file) => {
        const expectedData = expectedFiles.get(file);
        return expectedData?.equals(await readBytes(fileSystem, file));
      }),
    );
    return matchResults.every(Boolean);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function readBytes(fileSystem: FileSystem, file: string): Promise<Buffer> {
  const handle = await fileSystem.open(file, 'r');
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function listFilesRecursively(fileSystem: FileSystem, directory: string): Promise<readonly string[]> {
  const entries = await fileSystem.entries(directory);
  const nestedLists = entries.map(async (entry) => {
    const file = path.join(directory, entry.name);
    return entry.isDirectory() ? listFilesRecursively(fileSystem, file) : [file];
  });
  return (await Promise.all(nestedLists)).flat();
}

async function writeSet(
  fileSystem: FileSystem,
  directory: string,
  { files, now }: Pick<AtomicWrite, 'files' | 'now'>,
): Promise<string> {
  const set = await fileSystem.mkdtemp(path.join(directory, directoryPrefix(now)));
  await fileSystem.chmod(set, DIRECTORY_MODE);
  for (const { path: file, data, mode, owner } of files) {
    const target = path.join(set, file);
    await fileSystem.mkdir(path.dirname(target), { recursive: true, mode: DIRECTORY_MODE });
    // Create the file with access for its owner only, until its mode and owner are set.
    await fileSystem.writeFile(target, data, { mode: mode & OWNER_ONLY_MASK });
    await fileSystem.chmod(target, mode);
    if (owner !== undefined) await fileSystem.lchown(target, owner, -1);
  }
  return path.basename(set);
}

/** Returns the prefix of a set's directory name, e.g. `..2026_11_21_22_36_07.`. */
function directoryPrefix(now: number): string {
  return `..${new Date(now).toISOString().slice(0, 19).replace(/[-:T]/g, '_')}.`;
}

/** Creates missing links for the visible files, and removes outdated links and outdated sets of files. */
async function removeOutdated(
  fileSystem: FileSystem,
  directory: string,
  { set, files }: { readonly set: string; readonly files: readonly ProjectedFile[] },
): Promise<void> {
  const expectedNames = new Set(files.map(({ path: file }) => file.split('/', 1)[0] ?? file));
  const entries = await fileSystem.entries(directory);
  const existingNames = new Set(entries.map(({ name }) => name));
  for (const name of expectedNames) {
    if (!existingNames.has(name)) await fileSystem.symlink(path.join(DATA_LINK, name), path.join(directory, name));
  }
  for (const entry of entries) {
    const isOutdated = entry.name.startsWith('..')
      ? entry.name !== DATA_LINK && entry.name !== set
      : entry.isSymbolicLink() && !expectedNames.has(entry.name);
    if (isOutdated) await fileSystem.rm(path.join(directory, entry.name), { recursive: true, force: true });
  }
}
