/** Reads and writes durable facts, one JSON file per fact with its key, atomically. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { quarantine } from '../../host/files/setAside.ts';
import { problemOf } from '../../kubernetes/api/problem.ts';

const SUFFIX = '.json';
const TEMPORARY = '.tmp';
const SAFE_KEY = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const HASHED = 'sha256-';

/** The directory of one kind of facts. */
export interface FactFolder {
  readonly files: FileSystem;
  readonly directory: string;
}

/** A fact, or a message for users why it cannot be read. */
export type ReadFact<Value> =
  | { readonly key: string; readonly value: Value }
  | { readonly damaged: string; readonly file: string };

/** Returns the file name of a key. A key that is a plain name is used unchanged. Any other key is hashed. */
export function factFileName(key: string): string {
  const isPlain = SAFE_KEY.test(key) && !key.startsWith(HASHED);
  return (isPlain ? key : HASHED + createHash('sha256').update(key).digest('hex')) + SUFFIX;
}

export const factFile = ({ directory }: FactFolder, key: string): string => path.join(directory, factFileName(key));

/** Options of one of possibly several concurrent calls that write the same fact. */
interface WriteOptions {
  /** Suffix of the temporary file, unique among concurrent calls. */
  readonly suffix: number;
  /** Whether the file may still be replaced. Called after writing the temporary file, which may have taken long. */
  readonly mayReplace: () => boolean;
  /** Called with the temporary file if it cannot be deleted after a failure. */
  readonly onLeftover: (temporary: string) => void;
}

/** Writes a fact atomically, even if the process dies. The fact is durable once the directory is synced. */
export async function writeFact(
  folder: FactFolder,
  { key, value }: { readonly key: string; readonly value?: unknown },
  { suffix, mayReplace, onLeftover }: WriteOptions,
): Promise<void> {
  const { files } = folder;
  const file = factFile(folder, key);
  const text = `${JSON.stringify({ key, value })}\n`;
  if (kindOf(files, file) === undefined && readText(files, file) === text) return;
  const temporary = `${file}${suffix === 0 ? '' : `.${suffix}`}${TEMPORARY}`;
  try {
    await writeDurably(files, temporary, text);
    if (!mayReplace()) throw new Error('a later change has replaced it');
    await files.rename(temporary, file);
  } catch (error) {
    // A partial file takes space on a full disk, and nothing else removes it before the next start.
    await files.rm(temporary, { force: true }).catch(() => onLeftover(temporary));
    throw error;
  }
}

async function writeDurably(files: FileSystem, file: string, text: string): Promise<void> {
  const handle = await files.open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Deletes a fact and its leftover temporary files, if they exist. */
export async function removeFact(folder: FactFolder, key: string, leftovers: Iterable<string>): Promise<void> {
  const paths = [factFile(folder, key), ...leftovers];
  await Promise.all(paths.map((file) => folder.files.rm(file, { force: true })));
}

/**
 * Deletes the temporary files of a process that died. A directory with such a name is quarantined, because it does not
 * belong to the agent and would block the next write. Must not be called while facts are being written.
 */
export async function removeHalfWritten({ files, directory }: FactFolder): Promise<void> {
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(TEMPORARY));
  const remove = async (file: string) => {
    if ((await files.lstat(file)).isDirectory()) await quarantine(files, file);
    else await files.rm(file, { force: true });
  };
  await Promise.all(names.map((name) => remove(path.join(directory, name))));
}

/**
 * Reads all facts of a directory. A damaged file, or a directory or special file in its place, is renamed to
 * `<file>.corrupt`.
 */
export async function readFacts<Value>(
  { files, directory }: FactFolder,
  schema: z.ZodMiniType<Value>,
): Promise<readonly ReadFact<Value>[]> {
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(SUFFIX));
  const factSchema = z.object({ key: z.string(), value: schema });
  const facts = names.map((name) => {
    const file = path.join(directory, name);
    const noFile = kindOf(files, file);
    return noFile === undefined ? parseFact(file, readText(files, file), factSchema) : damagedFact(file, noFile);
  });
  const read: ReadFact<Value>[] = [];
  for (const fact of facts) {
    if (fact === undefined) continue;
    if (!('damaged' in fact)) read.push(fact);
    else {
      const ending = await quarantine(files, fact.file);
      read.push({ ...fact, damaged: `${fact.file}: ${fact.damaged}; renamed to ${ending}` });
    }
  }
  return read;
}

/**
 * Describes the file at a path unless it is a regular file. A FIFO or device is not opened, because that might block
 * forever.
 */
function kindOf(files: FileSystem, file: string): string | undefined {
  const stats = files.lstatSync(file);
  if (stats === undefined || stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'expected a file, found a directory';
  return stats.isSymbolicLink() ? undefined : 'expected a file, found a special file';
}

function parseFact<Value>(
  file: string,
  text: string | undefined,
  schema: z.ZodMiniType<{ key: string; value: Value }>,
): ReadFact<Value> {
  if (text === undefined) return damagedFact(file, 'expected a file, found a dangling symbolic link');
  const content = parsedJson(text);
  const parsed = schema.safeParse(content);
  if (!parsed.success) return damagedFact(file, expectationOf(content, parsed.error));
  const { key, value } = parsed.data;
  if (factFileName(key) === path.basename(file)) return { key, value };
  return damagedFact(file, `expected the file name ${factFileName(key)} for its key`);
}

function damagedFact(file: string, problem: string): { readonly file: string; readonly damaged: string } {
  return { file, damaged: problem };
}

function expectationOf(content: unknown, { issues: [issue] }: z.core.$ZodError): string {
  if (content === undefined || issue === undefined) return 'expected one JSON object';
  const { path: field, message } = problemOf(issue, content);
  return field === '' ? message : `${field}: ${message}`;
}

/**
 * Reads a file synchronously. This blocks only briefly, because facts are small and are either read before anything
 * else runs or are still in the page cache.
 */
function readText(files: FileSystem, file: string): string | undefined {
  try {
    return files.readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    // Unlike the error of `open`, that of `read` does not name the file.
    const message = messageOf(error);
    throw message.includes(file) ? error : new Error(`${file}: ${message}`, { cause: error });
  }
}
