/** Writes a recording out, as it is on disk. */
import { type FileHandle, open } from 'node:fs/promises';
import { isMissing } from '../host/files/fileErrors.ts';
import { RecordingError } from './recordingError.ts';
import { type Member, RecordingFile, readAt } from './recordingFile.ts';

/** So much is read at a time, in bytes. */
const MOST_BYTES = 2 ** 20;

/** Members that lie one after the other in a file. */
interface Range {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/**
 * All that is whole of the recording at a path, in parts, from where it can be replayed on; undefined where there is
 * nothing. What a recorder removes meanwhile is left out.
 */
export async function bytesOf(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const { members } = (await RecordingFile.open(path).catch(unlessMissing)) ?? { members: [] };
  const first = members.findIndex(({ begins }) => begins !== 'no');
  return first < 0 ? undefined : parts(rangesOf(members.slice(first)));
}

/** Swallows the error of a missing file, whether it is the system's own or `RecordingFile.open` wraps it. */
function unlessMissing(error: unknown): undefined {
  if (!isMissing(error instanceof RecordingError ? error.cause : error)) throw error;
}

/** By file, in their order. */
function rangesOf(members: readonly Member[]): ReadonlyMap<string, readonly Range[]> {
  const ranges = new Map<string, Range[]>();
  for (const { file, offset, size } of members) {
    const ofFile = ranges.get(file) ?? [];
    const last = ofFile.at(-1);
    if (last?.to === offset) ofFile[ofFile.length - 1] = { ...last, to: offset + size };
    else ofFile.push({ file, from: offset, to: offset + size });
    ranges.set(file, ofFile);
  }
  return ranges;
}

async function* parts(files: ReadonlyMap<string, readonly Range[]>): AsyncGenerator<Uint8Array> {
  for (const [file, ranges] of files) {
    const handle = await open(file, 'r').catch(unlessMissing);
    try {
      if (handle) for (const range of ranges) yield* partsOf(handle, range);
    } finally {
      await handle?.close();
    }
  }
}

async function* partsOf(handle: FileHandle, { file, from, to }: Range): AsyncGenerator<Uint8Array> {
  for (let offset = from; offset < to; offset += MOST_BYTES) {
    const wanted = Math.min(MOST_BYTES, to - offset);
    const bytes = await readAt(handle, offset, wanted);
    // What came after it could not be told from what is torn.
    if (bytes.length < wanted) throw new RecordingError(`${file}: became shorter while it was read`);
    yield bytes;
  }
}
