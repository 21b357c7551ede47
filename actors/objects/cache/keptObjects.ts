/**
 * What pods had of ConfigMaps and Secrets when they were read last, in a directory that lives in memory: it outlives the
 * agent, so that pods which run go on while no API server answers, and ends with the host.
 */
import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { parsedJson } from '../../../base/parsedJson.ts';
import { errorCode, isMissing } from '../../../host/files/fileErrors.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';

/** An object, and the pods that had it. */
export interface KeptObject {
  readonly object: ConfigObject;
  readonly uids: readonly string[];
  /** The manifest that it is of; absent: it is of an API server. */
  readonly file?: string;
}

interface KeptParts {
  /** Of this agent alone; it is made when it is needed. */
  readonly directory: string;
  readonly files: Pick<FileSystem, 'mkdir' | 'readFile' | 'writeFile' | 'rename' | 'rm' | 'readdir' | 'lstat'>;
  /** Whether what is written to a directory stays in memory: no secret may come to rest on a disk. */
  readonly isInMemory: (directory: string) => Promise<boolean>;
  readonly onError: (source: string, error: unknown) => void;
}

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const KEPT = '.json';

/** Keys in a list: as names of a plain object, `__proto__` would be lost. */
const keptSchema = z.object({
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

export class KeptObjects {
  readonly #parts: KeptParts;
  /** What is on disk for each object, or on its way there: only the latest is written. */
  readonly #wanted = new Map<string, KeptObject | undefined>();
  #writing: Promise<void> | undefined;
  #isUsable: Promise<boolean> | undefined;

  constructor(parts: KeptParts) {
    this.#parts = parts;
  }

  /** Undefined where none was kept, or none that can be read. */
  async read(reference: ConfigReference): Promise<KeptObject | undefined> {
    if (!(await this.#isThere())) return undefined;
    const kept = await this.#readFile(this.#fileOf(reference));
    const { kind, namespace, name } = kept?.object ?? {};
    return kind === reference.kind && namespace === reference.namespace && name === reference.name ? kept : undefined;
  }

  /** All that there is, but what cannot be read. */
  async all(): Promise<KeptObject[]> {
    if (!(await this.#isThere())) return [];
    const { files, directory } = this.#parts;
    const names = (await files.readdir(directory)).filter((name) => name.endsWith(KEPT));
    const found = await Promise.all(names.map((name) => this.#readFile(path.join(directory, name))));
    return found.filter((each) => each !== undefined);
  }

  /** What is wrong with a file is told without a word of it, which may be of a Secret. */
  async #readFile(file: string): Promise<KeptObject | undefined> {
    const why = 'what pods had of a ConfigMap or Secret was kept, and cannot be read';
    const { onError } = this.#parts;
    try {
      const kept = readKept(await this.#textOf(file));
      if (kept === undefined) onError('objects', new NodeFailure('StoreDamaged', `${why}: ${file}`));
      return kept;
    } catch (cause) {
      if (!isMissing(cause))
        onError('objects', new NodeFailure('StoreFailed', `${why}: ${messageOf(cause)}`, { cause }));
      return undefined;
    }
  }

  keep(kept: KeptObject): void {
    this.#want(this.#fileOf(kept.object), kept);
  }

  forget(reference: ConfigReference): void {
    this.#want(this.#fileOf(reference), undefined);
  }

  /** Deletes what no pod of these had. */
  async keepOnly(uids: ReadonlySet<string>): Promise<void> {
    if (!(await this.#isThere())) return;
    const { files, directory } = this.#parts;
    for (const name of await files.readdir(directory)) {
      const file = path.join(directory, name);
      if (this.#wanted.has(file)) continue;
      // A file that cannot be read, for whatever cause, may belong to a pod that runs, so it stays.
      const had = await this.#textOf(file)
        .then(uidsIn)
        .catch((error: unknown) => (errorCode(error) === undefined ? [] : [...uids]));
      if (!had.some((uid) => uids.has(uid))) await files.rm(file, { recursive: true, force: true });
    }
  }

  /** Resolves once all is written that was to be. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** What else may lie there, such as a pipe, might never be read to its end. */
  async #textOf(file: string): Promise<string> {
    const { files } = this.#parts;
    if (!(await files.lstat(file)).isFile()) throw new Error(`${file} is not a file`);
    return files.readFile(file);
  }

  #want(file: string, kept: KeptObject | undefined): void {
    this.#wanted.set(file, kept);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    const isNeeded = [...this.#wanted.values()].some((kept) => kept !== undefined);
    const usable = isNeeded ? await this.#usable() : await this.#isThere();
    for (const [file, kept] of this.#wanted) {
      this.#wanted.delete(file);
      if (usable) await this.#put(file, kept).catch((cause: unknown) => this.#tell(cause));
    }
    if (this.#wanted.size > 0) await this.#write();
  }

  async #put(file: string, kept: KeptObject | undefined): Promise<void> {
    const { files } = this.#parts;
    if (kept === undefined) return files.rm(file, { force: true });
    const written = `${file}.${randomUUID()}.tmp`;
    try {
      await files.writeFile(written, textOf(kept), { mode: FILE_MODE });
      await files.rename(written, file);
    } catch (error) {
      await files.rm(written, { force: true }).catch(() => {});
      // Not what the call says, which has another name each time: what stays the same is told once.
      throw new Error(`${file} cannot be written (${errorCode(error) ?? messageOf(error)})`);
    }
  }

  /** Where nothing was ever kept nothing is made to look for it. */
  async #isThere(): Promise<boolean> {
    const { files, directory } = this.#parts;
    if (this.#isUsable !== undefined) return this.#isUsable;
    // What else is wrong with it is told when it is used.
    const isMissingYet = await files.lstat(directory).then(() => false, isMissing);
    return !isMissingYet && this.#usable();
  }

  /** The directory is made by this agent, and is its own. */
  #usable(): Promise<boolean> {
    this.#isUsable ??= this.#prepare().catch((cause: unknown) => {
      this.#isUsable = undefined;
      this.#tell(cause);
      return false;
    });
    return this.#isUsable;
  }

  #tell(cause: unknown): void {
    const what = 'what pods have of ConfigMaps and Secrets is not kept over a restart of the agent';
    this.#parts.onError('objects', new NodeFailure('StoreFailed', `${what}: ${messageOf(cause)}`, { cause }));
  }

  async #prepare(): Promise<boolean> {
    const { files, directory, isInMemory } = this.#parts;
    await files.mkdir(path.dirname(directory), { recursive: true, mode: DIRECTORY_MODE });
    await files.mkdir(directory, { mode: DIRECTORY_MODE }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const found = await files.lstat(directory);
    if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & 0o077) !== 0)
      throw new Error(`${directory} is not a directory that only this agent may enter: nothing is kept there`);
    return isInMemory(directory);
  }

  /** Names may be longer than a file's. */
  #fileOf({ kind, namespace, name }: ConfigReference): string {
    const digest = createHash('sha256').update(`${kind}/${namespace}/${name}`).digest('hex');
    return path.join(this.#parts.directory, digest + KEPT);
  }
}

function textOf({ object: { data, ...object }, ...kept }: KeptObject): string {
  const entries = Array.from(data, ([key, value]) => [
    key,
    typeof value === 'string' ? value : { base64: value.toString('base64') },
  ]);
  return JSON.stringify({ ...object, ...kept, data: entries });
}

function readKept(text: string): KeptObject | undefined {
  const read = z.safeParse(keptSchema, parsedJson(text));
  if (!read.success) return undefined;
  const { uids, file, data, ...object } = read.data;
  const bytes = data.map(
    ([key, value]) => [key, typeof value === 'string' ? value : Buffer.from(value.base64, 'base64')] as const,
  );
  return { object: { ...object, data: new Map(bytes) }, uids, ...(file === undefined ? {} : { file }) };
}

const uidsIn = (text: string): readonly string[] => readKept(text)?.uids ?? [];
