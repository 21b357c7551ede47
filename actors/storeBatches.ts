/** Brings changes of durable facts to disk, many at a time. */
import { NodeFailure } from '../pod/failure.ts';
import { messageOf } from '../volume/fileErrors.ts';
import { removeFact, syncDirectory, writeFact } from './storeFiles.ts';

/** The last thing wanted of one key, and everybody who waits for it. */
interface Change {
  readonly kind: string;
  readonly key: string;
  /** Absent: the fact is to be deleted. */
  readonly value?: unknown;
  readonly waiting: { resolve: () => void; reject: (error: unknown) => void }[];
}

/** So many files are synced at a time: each holds one of the few threads that all file access shares. */
const PARALLEL_SYNCS = 2;

interface BatchWriter {
  readonly change: (wanted: Omit<Change, 'waiting'>) => Promise<void>;
  readonly flush: () => Promise<void>;
}

/**
 * Commits changes in batches: what comes while one batch is on its way to disk goes with the next, so that a burst
 * of changes costs one sync of each folder, and several changes of a key are one.
 */
export function batchWriter(folderOf: (kind: string) => string): BatchWriter {
  let pending = new Map<string, Change>();
  let running: Promise<void> | undefined;
  const drain = async () => {
    while (pending.size > 0) {
      const batch = [...pending.values()];
      pending = new Map();
      await commit(batch, folderOf);
    }
    running = undefined;
  };
  return {
    change: (wanted) => {
      const id = `${wanted.kind}/${wanted.key}`;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiting = pending.get(id)?.waiting ?? [];
      waiting.push({ resolve, reject });
      pending.set(id, { ...wanted, waiting });
      running ??= Promise.resolve().then(drain);
      return promise;
    },
    flush: async () => running,
  };
}

/** Brings a batch to disk: each file by itself, then each folder once for all of its files. */
async function commit(batch: readonly Change[], folderOf: (kind: string) => string): Promise<void> {
  const queue = batch.values();
  const done: Change[] = [];
  const worker = async () => {
    for (const change of queue) if (await settled([change], () => apply(change, folderOf))) done.push(change);
  };
  await Promise.all(Array.from({ length: PARALLEL_SYNCS }, worker));
  const byKind = Map.groupBy(done, (change) => change.kind);
  await Promise.all(
    [...byKind].map(async ([kind, changes]) => {
      if (!(await settled(changes, () => syncDirectory(folderOf(kind))))) return;
      for (const { waiting } of changes) for (const { resolve } of waiting) resolve();
    }),
  );
}

function apply(change: Change, folderOf: (kind: string) => string): Promise<void> {
  const folder = folderOf(change.kind);
  return 'value' in change ? writeFact(folder, change.key, change.value) : removeFact(folder, change.key);
}

/** Whether the work succeeded; when it failed, all who wait for these changes are told. */
async function settled(changes: readonly Change[], work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (cause) {
    const message = `a durable fact could not be written: ${messageOf(cause)}`;
    const failure = new NodeFailure('StoreFailed', message, { cause });
    for (const { waiting } of changes) for (const { reject } of waiting) reject(failure);
    return false;
  }
}
