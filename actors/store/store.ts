/** What must outlive a restart and cannot be read from the runtime: durable facts by kind and key, as plain files. */
import path from 'node:path';
import type * as z from 'zod/mini';
import { systemClock } from '../../base/clock.ts';
import { assertDirectoryOrMissing } from '../../host/files/expectDirectory.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { syncDirectory } from '../../host/files/syncDirectory.ts';
import { StoreBatches } from './storeBatches.ts';
import { type FactFolder, type ReadFact, readFacts, removeHalfWritten } from './storeFiles.ts';
import type { Retrying, StoreFailure } from './unwrittenFacts.ts';

/** The kinds of facts, each with the schema that reads them; reading again what was read must change nothing. */
type FactSchemas = Readonly<Record<string, z.ZodMiniType>>;

/** Everything that the store holds, and one message for each file that could not be read. */
interface StoreContent<Schemas extends FactSchemas> {
  readonly facts: { readonly [Kind in keyof Schemas]: ReadonlyMap<string, z.output<Schemas[Kind]>> };
  readonly damaged: readonly string[];
}

/**
 * The port to the durable facts. A write that fails rejects with reason `StoreFailed`; it is kept and tried again until it
 * succeeds, or another takes its place. One that the disk does not answer waits on, and is tried again as well.
 */
export interface Store<Schemas extends FactSchemas> {
  /** Reads all facts after what was written before; a file that holds none is set aside, not fatal. */
  readonly read: () => Promise<StoreContent<Schemas>>;
  /** Resolves when this value, or one written to the key after it, is durable. */
  readonly write: <Kind extends keyof Schemas>(
    kind: Kind,
    key: string,
    value: z.output<Schemas[Kind]>,
  ) => Promise<void>;
  /** Resolves when the key is durably gone, or rewritten. */
  readonly remove: (kind: keyof Schemas, key: string) => Promise<void>;
  /** Resolves when nothing is left to write but what the disk does not answer, whether it succeeded or not. */
  readonly flush: () => Promise<void>;
  /** As `flush`, for the last time: what cannot be written then is not tried again, and no timer is left. */
  readonly close: () => Promise<void>;
  /** What could not be written so far. */
  readonly failure: () => StoreFailure | undefined;
  /** Whether the last change of a key is not durable yet. */
  readonly isUnwritten: (kind: keyof Schemas & string, key: string) => boolean;
  /** Resolves when it is, however often it has to be tried. */
  readonly whenWritten: (kind: keyof Schemas & string, key: string) => Promise<void>;
}

export interface StoreOptions extends Partial<Retrying> {
  /** The host's own when absent. */
  readonly files?: FileSystem;
}

/**
 * Opens the store in a directory, which it makes: a folder a kind, below it a file a fact. Several changes of a key
 * that wait for the disk are one.
 */
export async function openStore<Schemas extends FactSchemas>(
  directory: string,
  schemas: Schemas,
  { files = hostFiles, clock = systemClock, ...retrying }: StoreOptions = {},
): Promise<Store<Schemas>> {
  const folderOf = (kind: string): FactFolder => ({ files, directory: path.join(directory, kind) });
  const made = await Promise.all(
    Object.keys(schemas).map(async (kind) => {
      const folder = folderOf(kind);
      await assertDirectoryOrMissing(folder.directory, files);
      const first = await files.mkdir(folder.directory, { recursive: true, mode: 0o700 });
      await removeHalfWritten(folder);
      // What a process that died had not synced is about to be relied on.
      await syncDirectory(folder.files, folder.directory);
      return first ?? [];
    }),
  );
  await syncFolders(files, directory, made.flat());
  const writer = new StoreBatches(folderOf, files.threads, { clock, ...retrying });
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

/** What is made durable in a folder is so once the folder is, and all that were made above it. */
async function syncFolders(files: FileSystem, directory: string, made: readonly string[]): Promise<void> {
  const highest = Math.min(...[directory, ...made].map((each) => path.dirname(each).length));
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
  const facts = Object.fromEntries(read.map(([kind, found]) => [kind, new Map(found.flatMap(pairOf))]));
  const damaged = read.flatMap(([, found]) => found.flatMap((fact) => ('damaged' in fact ? [fact.damaged] : [])));
  // each map was read by the schema of its kind: fromEntries cannot say so
  return { facts: facts as unknown as StoreContent<Schemas>['facts'], damaged };
}

function pairOf<Value>(fact: ReadFact<Value>): [string, Value][] {
  return 'damaged' in fact ? [] : [[fact.key, fact.value]];
}
