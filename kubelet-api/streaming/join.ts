import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';

/** Idle timeout after one side has closed, in milliseconds. */
const IDLE_TIMEOUT_MS = 30_000;

interface JoinOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Aborts both connections. */
  readonly signal: AbortSignal;
}

/**
 * Copies bytes in both directions with backpressure until both connections are closed. If the client half-closes its
 * side, the runtime can still send. When the runtime closes its side, its last bytes are delivered and both connections
 * are closed. If the client disconnects, the runtime's connection is closed too.
 */
export async function join(client: Duplex, runtime: Duplex, { clock, signal }: JoinOptions): Promise<void> {
  const cut = () => {
    client.destroy();
    runtime.destroy();
  };
  const farewell = idleTimeout([client, runtime], clock, cut);
  signal.addEventListener('abort', cut);
  client.pipe(runtime);
  runtime.pipe(client);
  const closed = [untilClosed(client), untilClosed(runtime)];
  for (const side of [client, runtime]) side.once('end', farewell.begin);
  client.once('error', () => runtime.destroy());
  runtime.once('close', () => {
    farewell.begin();
    // Also end the client if the runtime's connection breaks. Discard data that the client still sends.
    client.end();
    client.resume();
  });
  runtime.once('end', () => client.once('finish', () => runtime.destroy()));
  client.once('close', () => {
    // Deliver the data that the client has sent, then close the runtime's connection, which containerd would otherwise
    // keep open for a minute.
    if (runtime.writableFinished) runtime.destroy();
    else runtime.end(() => runtime.destroy());
    farewell.begin();
    runtime.resume();
  });
  if (signal.aborted) cut();
  try {
    await Promise.all(closed);
  } finally {
    farewell.end();
    signal.removeEventListener('abort', cut);
  }
}

const untilClosed = (side: Duplex): Promise<void> =>
  new Promise((resolve) => {
    side.on('error', () => {});
    if (side.closed) resolve();
    else side.once('close', resolve);
  });

/** Calls `cut` if no data arrives during the idle timeout. */
function idleTimeout(sides: readonly Duplex[], clock: JoinOptions['clock'], cut: () => void) {
  let timer: unknown;
  let isStarted = false;
  let hasReceived = false;
  const wait = () => {
    timer = clock.setTimeout(() => {
      if (!hasReceived) return cut();
      hasReceived = false;
      wait();
    }, IDLE_TIMEOUT_MS);
  };
  const begin = () => {
    if (isStarted) return;
    isStarted = true;
    for (const side of sides) side.on('data', () => (hasReceived = true));
    wait();
  };
  return { begin, end: () => timer !== undefined && clock.clearTimeout(timer) };
}
