/**
 * Stores durable facts by kind and key in plain files, because they must survive a restart and cannot be read from the
 * runtime.
 */
import path from 'node:path';
import type * as z from 'zod/mini';
import { systemClock } from '../../base/time/clock.ts';
import { assertDirectoryOrMissing } from '../../host/files/assertDirectoryOrMissing.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { StoreBatches } from './storeBatches.ts';
import { type FactFolder, type ReadFact, readFacts, removeTemporaryFiles } from './storeFiles.ts';
import type { RetryDependencies, StoreFailure } from './unwrittenFacts.ts';

/** The schemas of all kinds of facts. Parsing a fact must be idempotent. */
type FactSchemaMap = Readonly<Record<string, z.ZodMiniType>>;

/** The contents of the store, and one message for each unreadable file. */
interface StoreContent<Schemas extends FactSchemaMap> {
  readonly facts: { readonly [Kind in keyof Schemas]: ReadonlyMap<string, z.output<Schemas[Kind]>> };
  readonly damageMessages: readonly string[];
}

/**
 * The durable facts. A failed write rejects with reason `StoreFailed` and is retried until it succeeds or a later
 * change replaces it. A hanging write stays pending and is also retried.
 */
export interface FactStore<Schemas extends FactSchemaMap> {
  /** Reads all facts, including pending writes. A damaged file is quarantined. */
  readonly read: () => Promise<StoreContent<Schemas>>;
  /** Resolves when this value, or a later value of the same key, is durable. */
  readonly write: <Kind extends keyof Schemas>(
    kind: Kind,
    key: string,
    value: z.output<Schemas[Kind]>,
  ) => Promise<void>;
  /** Resolves when the removal of the key is durable or the key is written again. */
  readonly remove: (kind: keyof Schemas, key: string) => Promise<void>;
  /** Resolves when all writes have succeeded, failed or timed out. */
  readonly flush: () => Promise<void>;
  /** Flushes and then stops retrying, so that no timer remains. */
  readonly close: () => Promise<void>;
  /** Returns the number of unwritten facts and the last failure, if any. */
  readonly failure: () => StoreFailure | undefined;
  /** Whether the last change of a key is not durable yet. */
  readonly isUnwritten: (kind: keyof Schemas & string, key: string) => boolean;
  /** Resolves when the last change of a key is durable, after any number of attempts. */
  readonly whenWritten: (kind: keyof Schemas & string, key: string) => Promise<void>;
  /** Resolves when the current contents of a checkpoint are durable. */
  readonly writeCheckpoint: (name: string) => Promise<void>;
}

/** Files whose names and formats another program defines. */
interface CheckpointFolder {
  readonly directory: string;
  /** Returns the current contents of a checkpoint. */
  readonly formatFile: (name: string) => string;
}

export interface StoreOptions extends Partial<RetryDependencies> {
  /** Defaults to the host's file system. */
  readonly files?: FileSystem;
  readonly checkpoints?: CheckpointFolder;
}

/** Kind under which changes of checkpoints are batched. Unlike the other kinds, it is not the name of a folder. */
const CHECKPOINTS = 'checkpoints';

/**
 * Opens the store in a directory, which is created if missing. The directory contains a folder for each kind with a
 * file for each fact. Changes of the same key that wait for the disk are merged.
 */
export async function openStore<Schemas extends FactSchemaMap>(
  directory: string,
  schemas: Schemas,
  { files = hostFiles, clock = systemClock, checkpoints, ...retryParts }: StoreOptions = {},
): Promise<FactStore<Schemas>> {
  const createFolder = (kind: string): FactFolder =>
    kind === CHECKPOINTS && checkpoints ? { files, ...checkpoints } : { files, directory: path.join(directory, kind) };
  const createdPaths = await Promise.all(
    Object.keys(schemas).map(async (kind) => {
      const factFolder = createFolder(kind);
      await assertDirectoryOrMissing(factFolder.directory, files);
      const firstCreated = await files.mkdir(factFolder.directory, { recursive: true, mode: 0o700 });
      await removeTemporaryFiles(factFolder);
      // Sync facts that a previous process may have written without syncing, because later writes assume that they are
      // durable.
      await syncDirectory(factFolder.files, factFolder.directory);
      return firstCreated ?? [];
    }),
  );
  await syncCreatedFolders(files, directory, createdPaths.flat());
  const batchWriter = new StoreBatches(createFolder, files.threadCount, { clock, ...retryParts });
  return {
    read: async () => {
      await batchWriter.flush();
      return readContent(createFolder, schemas);
    },
    write: (kind, key, value) => batchWriter.change({ kind: String(kind), key, value }),
    remove: (kind, key) => batchWriter.change({ kind: String(kind), key }),
    flush: () => batchWriter.flush(),
    close: () => batchWriter.close(),
    failure: () => batchWriter.failure(),
    isUnwritten: (kind, key) => batchWriter.isUnwritten(kind, key),
    whenWritten: (kind, key) => batchWriter.whenWritten(kind, key),
    writeCheckpoint: (name) => batchWriter.change({ kind: CHECKPOINTS, key: name, value: null }),
  };
}

/**
 * Syncs a folder and all its ancestors up to the parent of the topmost created folder, because a file is only durable
 * if its folders are.
 */
async function syncCreatedFolders(
  files: FileSystem,
  directory: string,
  createdPaths: readonly string[],
): Promise<void> {
  const shortestLength = Math.min(...[directory, ...createdPaths].map((created) => path.dirname(created).length));
  const foldersToSync = [directory];
  for (
    let ancestor = path.dirname(directory);
    ancestor.length >= shortestLength && ancestor !== foldersToSync.at(-1);
  ) {
    foldersToSync.push(ancestor);
    ancestor = path.dirname(ancestor);
  }
  await Promise.all(foldersToSync.map((folder) => syncDirectory(files, folder)));
}

async function readContent<Schemas extends FactSchemaMap>(
  createFolder: (kind: string) => FactFolder,
  schemas: Schemas,
): Promise<StoreContent<Schemas>> {
  const factsOfKinds = await Promise.all(
    Object.entries(schemas).map(async ([kind, schema]) => [kind, await readFacts(createFolder(kind), schema)] as const),
  );
  const factsByKind = Object.fromEntries(factsOfKinds.map(([kind, read]) => [kind, new Map(read.flatMap(toEntry))]));
  const damageMessages = factsOfKinds.flatMap(([, facts]) =>
    facts.flatMap((fact) => ('damaged' in fact ? [fact.damaged] : [])),
  );
  // Safe cast: each map was parsed with the schema of its kind, which `fromEntries` cannot express.
  return { facts: factsByKind as unknown as StoreContent<Schemas>['facts'], damageMessages };
}

function toEntry<Value>(fact: ReadFact<Value>): [string, Value][] {
  return 'damaged' in fact ? [] : [[fact.key, fact.value]];
}
