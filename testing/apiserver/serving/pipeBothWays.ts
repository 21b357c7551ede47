import type { Duplex } from 'node:stream';

/** Copies in both directions with backpressure until one side is closed, and then closes the other one. */
export async function pipeBothWays(one: Duplex, other: Duplex): Promise<void> {
  const closed = [one, other].map(
    (side) => new Promise<void>((resolve) => side.on('error', () => {}).once('close', () => resolve())),
  );
  one.pipe(other).pipe(one);
  for (const [side, peer] of [
    [one, other],
    [other, one],
  ] as const)
    side.once('close', () => (peer.writableFinished ? peer.destroy() : peer.end(() => peer.destroy())));
  await Promise.all(closed);
}
