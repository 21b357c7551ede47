/**
 * Persists the last versions of the ConfigMaps and Secrets of pods in an in-memory directory. They survive the agent,
 * so running pods continue while no API server responds. They do not survive a reboot of the host.
 */
import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { parsedJson } from '../../../base/parsedJson.ts';
import { errorCode, isMissing } from '../../../host/files/fileErrors.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';

/** An object with the pods that used it. */
export interface PersistedObject {
  readonly object: ConfigObject;
  readonly uids: readonly string[];
  /** The manifest of the object. Undefined for an object of an API server. */
  readonly file?: string;
}

interface PersistedObjectsParts {
  /** Private to this agent. Created on first use. */
  readonly directory: string;
  readonly files: Pick<FileSystem, 'mkdir' | 'readFile' | 'writeFile' | 'rename' | 'rm' | 'readdir' | 'lstat'>;
  /** Whether the directory is in memory, because Secrets must not be written to a disk. */
  readonly isInMemory: (directory: string) => Promise<boolean>;
  readonly onError: (source: string, error: unknown) => void;
}

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const FILE_SUFFIX = '.json';

/** The data is a list of pairs, because as an object it would lose a `__proto__` key. */
const fileSchema = z.object({
  kind: z.enum(['ConfigMap', 'Secret']),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  isImmutable: z.boolean(),
  type: z.string(),
  uids: z.array(z.string()),
  data: z.array(z.tuple([z.string(), z.union([z.string(), z.object({ base64: z.string() })])])),
  file: z.exactOptional(z.string()),
});

export class PersistedObjects {
  readonly #parts: PersistedObjectsParts;
  /** Pending writes by file. Only the latest version of each object is written. */
  readonly #pending = new Map<string, PersistedObject | undefined>();
  #writing: Promise<void> | undefined;
  #isUsable: Promise<boolean> | undefined;

  constructor(parts: PersistedObjectsParts) {
    this.#parts = parts;
  }

  /** Reads an object. Returns undefined if it is not stored or not readable. */
  async read(reference: ConfigReference): Promise<PersistedObject | undefined> {
    if (!(await this.#exists())) return undefined;
    const stored = await this.#readFile(this.#fileOf(reference));
    const { kind, namespace, name } = stored?.object ?? {};
    return kind === reference.kind && namespace === reference.namespace && name === reference.name ? stored : undefined;
  }

  /** Returns all readable objects. */
  async all(): Promise<PersistedObject[]> {
    if (!(await this.#exists())) return [];
    const { files, directory } = this.#parts;
    const names = (await files.readdir(directory)).filter((name) => name.endsWith(FILE_SUFFIX));
    const objects = await Promise.all(names.map((name) => this.#readFile(path.join(directory, name))));
    return objects.filter((object) => object !== undefined);
  }

  /** Reads a file. The report of an unreadable file omits its contents, which may be those of a Secret. */
  async #readFile(file: string): Promise<PersistedObject | undefined> {
    const problem = 'a persisted ConfigMap or Secret cannot be read';
    const { onError } = this.#parts;
    try {
      const stored = parseFile(await this.#readRegularFile(file));
      if (stored === undefined) onError('objects', new NodeFailure('StoreDamaged', `${problem}: ${file}`));
      return stored;
    } catch (cause) {
      if (!isMissing(cause))
        onError('objects', new NodeFailure('StoreFailed', `${problem}: ${messageOf(cause)}`, { cause }));
      return undefined;
    }
  }

  put(stored: PersistedObject): void {
    this.#enqueue(this.#fileOf(stored.object), stored);
  }

  forget(reference: ConfigReference): void {
    this.#enqueue(this.#fileOf(reference), undefined);
  }

  /** Deletes the objects that none of these pods used. */
  async retainPods(uids: ReadonlySet<string>): Promise<void> {
    if (!(await this.#exists())) return;
    const { files, directory } = this.#parts;
    for (const name of await files.readdir(directory)) {
      const file = path.join(directory, name);
      if (this.#pending.has(file)) continue;
      // Retain an unreadable file, because it may belong to a running pod.
      const had = await this.#readRegularFile(file)
        .then(uidsIn)
        .catch((error: unknown) => (errorCode(error) === undefined ? [] : [...uids]));
      if (!had.some((uid) => uids.has(uid))) await files.rm(file, { recursive: true, force: true });
    }
  }

  /** Resolves once all pending writes are complete. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Completes all writes, and removes the directory if it is empty. */
  async close(): Promise<void> {
    const { files, directory, onError } = this.#parts;
    try {
      await this.settled();
      if (!(await this.#exists()) || (await files.readdir(directory)).length > 0) return;
      await files.rm(directory, { recursive: true, force: true });
      this.#isUsable = undefined;
    } catch (error) {
      onError('objects', error);
    }
  }

  /** Rejects special files, because reading e.g. a pipe might never finish. */
  async #readRegularFile(file: string): Promise<string> {
    const { files } = this.#parts;
    if (!(await files.lstat(file)).isFile()) throw new Error(`${file} is not a file`);
    return files.readFile(file);
  }

  #enqueue(file: string, stored: PersistedObject | undefined): void {
    this.#pending.set(file, stored);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    const isNeeded = [...this.#pending.values()].some((stored) => stored !== undefined);
    const usable = isNeeded ? await this.#usable() : await this.#exists();
    for (const [file, stored] of this.#pending) {
      this.#pending.delete(file);
      if (usable) await this.#put(file, stored).catch((cause: unknown) => this.#reportFailure(cause));
    }
    if (this.#pending.size > 0) await this.#write();
  }

  async #put(file: string, stored: PersistedObject | undefined): Promise<void> {
    const { files } = this.#parts;
    if (stored === undefined) return files.rm(file, { force: true });
    const temporary = `${file}.${randomUUID()}.tmp`;
    try {
      await files.writeFile(temporary, serialize(stored), { mode: FILE_MODE });
      await files.rename(temporary, file);
    } catch (error) {
      await files.rm(temporary, { force: true }).catch(() => {});
      // Replace the error, because it contains the random name of the temporary file, which would prevent repeated
      // messages from being recognized as equal.
      throw new Error(`${file} cannot be written (${errorCode(error) ?? messageOf(error)})`);
    }
  }

  /** Whether the directory exists and is usable. Does not create it. */
  async #exists(): Promise<boolean> {
    const { files, directory } = this.#parts;
    if (this.#isUsable !== undefined) return this.#isUsable;
    // Other errors are reported when the directory is used.
    const isMissingYet = await files.lstat(directory).then(() => false, isMissing);
    return !isMissingYet && this.#usable();
  }

  /** Creates the directory if necessary and checks that it is private to this agent. */
  #usable(): Promise<boolean> {
    this.#isUsable ??= this.#prepare().catch((cause: unknown) => {
      this.#isUsable = undefined;
      this.#reportFailure(cause);
      return false;
    });
    return this.#isUsable;
  }

  #reportFailure(cause: unknown): void {
    const problem = 'the ConfigMaps and Secrets in use cannot be persisted';
    this.#parts.onError('objects', new NodeFailure('StoreFailed', `${problem}: ${messageOf(cause)}`, { cause }));
  }

  async #prepare(): Promise<boolean> {
    const { files, directory, isInMemory } = this.#parts;
    await files.mkdir(path.dirname(directory), { recursive: true, mode: DIRECTORY_MODE });
    await files.mkdir(directory, { mode: DIRECTORY_MODE }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const stats = await files.lstat(directory);
    if (!stats.isDirectory() || stats.uid !== process.geteuid?.() || (stats.mode & 0o077) !== 0)
      throw new Error(`${directory} is not a directory that only this agent may enter, so nothing is stored there`);
    return isInMemory(directory);
  }

  /** Hashes the name, because it may exceed the maximum length of a file name. */
  #fileOf({ kind, namespace, name }: ConfigReference): string {
    const digest = createHash('sha256').update(`${kind}/${namespace}/${name}`).digest('hex');
    return path.join(this.#parts.directory, digest + FILE_SUFFIX);
  }
}

function serialize({ object: { data, ...object }, ...stored }: PersistedObject): string {
  const entries = Array.from(data, ([key, value]) => [
    key,
    typeof value === 'string' ? value : { base64: value.toString('base64') },
  ]);
  return JSON.stringify({ ...object, ...stored, data: entries });
}

function parseFile(text: string): PersistedObject | undefined {
  const read = z.safeParse(fileSchema, parsedJson(text));
  if (!read.success) return undefined;
  const { uids, file, data, ...object } = read.data;
  const bytes = data.map(
    ([key, value]) => [key, typeof value === 'string' ? value : Buffer.from(value.base64, 'base64')] as const,
  );
  return { object: { ...object, data: new Map(bytes) }, uids, ...(file === undefined ? {} : { file }) };
}

const uidsIn = (text: string): readonly string[] => parseFile(text)?.uids ?? [];
