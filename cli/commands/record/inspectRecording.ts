/** `statelet inspect`: serves the page for a recording, without an agent. */
import { systemClock } from '../../../base/time/clock.ts';
import { isLoopback, type PageAddress, parsePageAddress } from '../../../inspect/address.ts';
import { NotInspected } from '../../../inspect/inspected.ts';
import { createRecordedNode } from '../../../inspect/past/recordedNode.ts';
import { PastThread } from '../../../inspect/past/worker/pastThread.ts';
import { servePage } from '../../../inspect/servePage.ts';
import { isoTime } from '../../../kubernetes/api/values/rfc3339.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { newPageToken, pageDirectory } from '../../../node/serve/page.ts';
import { machinesDigest } from '../../../node/start/observation/machinesDigest.ts';
import { handleStopSignals, untilStopRequested } from '../../terminal/signals.ts';

export interface InspectOptions {
  /** The address of the page, in the format of `--inspect-address`. Defaults to any free port of 127.0.0.1. */
  readonly address?: string;
}

/** Options for the initial view of the page. */
interface FirstView {
  /** The time to show, in milliseconds since the epoch. Defaults to the end of the recording. */
  readonly at?: number | undefined;
  /** Opens the link in a browser. The returned function cleans up, and is called when the page is closed. */
  readonly open?: (url: string) => Promise<() => Promise<void>>;
}

/** Serves the page for a recording until a signal stops it. */
export async function inspectRecording(
  path: string,
  options: InspectOptions,
  write: (text: string) => unknown,
  { at, open }: FirstView = {},
): Promise<void> {
  const { address, isOpen } = parseAddress(options);
  const pastThread = new PastThread({ path, machines: machinesDigest(), mode: 'file', clock: systemClock });
  const signals = handleStopSignals();
  try {
    await assertReplayable(path, pastThread);
    const server = await servePage({
      address,
      directory: pageDirectory(),
      token: isOpen ? undefined : newPageToken(),
      openInspectedNode: async () => createRecordedNode(pastThread, async () => pastThread.close()),
    });
    const url = linkWithTime(server.url, at);
    write(`${url}\nPress Ctrl-C to stop.\n`);
    const cleanUp = await open?.(url);
    await untilStopRequested(signals.stopSignal);
    await Promise.all([server.close(), cleanUp?.()]);
  } finally {
    pastThread.close();
    signals.close();
  }
}

function linkWithTime(link: string, at: number | undefined): string {
  if (at === undefined) return link;
  return `${link}${link.includes('?') ? '&' : '?'}at=${isoTime(at)}`;
}

function parseAddress({ address = '127.0.0.1:0' }: InspectOptions): PageAddress {
  const page = parsePageAddress(address);
  if (page === undefined)
    throw new ConfigError(`--address ${address}: expected an IP address and a port such as "127.0.0.1:8080"`);
  if (!isLoopback(page.address)) throw new ConfigError(`--address ${address}: a recording is shown on this host only`);
  return page;
}

/** Largest timestamp that a `Date` can represent, which is later than the end of any recording. */
const MAX_TIMESTAMP_MS = 8.64e15;

/** Throws a `ConfigError` before serving if the recording is unreadable or was written by a different version. */
async function assertReplayable(path: string, pastThread: PastThread): Promise<void> {
  const throwConfigError = (cause: unknown): never => {
    throw cause instanceof NotInspected ? new ConfigError(cause.message, { cause }) : cause;
  };
  if ((await pastThread.recorded().catch(throwConfigError)) === undefined)
    throw new ConfigError(`${path}: nothing in it can be replayed`);
  await pastThread.moment(MAX_TIMESTAMP_MS).catch(throwConfigError);
}
