/** Caches the ends of compressed log files, for callers that read them frequently. */
import type { FileHandle } from 'node:fs/promises';
import { LineSplitter } from './lineSplitter.ts';
import { isDamagedFile, readUnpackedBlocks } from './logBlocks.ts';
import { completesLine } from './logLine.ts';

/** End of the decompressed contents of a file. */
export interface UnpackedTail {
  readonly text: Buffer;
  /** Number of lines that end within the text. Partial lines that belong together are counted as one line. */
  readonly lineCount: number;
}

interface TailLimits {
  /** Maximum number of cached bytes per file. The first line may be truncated. */
  readonly maxBytes: number;
  /** Maximum number of cached files. */
  readonly maxFiles: number;
}

/** Caches the ends of the most recently used compressed files, so that each of them is decompressed only once. */
export class UnpackedTails {
  readonly #limits: TailLimits;
  /** Tails by the identity of the file, least recently used first. */
  readonly #tails = new Map<string, UnpackedTail>();

  constructor(limits: TailLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the end of a file. If the file is damaged or the signal aborts, this is the end of the part that was
   * decompressed.
   */
  async tailOf(handle: FileHandle, signal: AbortSignal): Promise<UnpackedTail> {
    const { dev, ino, size, mtimeMs } = await handle.stat();
    const key = [dev, ino, size, mtimeMs].join(' ');
    const cachedTail = this.#tails.get(key);
    const tail = cachedTail ?? (await readTail(handle, this.#limits.maxBytes, signal));
    this.#tails.delete(key);
    // Do not cache the result of an aborted read, which may have stopped before the end of the file.
    if (cachedTail !== undefined || !signal.aborted) this.#tails.set(key, tail);
    for (const oldest of this.#tails.keys()) {
      if (this.#tails.size <= this.#limits.maxFiles) break;
      this.#tails.delete(oldest);
    }
    return tail;
  }
}

async function readTail(handle: FileHandle, maxBytes: number, signal: AbortSignal): Promise<UnpackedTail> {
  const blocks: Buffer[] = [];
  let totalBytes = 0;
  try {
    for await (const block of readUnpackedBlocks(handle)) {
      if (signal.aborted) break;
      blocks.push(block);
      totalBytes += block.length;
      while (totalBytes - (blocks[0]?.length ?? 0) >= maxBytes) totalBytes -= blocks.shift()?.length ?? 0;
    }
  } catch (error) {
    if (!isDamagedFile(error)) throw error;
  }
  const text = Buffer.concat(blocks);
  return { text, lineCount: countLines(text) };
}

function countLines(text: Buffer): number {
  let lineCount = 0;
  for (const { bytes, isLineStart } of new LineSplitter().parts(text))
    if (isLineStart && completesLine(bytes)) lineCount += 1;
  return lineCount;
}
