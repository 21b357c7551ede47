/** Finds where the last lines of a log begin, over its files: plain ones are read from their ends. */
import { LineSplitter } from './lineSplitter.ts';
import { bytesAt, isCompressed, isDamage, unpackedBlocks } from './logBlocks.ts';
import { endsLine } from './logLine.ts';
import type { LogFile } from './openLog.ts';

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

/**
 * Where the last `lines` whole lines begin; parts of a line are one line together, and one that has no end yet does not
 * count.
 */
export async function tailStart(files: readonly LogFile[], lines: number): Promise<TailStart> {
  let missing = lines;
  for (let file = files.length - 1; file >= 0; file -= 1) {
    const { handle } = files[file] ?? {};
    if (handle === undefined) break;
    if (await isCompressed(handle)) {
      const count = await linesPacked(handle);
      if (count >= missing) return { file, from: 0, skip: count - missing };
      missing -= count;
    } else {
      const { from, count } = await lastLines(handle, missing);
      if (count === missing) return { file, from, skip: 0 };
      missing -= count;
    }
  }
  return { file: 0, from: 0, skip: 0 };
}

type Handle = LogFile['handle'];

async function linesPacked(handle: Handle): Promise<number> {
  const splitter = new LineSplitter();
  let count = 0;
  try {
    for await (const block of unpackedBlocks(handle)) {
      for (const { bytes, isStart } of splitter.parts(block)) if (isStart && endsLine(bytes)) count += 1;
    }
  } catch (error) {
    // What can be read counts; whoever reads it says so.
    if (!isDamage(error)) throw error;
  }
  return count;
}

/** The last lines of a plain file, at most so many, and where they begin. */
async function lastLines(handle: Handle, most: number): Promise<{ readonly from: number; readonly count: number }> {
  const { size } = await handle.stat();
  let [from, count, isFirst] = [size, 0, true];
  /** Whether enough lines are found: the one that begins here is the last of those before them. */
  const isBefore = (start: number, line: Buffer): boolean => {
    const counts = !isFirst && endsLine(line);
    isFirst = false;
    if (counts && count === most) return true;
    if (counts) count += 1;
    from = start;
    return false;
  };
  let after: Buffer = Buffer.alloc(0);
  for (let end = size; end > 0; ) {
    const begin = Math.max(0, end - BLOCK);
    const block = await bytesAt(handle, begin, end - begin);
    const bytes = Buffer.concat([block, after]);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      if (isBefore(begin + at + 1, bytes.subarray(at + 1, at + 1 + LINE_START))) return { from, count };
    }
    after = bytes.subarray(0, LINE_START);
    end = begin;
  }
  isBefore(0, after);
  return { from, count };
}
