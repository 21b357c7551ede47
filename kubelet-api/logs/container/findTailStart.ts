/**
 * Finds the start of the last lines of a file by reading backwards (`staging/src/k8s.io/cri-client/pkg/logs/tail.go`).
 */
import type { FileHandle } from 'node:fs/promises';
import { readBytesAt } from '../../../host/logs/logBlocks.ts';

const NEWLINE = 10;
/** Size of the first read, which usually covers a few lines. Each further read doubles the size up to the maximum. */
const FIRST_READ_BYTES = 1_024;
const MAX_READ_BYTES = 32 * 1_024;

/**
 * Returns the offset of the last `lines` lines. Only newlines are counted, so an unfinished last line does not count as
 * a line.
 */
export async function findTailStart(handle: FileHandle, lines: number, signal: AbortSignal): Promise<number> {
  const { size } = await handle.stat();
  let [missing, length] = [lines + 1, FIRST_READ_BYTES];
  for (let end = size; end > 0 && !signal.aborted; length = Math.min(2 * length, MAX_READ_BYTES)) {
    const startOffset = Math.max(0, end - length);
    const block = await readBytesAt(handle, startOffset, end - startOffset);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      missing -= 1;
      if (missing === 0) return startOffset + at + 1;
    }
    end = startOffset;
  }
  return 0;
}
