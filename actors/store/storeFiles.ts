/** Reads and writes durable facts atomically. Each fact is a JSON file that also contains its key. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { quarantineFile } from '../../host/files/quarantineFile.ts';
import { problemOf } from '../../kubernetes/api/problem.ts';

const FACT_SUFFIX = '.json';
const TEMPORARY_SUFFIX = '.tmp';
const SAFE_KEY_PATTERN = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const HASHED_PREFIX = 'sha256-';

/** The directory of one kind of fact. */
export interface FactFolder {
  readonly files: FileSystem;
  readonly directory: string;
  /**
   * Returns the contents of a file whose name and format another program defines. The key is the file name. Undefined
   * for facts.
   */
  readonly formatFile?: (key: string) => string;
}

/** A fact, or a message for users that explains why it cannot be read. */
export type ReadFact<Value> =
  | { readonly key: string; readonly value: Value }
  | { readonly damaged: string; readonly file: string };

/** Returns the file name of a key. A key that is a plain name is used unchanged. Any other key is hashed. */
export function factFileName(key: string): string {
  const isSafeName = SAFE_KEY_PATTERN.test(key) && !key.startsWith(HASHED_PREFIX);
  return (isSafeName ? key : HASHED_PREFIX + createHash('sha256').update(key).digest('hex')) + FACT_SUFFIX;
}

export const factFile = ({ directory, formatFile }: FactFolder, key: string): string =>
  path.join(directory, formatFile === undefined ? factFileName(key) : key);

/** Options of a call that writes a fact. Several calls may write the same fact concurrently. */
interface WriteOptions {
  /** Suffix of the temporary file, unique among concurrent calls. */
  readonly suffix: number;
  /**
   * Whether the file may still be replaced. Called after the temporary file has been written, which may have taken a
   * long time.
   */
  readonly mayReplace: () => boolean;
  /** Called with the temporary file if it cannot be deleted after a failure. */
  readonly onLeftover: (temporary: string) => void;
}

/** Writes a fact atomically, even if the process dies. The fact is durable once the directory is synced. */
export async function writeFact(
  factFolder: FactFolder,
  { key, value }: { readonly key: string; readonly value?: unknown },
  { suffix, mayReplace, onLeftover }: WriteOptions,
): Promise<void> {
  const { files, formatFile } = factFolder;
  const file = factFile(factFolder, key);
  const contents = formatFile?.(key) ?? `${JSON.stringify({ key, value })}\n`;
  if (describeFileType(files, file) === undefined && readText(files, file) === contents) return;
  const temporaryPath = `${file}${suffix === 0 ? '' : `.${suffix}`}${TEMPORARY_SUFFIX}`;
  try {
    await writeDurably(files, temporaryPath, contents);
    if (!mayReplace()) throw new Error('a later change has replaced it');
    await files.rename(temporaryPath, file);
  } catch (error) {
    // Remove the partial file now, because it takes up space on a full disk and would otherwise remain until the next
    // start.
    await files.rm(temporaryPath, { force: true }).catch(() => onLeftover(temporaryPath));
    throw error;
  }
}

async function writeDurably(files: FileSystem, file: string, text: string): Promise<void> {
  const fileHandle = await files.open(file, 'w', 0o600);
  try {
    await fileHandle.writeFile(text);
    await fileHandle.sync();
  } finally {
    await fileHandle.close();
  }
}

/** Deletes a fact and its leftover temporary files, if they exist. */
export async function removeFact(folder: FactFolder, key: string, leftovers: Iterable<string>): Promise<void> {
  const pathsToRemove = [factFile(folder, key), ...leftovers];
  await Promise.all(pathsToRemove.map((file) => folder.files.rm(file, { force: true })));
}

/**
 * Deletes the temporary files of a process that died. A directory with such a name is quarantined, because it does not
 * belong to the agent and would block the next write. Must not be called while facts are being written.
 */
export async function removeTemporaryFiles({ files, directory }: FactFolder): Promise<void> {
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(TEMPORARY_SUFFIX));
  const remove = async (file: string) => {
    if ((await files.lstat(file)).isDirectory()) await quarantineFile(files, file);
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
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(FACT_SUFFIX));
  const factSchema = z.object({ key: z.string(), value: schema });
  const parsedFacts = names.map((name) => {
    const file = path.join(directory, name);
    const fileTypeProblem = describeFileType(files, file);
    return fileTypeProblem === undefined
      ? parseFact(file, readText(files, file), factSchema)
      : createDamagedFact(file, fileTypeProblem);
  });
  const factResults: ReadFact<Value>[] = [];
  for (const fact of parsedFacts) {
    if (fact === undefined) continue;
    if (!('damaged' in fact)) factResults.push(fact);
    else {
      const quarantineMessage = await quarantineFile(files, fact.file);
      factResults.push({ ...fact, damaged: `${fact.file}: ${fact.damaged}; renamed to ${quarantineMessage}` });
    }
  }
  return factResults;
}

/**
 * Describes the file at a path unless it is a regular file. A FIFO or device is not opened, because that might block
 * forever.
 */
export function describeFileType(files: FileSystem, file: string): string | undefined {
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
  if (text === undefined) return createDamagedFact(file, 'expected a file, found a dangling symbolic link');
  const content = parseJson(text);
  const parseResult = schema.safeParse(content);
  if (!parseResult.success) return createDamagedFact(file, describeExpected(content, parseResult.error));
  const { key, value } = parseResult.data;
  if (factFileName(key) === path.basename(file)) return { key, value };
  return createDamagedFact(file, `expected the file name ${factFileName(key)} for its key`);
}

function createDamagedFact(file: string, problem: string): { readonly file: string; readonly damaged: string } {
  return { file, damaged: problem };
}

function describeExpected(content: unknown, { issues: [issue] }: z.core.$ZodError): string {
  if (content === undefined || issue === undefined) return 'expected one JSON object';
  const { path: field, message } = problemOf(issue, content);
  return field === '' ? message : `${field}: ${message}`;
}

/**
 * Reads a file synchronously. This blocks only briefly, because facts are small and are either read before anything
 * else runs or are still in the page cache.
 */
export function readText(files: FileSystem, file: string): string | undefined {
  try {
    return files.readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    // A read error, unlike an open error, does not name the file.
    const message = messageOf(error);
    throw message.includes(file) ? error : new Error(`${file}: ${message}`, { cause: error });
  }
}
