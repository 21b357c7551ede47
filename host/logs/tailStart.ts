/** Finds the start of the last lines of a log across its files. Uncompressed files are read backwards. */
import { LineSplitter } from './lineSplitter.ts';
import { isCompressed, isDamagedFile, readBytesAt, readUnpackedBlocks } from './logBlocks.ts';
import { completesLine } from './logLine.ts';
import type { LogFile } from './openLog.ts';
import type { UnpackedTails } from './unpackedTails.ts';

const NEWLINE = 10;
const READ_BLOCK_BYTES = 64 * 1_024;
/** Number of bytes of a line that suffice to determine whether it is partial. */
const LINE_START_BYTES = 256;

/**
 * Position from which to read: the index of the file, and the offset or, in a compressed file, the number of lines to
 * skip.
 */
export interface TailStart {
  readonly file: number;
  readonly from: number;
  readonly linesToSkip: number;
}

interface TailOptions {
  /** Maximum number of bytes to search backwards, counted after decompression. */
  readonly maxBytes?: number | undefined;
  /** Cache of the ends of compressed files, which is used instead of reading the files. */
  readonly unpackedTails?: UnpackedTails | undefined;
  /** Cancels the search, whose result must then be ignored. */
  readonly signal: AbortSignal;
}

/**
 * Returns the start of the last `lineCount` complete lines. Partial lines that belong together are counted as one line,
 * and an incomplete last line is not counted. Searches at most `maxBytes` of text, so the first line may be truncated.
 */
export async function findTailStart(
  files: readonly LogFile[],
  lineCount: number,
  { maxBytes = Number.POSITIVE_INFINITY, unpackedTails, signal }: TailOptions,
): Promise<TailStart> {
  let remainingLines = lineCount;
  let remainingBytes = maxBytes;
  for (let file = files.length - 1; file >= 0; file -= 1) {
    const { handle } = files[file] ?? {};
    if (handle === undefined || signal.aborted) break;
    if (await isCompressed(handle)) {
      const { count, length } = await countCompressedLines(handle, { unpackedTails, signal });
      if (count >= remainingLines) return { file, from: 0, linesToSkip: count - remainingLines };
      if (length >= remainingBytes) return { file, from: 0, linesToSkip: 0 };
      remainingLines -= count;
      remainingBytes -= length;
    } else {
      const { from, count, lengthBytes } = await findLastLines(handle, remainingLines, remainingBytes);
      if (count === remainingLines || lengthBytes >= remainingBytes) return { file, from, linesToSkip: 0 };
      remainingLines -= count;
      remainingBytes -= lengthBytes;
    }
  }
  return { file: 0, from: 0, linesToSkip: 0 };
}

type LogHandle = LogFile['handle'];

async function countCompressedLines(
  handle: LogHandle,
  { unpackedTails, signal }: Pick<TailOptions, 'unpackedTails' | 'signal'>,
): Promise<{ readonly count: number; readonly length: number }> {
  if (unpackedTails !== undefined) {
    const { text, lineCount } = await unpackedTails.tailOf(handle, signal);
    return { count: lineCount, length: text.length };
  }
  const splitter = new LineSplitter();
  let [count, length] = [0, 0];
  try {
    for await (const block of readUnpackedBlocks(handle)) {
      length += block.length;
      if (signal.aborted) break;
      for (const { bytes, isLineStart } of splitter.parts(block)) if (isLineStart && completesLine(bytes)) count += 1;
    }
  } catch (error) {
    // Ignore the damage here, because it is reported when the file is read. The lines before the damaged part are
    // counted.
    if (!isDamagedFile(error)) throw error;
  }
  return { count, length };
}

interface LastLines {
  readonly from: number;
  readonly count: number;
  /** Bytes from `from` to the end of the file. */
  readonly lengthBytes: number;
}

/**
 * Finds the last lines of an uncompressed file. Returns at most `maxLines` lines, and stops at the first line start
 * beyond `maxBytes`.
 */
async function findLastLines(handle: LogHandle, maxLines: number, maxBytes: number): Promise<LastLines> {
  const { size } = await handle.stat();
  let [from, count, isFirst] = [size, 0, true];
  /** Handles a line start. Returns whether the search is complete, because enough lines or bytes have been found. */
  const visitLineStart = (start: number, line: Buffer): boolean => {
    const isCompleteLine = !isFirst && completesLine(line);
    isFirst = false;
    if (isCompleteLine && count === maxLines) return true;
    if (isCompleteLine) count += 1;
    from = start;
    return size - from >= maxBytes;
  };
  let followingBytes: Buffer = Buffer.alloc(0);
  for (let blockEnd = size; blockEnd > 0; ) {
    const blockStart = Math.max(0, blockEnd - READ_BLOCK_BYTES);
    const block = await readBytesAt(handle, blockStart, blockEnd - blockStart);
    const bytes = Buffer.concat([block, followingBytes]);
    for (
      let index = block.lastIndexOf(NEWLINE);
      index >= 0;
      index = index === 0 ? -1 : block.lastIndexOf(NEWLINE, index - 1)
    ) {
      if (visitLineStart(blockStart + index + 1, bytes.subarray(index + 1, index + 1 + LINE_START_BYTES))) {
        return { from, count, lengthBytes: size - from };
      }
    }
    followingBytes = bytes.subarray(0, LINE_START_BYTES);
    blockEnd = blockStart;
  }
  visitLineStart(0, followingBytes);
  return { from, count, lengthBytes: size - from };
}
