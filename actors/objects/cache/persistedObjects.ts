/**
 * Persists the last versions of the pods' ConfigMaps and Secrets on a tmpfs. The objects survive a restart of the
 * agent, so that running pods can continue while no API server responds. They do not survive a reboot of the host.
 */
import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { parseJson } from '../../../base/values/parseJson.ts';
import { errorCode, isMissing } from '../../../host/files/fileErrors.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';

/** A ConfigMap or Secret, with the UIDs of the pods that used it. */
export interface PersistedObject {
  readonly object: ConfigObject;
  readonly uids: readonly string[];
  /** Path or URL of the manifest that defines the object. Undefined for an object from an API server. */
  readonly file?: string;
}

interface PersistedObjectsDependencies {
  /** tmpfs directory that is private to this agent. Created on first use. */
  readonly directory: string;
  readonly files: Pick<FileSystem, 'mkdir' | 'readFile' | 'writeFile' | 'rename' | 'rm' | 'readdir' | 'lstat'>;
  /** Whether the directory is on a tmpfs, because Secrets must not be written to disk. */
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
  readonly #dependencies: PersistedObjectsDependencies;
  /** Pending writes by file. Only the latest version of each object is written. */
  readonly #pendingWrites = new Map<string, PersistedObject | undefined>();
  #pendingFlush: Promise<void> | undefined;
  #directoryCheck: Promise<boolean> | undefined;

  constructor(dependencies: PersistedObjectsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Reads an object. Returns undefined if it is not stored or not readable. */
  async read(reference: ConfigReference): Promise<PersistedObject | undefined> {
    if (!(await this.#directoryExists())) return undefined;
    const storedObject = await this.#readFile(this.#objectFile(reference));
    const { kind, namespace, name } = storedObject?.object ?? {};
    return kind === reference.kind && namespace === reference.namespace && name === reference.name
      ? storedObject
      : undefined;
  }

  /** Returns all readable objects. */
  async list(): Promise<PersistedObject[]> {
    if (!(await this.#directoryExists())) return [];
    const { files, directory } = this.#dependencies;
    const names = (await files.readdir(directory)).filter((name) => name.endsWith(FILE_SUFFIX));
    const objects = await Promise.all(names.map((name) => this.#readFile(path.join(directory, name))));
    return objects.filter((object) => object !== undefined);
  }

  /** Reads a file. The report of an unreadable file omits its contents, which may be those of a Secret. */
  async #readFile(file: string): Promise<PersistedObject | undefined> {
    const problem = 'a persisted ConfigMap or Secret cannot be read';
    const { onError } = this.#dependencies;
    try {
      const storedObject = parseFile(await this.#readRegularFile(file));
      if (storedObject === undefined) onError('objects', new NodeFailure('StoreDamaged', `${problem}: ${file}`));
      return storedObject;
    } catch (cause) {
      if (!isMissing(cause))
        onError('objects', new NodeFailure('StoreFailed', `${problem}: ${messageOf(cause)}`, { cause }));
      return undefined;
    }
  }

  put(stored: PersistedObject): void {
    this.#enqueue(this.#objectFile(stored.object), stored);
  }

  forget(reference: ConfigReference): void {
    this.#enqueue(this.#objectFile(reference), undefined);
  }

  /** Deletes the objects that none of the given pods used. */
  async retainPods(uids: ReadonlySet<string>): Promise<void> {
    if (!(await this.#directoryExists())) return;
    const { files, directory } = this.#dependencies;
    for (const name of await files.readdir(directory)) {
      const file = path.join(directory, name);
      if (this.#pendingWrites.has(file)) continue;
      // Retain a file that the host fails to read, because it may belong to a running pod. Remove a damaged one.
      const userUids = await this.#readRegularFile(file)
        .then(parseUids)
        .catch((error: unknown) => (errorCode(error) === undefined ? [] : [...uids]));
      if (!userUids.some((uid) => uids.has(uid))) await files.rm(file, { recursive: true, force: true });
    }
  }

  /** Resolves once all pending writes are complete. */
  async settled(): Promise<void> {
    await this.#pendingFlush;
  }

  /** Completes all writes, and removes the directory if it is empty. */
  async close(): Promise<void> {
    const { files, directory, onError } = this.#dependencies;
    try {
      await this.settled();
      if (!(await this.#directoryExists()) || (await files.readdir(directory)).length > 0) return;
      await files.rm(directory, { recursive: true, force: true });
      this.#directoryCheck = undefined;
    } catch (error) {
      onError('objects', error);
    }
  }

  /** Rejects special files, because reading e.g. a pipe might never finish. */
  async #readRegularFile(file: string): Promise<string> {
    const { files } = this.#dependencies;
    if (!(await files.lstat(file)).isFile()) throw new Error(`${file} is not a file`);
    return files.readFile(file);
  }

  #enqueue(file: string, stored: PersistedObject | undefined): void {
    this.#pendingWrites.set(file, stored);
    this.#pendingFlush ??= this.#writePending().finally(() => {
      this.#pendingFlush = undefined;
    });
  }

  async #writePending(): Promise<void> {
    const needsDirectory = [...this.#pendingWrites.values()].some((stored) => stored !== undefined);
    const isDirectoryUsable = needsDirectory ? await this.#ensureUsable() : await this.#directoryExists();
    for (const [file, stored] of this.#pendingWrites) {
      this.#pendingWrites.delete(file);
      if (isDirectoryUsable) await this.#putFile(file, stored).catch((cause: unknown) => this.#reportFailure(cause));
    }
    if (this.#pendingWrites.size > 0) await this.#writePending();
  }

  async #putFile(file: string, stored: PersistedObject | undefined): Promise<void> {
    const { files } = this.#dependencies;
    if (stored === undefined) return files.rm(file, { force: true });
    const temporaryPath = `${file}.${randomUUID()}.tmp`;
    try {
      await files.writeFile(temporaryPath, serialize(stored), { mode: FILE_MODE });
      await files.rename(temporaryPath, file);
    } catch (error) {
      await files.rm(temporaryPath, { force: true }).catch(() => {});
      // Replace the error, because it contains the random name of the temporary file, which would prevent repeated
      // messages from being recognized as equal.
      throw new Error(`${file} cannot be written (${errorCode(error) ?? messageOf(error)})`);
    }
  }

  /** Whether the directory exists and is usable. Does not create it. */
  async #directoryExists(): Promise<boolean> {
    const { files, directory } = this.#dependencies;
    if (this.#directoryCheck !== undefined) return this.#directoryCheck;
    // Other errors are reported when the directory is used.
    const isDirectoryMissing = await files.lstat(directory).then(() => false, isMissing);
    return !isDirectoryMissing && this.#ensureUsable();
  }

  /** Creates the directory if necessary and checks that it is private to this agent. */
  #ensureUsable(): Promise<boolean> {
    this.#directoryCheck ??= this.#prepareDirectory().catch((cause: unknown) => {
      this.#directoryCheck = undefined;
      this.#reportFailure(cause);
      return false;
    });
    return this.#directoryCheck;
  }

  #reportFailure(cause: unknown): void {
    const problem = 'the ConfigMaps and Secrets in use cannot be persisted';
    this.#dependencies.onError('objects', new NodeFailure('StoreFailed', `${problem}: ${messageOf(cause)}`, { cause }));
  }

  async #prepareDirectory(): Promise<boolean> {
    const { files, directory, isInMemory } = this.#dependencies;
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
  #objectFile({ kind, namespace, name }: ConfigReference): string {
    const digest = createHash('sha256').update(`${kind}/${namespace}/${name}`).digest('hex');
    return path.join(this.#dependencies.directory, digest + FILE_SUFFIX);
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
  const parseResult = z.safeParse(fileSchema, parseJson(text));
  if (!parseResult.success) return undefined;
  const { uids, file, data, ...object } = parseResult.data;
  const bytes = data.map(
    ([key, value]) => [key, typeof value === 'string' ? value : Buffer.from(value.base64, 'base64')] as const,
  );
  return { object: { ...object, data: new Map(bytes) }, uids, ...(file === undefined ? {} : { file }) };
}

const parseUids = (text: string): readonly string[] => parseFile(text)?.uids ?? [];
