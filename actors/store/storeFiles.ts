/** How a durable fact lies on disk: one JSON file a fact, carrying its key, never half-written. */
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

/** Where the facts of one kind are. */
export interface FactFolder {
  readonly files: FileSystem;
  readonly directory: string;
}

/** A fact as it was read; or why it could not be, for a person to read. */
export type ReadFact<Value> =
  | { readonly key: string; readonly value: Value }
  | { readonly damaged: string; readonly file: string };

/** The name of a key's file: the key itself where that is a plain name, else its hash. */
export function factFileName(key: string): string {
  const plain = SAFE_KEY.test(key) && !key.startsWith(HASHED);
  return (plain ? key : HASHED + createHash('sha256').update(key).digest('hex')) + SUFFIX;
}

export const factFile = ({ directory }: FactFolder, key: string): string => path.join(directory, factFileName(key));

/** What tells one call that writes a fact from others that write the same fact. */
interface Writing {
  /** Of the temporary file: no two that are under way have the same. */
  readonly number: number;
  /** Whether the file may still be put in its place: asked when it has been written, however long that took. */
  readonly mayReplace: () => boolean;
  /** Told of the temporary file where it could not be deleted after a failure. */
  readonly onLeft: (temporary: string) => void;
}

/** Writes a fact whole or not at all, also when this process dies: durable once the directory is synced as well. */
export async function writeFact(
  folder: FactFolder,
  { key, value }: { readonly key: string; readonly value?: unknown },
  { number, mayReplace, onLeft }: Writing,
): Promise<void> {
  const { files } = folder;
  const file = factFile(folder, key);
  const text = `${JSON.stringify({ key, value })}\n`;
  if (kindOf(files, file) === undefined && textOf(files, file) === text) return;
  const temporary = `${file}${number === 0 ? '' : `.${number}`}${TEMPORARY}`;
  try {
    await writeDurably(files, temporary, text);
    if (!mayReplace()) throw new Error('it is not wanted any more');
    await files.rename(temporary, file);
  } catch (error) {
    // On a full disk half a file is in the way of all others; and nobody else would remove it before the next start.
    await files.rm(temporary, { force: true }).catch(() => onLeft(temporary));
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

/** Deletes a fact, and what else is `left` of it; what is not there is deleted already. */
export async function removeFact(folder: FactFolder, key: string, left: Iterable<string>): Promise<void> {
  const all = [factFile(folder, key), ...left];
  await Promise.all(all.map((file) => folder.files.rm(file, { force: true })));
}

/**
 * Deletes the files that a process left half-written when it died. A directory with such a name is set aside, because it is
 * not the agent's and would be in the way of the next write. Not to be called while facts are written.
 */
export async function removeHalfWritten({ files, directory }: FactFolder): Promise<void> {
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(TEMPORARY));
  const remove = async (file: string) => {
    if ((await files.lstat(file)).isDirectory()) await quarantine(files, file);
    else await files.rm(file, { force: true });
  };
  await Promise.all(names.map((name) => remove(path.join(directory, name))));
}

/** Reads all facts of a directory. A file without one, or anything else in its place, is set aside as `<file>.corrupt`. */
export async function readFacts<Value>(
  { files, directory }: FactFolder,
  schema: z.ZodMiniType<Value>,
): Promise<readonly ReadFact<Value>[]> {
  const names = (await files.readdir(directory)).filter((name) => name.endsWith(SUFFIX));
  const factSchema = z.object({ key: z.string(), value: schema });
  const facts = names.map((name) => {
    const file = path.join(directory, name);
    const noFile = kindOf(files, file);
    return noFile === undefined ? factIn(file, textOf(files, file), factSchema) : damagedFact(file, noFile);
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

/** Says that something else than a file is at a path. A FIFO or device is not opened, because that might never end. */
function kindOf(files: FileSystem, file: string): string | undefined {
  const found = files.lstatSync(file);
  if (found === undefined || found.isFile()) return undefined;
  if (found.isDirectory()) return 'expected a file, found a directory';
  return found.isSymbolicLink() ? undefined : 'expected a file, found a special file';
}

function factIn<Value>(
  file: string,
  text: string | undefined,
  schema: z.ZodMiniType<{ key: string; value: Value }>,
): ReadFact<Value> {
  if (text === undefined) return damagedFact(file, 'expected a file, found a dangling symbolic link');
  const content = parsedJson(text);
  const found = schema.safeParse(content);
  if (!found.success) return damagedFact(file, expectation(content, found.error));
  const { key, value } = found.data;
  if (factFileName(key) === path.basename(file)) return { key, value };
  return damagedFact(file, `expected the file name ${factFileName(key)} for its key`);
}

function damagedFact(file: string, problem: string): { readonly file: string; readonly damaged: string } {
  return { file, damaged: problem };
}

function expectation(content: unknown, { issues: [issue] }: z.core.$ZodError): string {
  if (content === undefined || issue === undefined) return 'expected one JSON object';
  const { path: field, message } = problemOf(issue, content);
  return field === '' ? message : `${field}: ${message}`;
}

/** Read on the spot: facts are small, and either nothing runs before all are known, or the kernel still has them. */
function textOf(files: FileSystem, file: string): string | undefined {
  try {
    return files.readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    // Unlike that of an open, the error of a read does not name the file.
    const message = messageOf(error);
    throw message.includes(file) ? error : new Error(`${file}: ${message}`, { cause: error });
  }
}
