/** `statelet inspect`: the page over a recording, without an agent. */
import { systemClock } from '../../../base/clock.ts';
import { isLoopback, type PageAddress, parsePageAddress } from '../../../inspect/address.ts';
import { NotInspected } from '../../../inspect/inspected.ts';
import { PastThread } from '../../../inspect/past/pastThread.ts';
import { createRecordedNode } from '../../../inspect/past/recordedNode.ts';
import { servePage } from '../../../inspect/server.ts';
import { isoTime } from '../../../kubernetes/api/rfc3339.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { newPageToken, pageDirectory } from '../../../node/serve/page.ts';
import { machinesDigest } from '../../../node/start/machinesDigest.ts';
import { askedToEnd, endOnSignals } from '../../terminal/signals.ts';

export interface InspectOptions {
  /** The address of the page, as `--inspect-address`. The default is any port of 127.0.0.1. */
  readonly address?: string;
}

/** The first view of the page. */
interface FirstView {
  /** The time to show, in milliseconds since the epoch. The default is the end of the recording. */
  readonly at?: number | undefined;
  /** Opens the link in a browser. The returned function cleans up when the page is closed. */
  readonly open?: (url: string) => Promise<() => Promise<void>>;
}

/** Serves the page over a recording until a signal ends it. */
export async function inspectRecording(
  path: string,
  options: InspectOptions,
  write: (text: string) => unknown,
  { at, open }: FirstView = {},
): Promise<void> {
  const { address, isOpen } = addressOf(options);
  const past = new PastThread({ path, machines: machinesDigest(), mode: 'file', clock: systemClock });
  const signals = endOnSignals();
  try {
    await expectRecording(path, past);
    const server = await servePage({
      address,
      directory: pageDirectory(),
      token: isOpen ? undefined : newPageToken(),
      inspected: async () => createRecordedNode(past, async () => past.close()),
    });
    const url = linkAt(server.url, at);
    write(`${url}\nCtrl-C ends it.\n`);
    const cleanUp = await open?.(url);
    await askedToEnd(signals.asked);
    await Promise.all([server.close(), cleanUp?.()]);
  } finally {
    past.close();
    signals.close();
  }
}

function linkAt(link: string, at: number | undefined): string {
  if (at === undefined) return link;
  return `${link}${link.includes('?') ? '&' : '?'}at=${isoTime(at)}`;
}

function addressOf({ address = '127.0.0.1:0' }: InspectOptions): PageAddress {
  const page = parsePageAddress(address);
  if (page === undefined)
    throw new ConfigError(`--address ${address}: expected an IP address and a port such as "127.0.0.1:8080"`);
  if (!isLoopback(page.address)) throw new ConfigError(`--address ${address}: a recording is shown on this host only`);
  return page;
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
