/** The ends of compressed files of logs, in memory for a reader that returns again and again. */
import type { FileHandle } from 'node:fs/promises';
import { LineSplitter } from './lineSplitter.ts';
import { isDamage, unpackedBlocks } from './logBlocks.ts';
import { endsLine } from './logLine.ts';

/** The end of the text of a compressed file. */
export interface UnpackedTail {
  readonly text: Buffer;
  /** Lines that end in the text. Parts of a line are one line together. */
  readonly lines: number;
}

interface TailLimits {
  /** Maximum bytes of text per file, from which on the rest of a line may be the first one. */
  readonly maxBytes: number;
  /** Maximum number of files in memory. */
  readonly maxFiles: number;
}

/** Decompresses each file once, as long as it is among the last that were read. */
export class UnpackedTails {
  readonly #limits: TailLimits;
  /** By the identity of the file, the least recently used first. */
  readonly #tails = new Map<string, UnpackedTail>();

  constructor(limits: TailLimits) {
    this.#limits = limits;
  }

  /** Returns the end of a file, as far as the file can be decompressed, or as far as it was until the signal aborted. */
  async of(handle: FileHandle, signal: AbortSignal): Promise<UnpackedTail> {
    const { dev, ino, size, mtimeMs } = await handle.stat();
    const key = [dev, ino, size, mtimeMs].join(' ');
    const tail = this.#tails.get(key) ?? (await unpackedTail(handle, this.#limits.maxBytes, signal));
    this.#tails.delete(key);
    if (!signal.aborted) this.#tails.set(key, tail);
    for (const oldest of this.#tails.keys()) {
      if (this.#tails.size <= this.#limits.maxFiles) break;
      this.#tails.delete(oldest);
    }
    return tail;
  }
}

async function unpackedTail(handle: FileHandle, maxBytes: number, signal: AbortSignal): Promise<UnpackedTail> {
  const blocks: Buffer[] = [];
  let length = 0;
  try {
    for await (const block of unpackedBlocks(handle)) {
      if (signal.aborted) break;
      blocks.push(block);
      length += block.length;
      while (length - (blocks[0]?.length ?? 0) >= maxBytes) length -= blocks.shift()?.length ?? 0;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const text = Buffer.concat(blocks);
  return { text, lines: linesIn(text) };
}

/** Counts the lines that end in a text. */
function linesIn(text: Buffer): number {
  let lines = 0;
  for (const { bytes, isStart } of new LineSplitter().parts(text)) if (isStart && endsLine(bytes)) lines += 1;
  return lines;
}
