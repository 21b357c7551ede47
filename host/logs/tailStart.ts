/** Finds where the last lines of a log begin, over its files: plain ones are read from their ends. */
import { LineSplitter } from './lineSplitter.ts';
import { bytesAt, isCompressed, isDamage, unpackedBlocks } from './logBlocks.ts';
import { endsLine } from './logLine.ts';
import type { LogFile } from './openLog.ts';
import type { UnpackedTails } from './unpackedTails.ts';

const NEWLINE = 10;
const BLOCK = 64 * 1_024;
/** So much of a line tells whether it goes on in the next one. */
const LINE_START = 256;

/** Where to begin to read: in which file, from which byte of it or, of one that is compressed, after how many lines. */
export interface TailStart {
  readonly file: number;
  readonly from: number;
  readonly skip: number;
}

interface TailOptions {
  /** Maximum bytes of text that a file is searched back. */
  readonly mostBytes?: number | undefined;
  /** Ends of compressed files, which are read from there alone. */
  readonly tails?: UnpackedTails | undefined;
  /** Ends the search, whose result does not count then. */
  readonly signal: AbortSignal;
}

/**
 * Where the last `lines` whole lines begin; parts of a line are one line together, and one that has no end yet does not
 * count. No file is searched further back than `mostBytes` of text, from which on the rest of a line may be the first one.
 */
export async function tailStart(
  files: readonly LogFile[],
  lines: number,
  { mostBytes = Number.POSITIVE_INFINITY, tails, signal }: TailOptions,
): Promise<TailStart> {
  let missing = lines;
  let bytesLeft = mostBytes;
  for (let file = files.length - 1; file >= 0; file -= 1) {
    const { handle } = files[file] ?? {};
    if (handle === undefined || signal.aborted) break;
    if (await isCompressed(handle)) {
      const { count, length } = await linesPacked(handle, { tails, signal });
      if (count >= missing) return { file, from: 0, skip: count - missing };
      if (length >= bytesLeft) return { file, from: 0, skip: 0 };
      missing -= count;
      bytesLeft -= length;
    } else {
      const { from, count, length } = await lastLines(handle, missing, bytesLeft);
      if (count === missing || length >= bytesLeft) return { file, from, skip: 0 };
      missing -= count;
      bytesLeft -= length;
    }
  }
  return { file: 0, from: 0, skip: 0 };
}

type Handle = LogFile['handle'];

async function linesPacked(
  handle: Handle,
  { tails, signal }: Pick<TailOptions, 'tails' | 'signal'>,
): Promise<{ readonly count: number; readonly length: number }> {
  if (tails !== undefined) {
    const { text, lines } = await tails.of(handle, signal);
    return { count: lines, length: text.length };
  }
  const splitter = new LineSplitter();
  let [count, length] = [0, 0];
  try {
    for await (const block of unpackedBlocks(handle)) {
      length += block.length;
      if (signal.aborted) break;
      for (const { bytes, isStart } of splitter.parts(block)) if (isStart && endsLine(bytes)) count += 1;
    }
  } catch (error) {
    // What can be read counts; whoever reads it says so.
    if (!isDamage(error)) throw error;
  }
  return { count, length };
}

interface LastLines {
  readonly from: number;
  readonly count: number;
  /** Bytes from there to the end of the file. */
  readonly length: number;
}

/** Finds the start of the last lines of a plain file: at most `most` lines, and the first line start beyond `mostBytes`. */
async function lastLines(handle: Handle, most: number, mostBytes: number): Promise<LastLines> {
  const { size } = await handle.stat();
  let [from, count, isFirst] = [size, 0, true];
  /** Whether enough lines are found: the one that begins here is the last of those before them. */
  const isBefore = (start: number, line: Buffer): boolean => {
    const counts = !isFirst && endsLine(line);
    isFirst = false;
    if (counts && count === most) return true;
    if (counts) count += 1;
    from = start;
    return size - from >= mostBytes;
  };
  let after: Buffer = Buffer.alloc(0);
  for (let end = size; end > 0; ) {
    const begin = Math.max(0, end - BLOCK);
    const block = await bytesAt(handle, begin, end - begin);
    const bytes = Buffer.concat([block, after]);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      if (isBefore(begin + at + 1, bytes.subarray(at + 1, at + 1 + LINE_START))) {
        return { from, count, length: size - from };
      }
    }
    after = bytes.subarray(0, LINE_START);
    end = begin;
  }
  isBefore(0, after);
  return { from, count, length: size - from };
}
