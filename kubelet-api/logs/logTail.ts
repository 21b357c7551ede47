/** Finds where the last lines of a file begin, from its end (cri-client, tail.go). */
import type { FileHandle } from 'node:fs/promises';
import { bytesAt } from '../../host/logs/logBlocks.ts';

const NEWLINE = 10;
/** The first look is at so much, which has a few lines; each further one at twice as much. */
const FIRST = 1_024;
const LARGEST = 32 * 1_024;

/**
 * Where the last `lines` lines of a file begin. Any newline ends one, whatever is in it; what follows the last newline
 * is none.
 */
export async function tailStart(handle: FileHandle, lines: number, signal: AbortSignal): Promise<number> {
  const { size } = await handle.stat();
  let [missing, length] = [lines + 1, FIRST];
  for (let end = size; end > 0 && !signal.aborted; length = Math.min(2 * length, LARGEST)) {
    const begin = Math.max(0, end - length);
    const block = await bytesAt(handle, begin, end - begin);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      missing -= 1;
      if (missing === 0) return begin + at + 1;
    }
    end = begin;
  }
  return 0;
}
