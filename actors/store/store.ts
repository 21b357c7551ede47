/**
 * Stores durable facts by kind and key in plain files, because they must survive a restart and cannot be read from the
 * runtime.
 */
import path from 'node:path';
import type * as z from 'zod/mini';
import { systemClock } from '../../base/clock.ts';
import { assertDirectoryOrMissing } from '../../host/files/expectDirectory.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { StoreBatches } from './storeBatches.ts';
import { type FactFolder, type ReadFact, readFacts, removeHalfWritten } from './storeFiles.ts';
import type { RetryParts, StoreFailure } from './unwrittenFacts.ts';

/** The schemas of all kinds of facts. Parsing a fact must be idempotent. */
type FactSchemas = Readonly<Record<string, z.ZodMiniType>>;

/** The contents of the store, and one message for each unreadable file. */
interface StoreContent<Schemas extends FactSchemas> {
  readonly facts: { readonly [Kind in keyof Schemas]: ReadonlyMap<string, z.output<Schemas[Kind]>> };
  readonly damaged: readonly string[];
}

/**
 * Access to the durable facts. A failed write rejects with reason `StoreFailed` and is retried until it succeeds or a
 * later change replaces it. A hanging write stays pending and is also retried.
 */
export interface Store<Schemas extends FactSchemas> {
  /** Reads all facts, including pending writes. A damaged file is quarantined. */
  readonly read: () => Promise<StoreContent<Schemas>>;
  /** Resolves when this value, or a later one of the key, is durable. */
  readonly write: <Kind extends keyof Schemas>(
    kind: Kind,
    key: string,
    value: z.output<Schemas[Kind]>,
  ) => Promise<void>;
  /** Resolves when the removal of the key is durable, or the key is rewritten. */
  readonly remove: (kind: keyof Schemas, key: string) => Promise<void>;
  /** Resolves when all writes have succeeded, failed or timed out. */
  readonly flush: () => Promise<void>;
  /** Like `flush`, but then stops retrying, after which no timer remains. */
  readonly close: () => Promise<void>;
  /** Returns the number of unwritten facts and the last failure, if any. */
  readonly failure: () => StoreFailure | undefined;
  /** Whether the last change of a key is not durable yet. */
  readonly isUnwritten: (kind: keyof Schemas & string, key: string) => boolean;
  /** Resolves when the last change of a key is durable, after any number of attempts. */
  readonly whenWritten: (kind: keyof Schemas & string, key: string) => Promise<void>;
}

export interface StoreOptions extends Partial<RetryParts> {
  /** Defaults to the host's file system. */
  readonly files?: FileSystem;
}

/**
 * Opens the store in a directory, which is created if missing. The directory contains a folder for each kind with a
 * file for each fact. Changes of the same key that wait for the disk are merged.
 */
export async function openStore<Schemas extends FactSchemas>(
  directory: string,
  schemas: Schemas,
  { files = hostFiles, clock = systemClock, ...retryParts }: StoreOptions = {},
): Promise<Store<Schemas>> {
  const folderOf = (kind: string): FactFolder => ({ files, directory: path.join(directory, kind) });
  const createdPaths = await Promise.all(
    Object.keys(schemas).map(async (kind) => {
      const folder = folderOf(kind);
      await assertDirectoryOrMissing(folder.directory, files);
      const first = await files.mkdir(folder.directory, { recursive: true, mode: 0o700 });
      await removeHalfWritten(folder);
      // Sync facts that a previous process may have written without syncing, because later writes assume that they are
      // durable.
      await syncDirectory(folder.files, folder.directory);
      return first ?? [];
    }),
  );
  await syncFolders(files, directory, createdPaths.flat());
  const writer = new StoreBatches(folderOf, files.threads, { clock, ...retryParts });
  return {
    read: async () => {
      await writer.flush();
      return readContent(folderOf, schemas);
    },
    write: (kind, key, value) => writer.change({ kind: String(kind), key, value }),
    remove: (kind, key) => writer.change({ kind: String(kind), key }),
    flush: () => writer.flush(),
    close: () => writer.close(),
    failure: () => writer.failure(),
    isUnwritten: (kind, key) => writer.isUnwritten(kind, key),
    whenWritten: (kind, key) => writer.whenWritten(kind, key),
  };
}

/** Syncs a folder and all folders created above it, because a file is only durable if they are. */
async function syncFolders(files: FileSystem, directory: string, createdPaths: readonly string[]): Promise<void> {
  const highest = Math.min(...[directory, ...createdPaths].map((created) => path.dirname(created).length));
  const folders = [directory];
  for (let above = path.dirname(directory); above.length >= highest && above !== folders.at(-1); ) {
    folders.push(above);
    above = path.dirname(above);
  }
  await Promise.all(folders.map((folder) => syncDirectory(files, folder)));
}

async function readContent<Schemas extends FactSchemas>(
  folderOf: (kind: string) => FactFolder,
  schemas: Schemas,
): Promise<StoreContent<Schemas>> {
  const read = await Promise.all(
    Object.entries(schemas).map(async ([kind, schema]) => [kind, await readFacts(folderOf(kind), schema)] as const),
  );
  const facts = Object.fromEntries(read.map(([kind, read]) => [kind, new Map(read.flatMap(pairOf))]));
  const damaged = read.flatMap(([, facts]) => facts.flatMap((fact) => ('damaged' in fact ? [fact.damaged] : [])));
  // Safe cast: each map was parsed with the schema of its kind, which `fromEntries` cannot express.
  return { facts: facts as unknown as StoreContent<Schemas>['facts'], damaged };
}

function pairOf<Value>(fact: ReadFact<Value>): [string, Value][] {
  return 'damaged' in fact ? [] : [[fact.key, fact.value]];
}
