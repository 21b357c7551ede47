/** `statelet inspect`: the page over a recording, without an agent. */
import { systemClock } from '../actors/clock.ts';
import { addressIn, isLoopback } from '../inspect/address.ts';
import { NotInspected } from '../inspect/inspected.ts';
import { PastThread } from '../inspect/pastThread.ts';
import { recordedNode } from '../inspect/recordedNode.ts';
import { servePage } from '../inspect/server.ts';
import { ConfigError } from '../node/config/configError.ts';
import { machinesDigest } from '../node/machinesDigest.ts';
import { pageDirectory } from '../node/page.ts';
import { isoTime } from '../pod/api/rfc3339.ts';
import { askedToEnd, endOnSignals } from './signals.ts';

export interface InspectOptions {
  /** Where the page is served; absent: on any port of the loopback interface. */
  readonly address?: string;
}

/** How the page is shown at first. */
interface Shown {
  /** The moment, in milliseconds since the epoch; absent: the end. */
  readonly at?: number | undefined;
  /** What else is done with the address of the page. */
  readonly open?: (url: string) => Promise<void>;
}

/** Serves the page over a recording until a signal ends it. */
export async function inspectRecording(
  path: string,
  options: InspectOptions,
  write: (text: string) => unknown,
  { at, open }: Shown = {},
): Promise<void> {
  const address = addressOf(options);
  const past = new PastThread({ path, machines: machinesDigest(), mode: 'file', clock: systemClock });
  const signals = endOnSignals();
  try {
    await expectRecording(path, past);
    const server = await servePage({
      ...{ address, directory: pageDirectory() },
      inspected: async () => recordedNode(past, async () => past.end()),
    });
    const url = `${server.url}${at === undefined ? '' : `?at=${isoTime(at)}`}`;
    write(`${url}\nCtrl-C ends it.\n`);
    await open?.(url);
    await askedToEnd(signals.asked);
    await server.close();
  } finally {
    past.end();
    signals.close();
  }
}

function addressOf({ address = '127.0.0.1:0' }: InspectOptions) {
  const found = addressIn(address);
  if (found === undefined)
    throw new ConfigError(`--address ${address}: expected an IP address and a port such as "127.0.0.1:8080"`);
  if (!isLoopback(found)) throw new ConfigError(`--address ${address}: a recording is shown on this host only`);
  return found;
}

/** After whatever was recorded. */
const LAST = 8.64e15;

/** Before anybody looks: one that cannot be read, or that other machines have made, is told of on the terminal. */
async function expectRecording(path: string, past: PastThread): Promise<void> {
  const told = (cause: unknown): never => {
    throw cause instanceof NotInspected ? new ConfigError(cause.message, { cause }) : cause;
  };
  if ((await past.recorded().catch(told)) === undefined)
    throw new ConfigError(`${path}: nothing in it can be replayed`);
  await past.moment(LAST).catch(told);
}
