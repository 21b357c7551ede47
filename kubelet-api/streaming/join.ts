import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/time/clock.ts';

/** Idle timeout after one side of the connection has closed, in milliseconds. */
const IDLE_TIMEOUT_MS = 30_000;

interface JoinOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Aborts the connections to the client and to the runtime. */
  readonly signal: AbortSignal;
}

/**
 * Copies bytes in both directions with backpressure until both connections are closed. If the client half-closes its
 * side, the runtime can still send. When the runtime closes its side, its last bytes are delivered and both connections
 * are closed. If the client disconnects, the runtime's connection is closed too.
 */
export async function joinStreams(client: Duplex, runtime: Duplex, { clock, signal }: JoinOptions): Promise<void> {
  const destroyBoth = () => {
    client.destroy();
    runtime.destroy();
  };
  const closeTimeout = createIdleTimeout([client, runtime], clock, destroyBoth);
  signal.addEventListener('abort', destroyBoth);
  client.pipe(runtime);
  runtime.pipe(client);
  const closePromises = [waitUntilClosed(client), waitUntilClosed(runtime)];
  for (const side of [client, runtime]) side.once('end', closeTimeout.start);
  client.once('error', () => runtime.destroy());
  runtime.once('close', () => {
    closeTimeout.start();
    // End the client's connection even if the runtime's connection breaks, and discard data that the client still
    // sends.
    client.end();
    client.resume();
  });
  runtime.once('end', () => client.once('finish', () => runtime.destroy()));
  client.once('close', () => {
    // Close the runtime's connection, because containerd would otherwise keep it open for a minute, but first deliver
    // the data that the client has sent.
    if (runtime.writableFinished) runtime.destroy();
    else runtime.end(() => runtime.destroy());
    closeTimeout.start();
    runtime.resume();
  });
  if (signal.aborted) destroyBoth();
  try {
    await Promise.all(closePromises);
  } finally {
    closeTimeout.end();
    signal.removeEventListener('abort', destroyBoth);
  }
}

const waitUntilClosed = (side: Duplex): Promise<void> =>
  new Promise((resolve) => {
    side.on('error', () => {});
    if (side.closed) resolve();
    else side.once('close', resolve);
  });

/** Calls `cut` if no data arrives during the idle timeout. */
function createIdleTimeout(sides: readonly Duplex[], clock: JoinOptions['clock'], cut: () => void) {
  let timer: unknown;
  let isStarted = false;
  let hasReceived = false;
  const restartTimer = () => {
    timer = clock.setTimeout(() => {
      if (!hasReceived) return cut();
      hasReceived = false;
      restartTimer();
    }, IDLE_TIMEOUT_MS);
  };
  const startTimeout = () => {
    if (isStarted) return;
    isStarted = true;
    for (const side of sides) side.on('data', () => (hasReceived = true));
    restartTimer();
  };
  return { start: startTimeout, end: () => timer !== undefined && clock.clearTimeout(timer) };
}
