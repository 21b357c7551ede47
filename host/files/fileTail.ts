import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Returns the last bytes of a file, at most `maxBytes`. Rejects anything but a regular file, because a pipe may never
 * end.
 */
export async function readTail(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is not a regular file');
    const length = Math.min(maxBytes, stat.size);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, stat.size - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
