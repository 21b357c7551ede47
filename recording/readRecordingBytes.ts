/** Exports a recording without changing its format. */
import { type FileHandle, open } from 'node:fs/promises';
import { isMissing } from '../host/files/fileErrors.ts';
import { RecordingError } from './recordingError.ts';
import { type Member, RecordingFile, readBytesAt } from './recordingFile.ts';

/** Number of bytes that are read at a time. */
const READ_BYTES = 2 ** 20;

/** A contiguous range of bytes that consists of whole gzip members. */
interface ByteRange {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the bytes of all intact gzip members of a recording, starting with the first one at which a replay can start.
 * Returns undefined if there is no such member. Skips files that the recorder deletes in the meantime.
 */
export async function readRecordingBytes(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const { members } = (await RecordingFile.open(path).catch(ignoreMissing)) ?? { members: [] };
  const firstIndex = members.findIndex(({ startKind }) => startKind !== 'no');
  return firstIndex < 0 ? undefined : readRanges(mergeRanges(members.slice(firstIndex)));
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error instanceof RecordingError ? error.cause : error)) throw error;
}

/** Merges adjacent members into ranges, grouped by file in the order of the members. */
function mergeRanges(members: readonly Member[]): ReadonlyMap<string, readonly ByteRange[]> {
  const rangesByFile = new Map<string, ByteRange[]>();
  for (const { file, offset, size } of members) {
    const fileRanges = rangesByFile.get(file) ?? [];
    const lastRange = fileRanges.at(-1);
    if (lastRange?.to === offset) fileRanges[fileRanges.length - 1] = { ...lastRange, to: offset + size };
    else fileRanges.push({ file, from: offset, to: offset + size });
    rangesByFile.set(file, fileRanges);
  }
  return rangesByFile;
}

async function* readRanges(files: ReadonlyMap<string, readonly ByteRange[]>): AsyncGenerator<Uint8Array> {
  for (const [file, ranges] of files) {
    const handle = await open(file, 'r').catch(ignoreMissing);
    try {
      if (handle) for (const range of ranges) yield* readRange(handle, range);
    } finally {
      await handle?.close();
    }
  }
}

async function* readRange(handle: FileHandle, { file, from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let offset = from; offset < to; offset += READ_BYTES) {
    const size = Math.min(READ_BYTES, to - offset);
    const bytes = await readBytesAt(handle, offset, size);
    // Fail, because a reader of the exported file would treat the gap as a torn write.
    if (bytes.length < size) throw new RecordingError(`${file}: became shorter while it was read`);
    yield bytes;
  }
}
