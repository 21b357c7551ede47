/** Reads the runtime's status of a container, and the termination message of an exited one (C22). */

import { messageOf } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { observedContainerStatus } from '../../../cri/client/observe.ts';
import {
  type TerminationMessageSource,
  takeLastLogLines,
  terminationMessageSource,
} from '../../../cri/terminationMessage.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { oomKillMessage } from '../../../kubernetes/lifecycle/oomKill.ts';
import type { RunReason } from '../../../kubernetes/lifecycle/restart.ts';
import type { FindOomKill } from '../../feeds/oomWatcher.ts';
import { ignoreNotFound } from '../sandboxes/sandboxes.ts';

export interface StatusDependencies {
  readonly cri: Cri;
  readonly files: FileSystem;
  /** Undefined if the node does not watch for OOM kills. */
  readonly findOomKill?: FindOomKill | undefined;
}

const OOM_KILLED = 'OOMKilled' satisfies RunReason;

const MAX_FILE_BYTES = 4_096;
const MAX_LOG_MESSAGE_BYTES = 2_048;
const MAX_LOG_LINES = 80;
/**
 * Number of bytes to read from the end of a log. This is enough for the requested bytes of output and the prefixes of
 * their lines, because runtimes split lines at 16 KiB.
 */
const LOG_TAIL_BYTES = 65_536;

/**
 * Returns the status, or null if the runtime does not have the container. The runtime's status does not contain the
 * sandbox ID, so the caller passes it.
 */
export async function readContainer(
  { cri, files, findOomKill }: StatusDependencies,
  { id, sandboxId = '' }: { readonly id: string; readonly sandboxId?: string },
  options: CallOptions,
): Promise<ObservedContainer | null> {
  try {
    const { status } = await cri.containerStatus({ containerId: id, verbose: false }, options);
    const container = status && observedContainerStatus(status, sandboxId);
    if (!container) return null;
    if (container.state !== 'exited') return container;
    const own = await readTerminationMessage(files, terminationMessageSource(status));
    // Add nothing to a message that the container itself has written, because programs may parse it.
    const oomKill =
      container.reason === OOM_KILLED && !own.isFromFile ? await findOomKill?.(container.id, options) : undefined;
    // The runtime's message precedes the message that the container has written.
    const message = [container.message, oomKill && oomKillMessage(oomKill), own.text].filter(Boolean).join(': ');
    return message === '' ? container : { ...container, message };
  } catch (error) {
    ignoreNotFound(error);
    return null;
  }
}

interface TerminationMessage {
  readonly text: string;
  /** Whether the container has written the message to its termination log. */
  readonly isFromFile: boolean;
}

async function readTerminationMessage(
  files: FileSystem,
  { file, log }: TerminationMessageSource,
): Promise<TerminationMessage> {
  const message = (text: string, isFromFile = false) => ({ text, isFromFile });
  if (file !== undefined) {
    const messageContents = await readTail(files, file, MAX_FILE_BYTES);
    if (typeof messageContents === 'string')
      return message(`Error on reading termination log ${file}: ${messageContents}`);
    if (messageContents.length > 0) return message(decodeTail(messageContents), true);
  }
  if (log === undefined) return message('');
  const logTail = await readTail(files, log, LOG_TAIL_BYTES);
  if (typeof logTail === 'string') return message(`Error on reading termination message from logs: ${logTail}`);
  return message(decodeTail(takeLastLogLines(logTail, MAX_LOG_LINES).subarray(-MAX_LOG_MESSAGE_BYTES)));
}

/** Returns the end of the file, an empty buffer if there is no file, or the reason why it cannot be read. */
async function readTail(files: FileSystem, path: string, maxBytes: number): Promise<Buffer | string> {
  try {
    return await files.tail(path, maxBytes);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    return messageOf(error);
  }
}

/** Decodes UTF-8 and drops a partial character at the start. */
function decodeTail(bytes: Buffer): string {
  const isContinuationByte = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;
  const firstCharacter = bytes.findIndex((byte) => !isContinuationByte(byte));
  return bytes.toString('utf8', Math.max(0, firstCharacter));
}
