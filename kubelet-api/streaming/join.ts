import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';

/** Once one side has ended, the other one is cut off when nothing has come for so long, in milliseconds. */
const FAREWELL_MS = 30_000;

interface JoinOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Cuts both off. */
  readonly signal: AbortSignal;
}

/**
 * Copies bytes both ways until both connections are closed, each no faster than it is read. What one side has ended is
 * ended for the other one, which may still send. Once the runtime has ended, its last bytes are handed over and all is
 * closed; a client that breaks off takes the runtime's side with it.
 */
export async function join(client: Duplex, runtime: Duplex, { clock, signal }: JoinOptions): Promise<void> {
  const cut = () => {
    client.destroy();
    runtime.destroy();
  };
  const farewell = farewells([client, runtime], clock, cut);
  signal.addEventListener('abort', cut);
  client.pipe(runtime);
  runtime.pipe(client);
  const closed = [closing(client), closing(runtime)];
  for (const side of [client, runtime]) side.once('end', farewell.begin);
  client.once('error', () => runtime.destroy());
  runtime.once('close', () => {
    farewell.begin();
    // Also where it broke off: what has come of it is the client's. What that still sends is for nobody.
    client.end();
    client.resume();
  });
  runtime.once('end', () => client.once('finish', () => runtime.destroy()));
  client.once('close', () => {
    // What it has sent is the runtime's, what that still says is for nobody: containerd would say so for a minute.
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

const closing = (side: Duplex): Promise<void> =>
  new Promise((resolve) => {
    side.on('error', () => {});
    if (side.closed) resolve();
    else side.once('close', resolve);
  });

/** Cuts what does not end by itself. */
function farewells(sides: readonly Duplex[], clock: JoinOptions['clock'], cut: () => void) {
  let timer: unknown;
  let isBegun = false;
  let moved = false;
  const wait = () => {
    timer = clock.setTimeout(() => {
      if (!moved) return cut();
      moved = false;
      wait();
    }, FAREWELL_MS);
  };
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    for (const side of sides) side.on('data', () => (moved = true));
    wait();
  };
  return { begin, end: () => timer !== undefined && clock.clearTimeout(timer) };
}
