/** Reads what the runtime shows of a container; of one that has ended with its last words (C22). */

import { messageOf } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedContainerStatus } from '../../../cri/client/observe.ts';
import {
  lastLogLines,
  type TerminationMessageSource,
  terminationMessageSource,
} from '../../../cri/terminationMessage.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { unlessGone } from '../sandboxes/sandboxes.ts';

const LONGEST_FILE = 4_096;
const LONGEST_FROM_LOG = 2_048;
const MOST_LINES = 80;
/** Runtimes part lines at 16 KiB: so much of a log's end holds what is asked for with the starts of its lines. */
const LOG_END = 65_536;

/** Null when the runtime does not have it. A status does not name the sandbox; a list does. */
export async function readContainer(
  { cri, files }: { readonly cri: Cri; readonly files: FileSystem },
  { id, sandboxId = '' }: { readonly id: string; readonly sandboxId?: string },
  options: CallOptions,
): Promise<ObservedContainer | null> {
  try {
    const { status } = await cri.containerStatus({ containerId: id, verbose: false }, options);
    const shown = status && observedContainerStatus(status, sandboxId);
    if (!shown) return null;
    if (shown.state !== 'exited') return shown;
    // The runtime's own word comes before the container's.
    const message = [shown.message, await terminationMessage(files, terminationMessageSource(status))]
      .filter(Boolean)
      .join(': ');
    return message === '' ? shown : { ...shown, message };
  } catch (error) {
    unlessGone(error);
    return null;
  }
}

async function terminationMessage(files: FileSystem, { file, log }: TerminationMessageSource): Promise<string> {
  if (file !== undefined) {
    const written = await tailOf(files, file, LONGEST_FILE);
    if (typeof written === 'string') return `Error on reading termination log ${file}: ${written}`;
    if (written.length > 0) return textOf(written);
  }
  if (log === undefined) return '';
  const end = await tailOf(files, log, LOG_END);
  if (typeof end === 'string') return `Error on reading termination message from logs: ${end}`;
  return textOf(lastLogLines(end, MOST_LINES).subarray(-LONGEST_FROM_LOG));
}

/** What stands there, nothing when there is no such file, or why it cannot be read. */
async function tailOf(files: FileSystem, path: string, most: number): Promise<Buffer | string> {
  try {
    return await files.tail(path, most);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    return messageOf(error);
  }
}

/** As text; a character whose beginning was cut off is left out. */
function textOf(bytes: Buffer): string {
  const isMiddle = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;
  const start = bytes.findIndex((byte) => !isMiddle(byte));
  return bytes.toString('utf8', Math.max(0, start));
}
