/** Reads the kernel log from `/dev/kmsg`. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { uptime } from 'node:os';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { errorCode } from '../files/fileErrors.ts';

/** One kernel log message. */
export interface KernelMessage {
  /** Time of the message in milliseconds since the epoch. */
  readonly at: number;
  /**
   * Text of the message in a single line. Bytes that are not printable ASCII are escaped by the kernel, e.g. a line
   * break as `\x0a`.
   */
  readonly text: string;
}

export interface KernelLog {
  /**
   * Returns the messages since the last call, oldest first, or an empty array if there are none. The first call starts
   * with the oldest message in the kernel's buffer. Each call returns a limited number of messages, so call it again
   * until the array is empty. Skips messages that the kernel has already overwritten. Rejects if the log cannot be
   * read. Concurrent calls are not allowed.
   */
  read(options: { readonly signal: AbortSignal }): Promise<readonly KernelMessage[]>;
  /** Resolves when there may be new messages or when the signal aborts. */
  untilWritten(options: { readonly signal: AbortSignal }): Promise<void>;
  close(): Promise<void>;
}

/** Twice the size of the kernel's buffer for one record (`CONSOLE_EXT_LOG_MAX` and `PRINTK_MESSAGE_MAX`). */
const READ_BYTES = 16_384;
/**
 * Maximum length of a line that is parsed. The rest of a longer line would be skipped, but the kernel writes no such
 * lines.
 */
const MAX_LINE_LENGTH = 8_192;
/** Maximum number of records that one call of `read` returns. */
const MAX_RECORDS = 500;
/**
 * Interval in milliseconds at which the log is checked for new messages, because `/dev/kmsg` does not notify this process
 * of them.
 */
const POLL_MS = 1_000;

type LogFile = Pick<FileHandle, 'read' | 'close'>;

interface HostKernelLogOptions {
  readonly path?: string;
  /** Opens the log without waiting for a writer. */
  readonly openFile?: (path: string) => Promise<LogFile>;
  readonly clock?: Clock;
  /** Returns the number of seconds since boot. */
  readonly uptimeSeconds?: () => number;
}

/** Creates a reader of `/dev/kmsg`. Each read of this device returns one record, without waiting if there is none. */
export function hostKernelLog({
  path = '/dev/kmsg',
  openFile = (file) => open(file, constants.O_RDONLY | constants.O_NONBLOCK),
  clock = systemClock,
  uptimeSeconds = uptime,
}: HostKernelLogOptions = {}): KernelLog {
  const buffer = Buffer.alloc(READ_BYTES);
  const records = new RecordReader();
  let file: LogFile | undefined;
  const close = async () => {
    const closingFile = file;
    file = undefined;
    await closingFile?.close();
  };
  return {
    read: async ({ signal }) => {
      const bootedAt = clock.now() - uptimeSeconds() * 1_000;
      const messages: KernelMessage[] = [];
      try {
        file ??= await openFile(path);
        while (messages.length < MAX_RECORDS && !signal.aborted) {
          const text = await readAvailable(file, buffer);
          if (text === '') break;
          for (const { microseconds, text: message } of records.push(text))
            messages.push({ at: Math.round(bootedAt + microseconds / 1_000), text: message });
        }
      } catch (error) {
        await close();
        throw error;
      }
      return messages;
    },
    untilWritten: ({ signal }) =>
      new Promise((resolve) => {
        const finish = () => {
          clock.clearTimeout(timer);
          signal.removeEventListener('abort', finish);
          resolve();
        };
        const timer = clock.setTimeout(finish, POLL_MS);
        signal.addEventListener('abort', finish);
        if (signal.aborted) finish();
      }),
    close,
  };
}

/** Reads the next bytes. Returns an empty string if none are available. */
async function readAvailable(file: LogFile, buffer: Buffer): Promise<string> {
  for (;;) {
    try {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      return buffer.toString('utf8', 0, bytesRead);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EAGAIN') return '';
      // EPIPE means that the kernel has overwritten the next record. The following read continues with the oldest
      // remaining one.
      if (code !== 'EPIPE') throw error;
    }
  }
}

interface KernelRecord {
  /** Time since boot. */
  readonly microseconds: number;
  readonly text: string;
}

/**
 * Splits the bytes of a log into records of the form `priority,sequence,microseconds,flags[,…];text`
 * (`Documentation/ABI/testing/dev-kmsg` of Linux). Lines that start with a space belong to the previous record and
 * contain its properties, and any other line is skipped. Joins the fragments of a line, which kernels before 4.9 report
 * as records with the flags `c` and `+`. Skips records that it has already returned, because a file that was opened
 * again starts with the oldest record.
 */
export class RecordReader {
  /** The start of a line whose end has not been read. */
  #partialLine = '';
  #isLineTooLong = false;
  #lastSequence = -1;
  #fragment: KernelRecord | undefined;

  push(chunk: string): KernelRecord[] {
    const records: KernelRecord[] = [];
    const lines = chunk.split('\n');
    const lastLine = lines.pop() ?? '';
    for (const line of lines) {
      this.#append(line);
      const isTooLong = this.#isLineTooLong;
      const completeLine = this.#partialLine;
      this.#partialLine = '';
      this.#isLineTooLong = false;
      if (!isTooLong) this.#addRecord(completeLine, records);
    }
    this.#append(lastLine);
    return records;
  }

  #append(text: string): void {
    this.#isLineTooLong ||= this.#partialLine.length + text.length > MAX_LINE_LENGTH;
    this.#partialLine = this.#isLineTooLong ? '' : this.#partialLine + text;
  }

  #addRecord(line: string, records: KernelRecord[]): void {
    const [, sequenceText, microsecondsText, flags, text = ''] =
      /^\d+,(\d+),(\d+)(?:,([^,;]*))?[^;]*;(.*)$/.exec(line) ?? [];
    if (sequenceText === undefined || Number(sequenceText) <= this.#lastSequence) return;
    this.#lastSequence = Number(sequenceText);
    const record = { microseconds: Number(microsecondsText), text };
    if (flags === '+' && this.#fragment !== undefined) {
      const joinedText = this.#fragment.text + text;
      if (joinedText.length <= MAX_LINE_LENGTH) this.#fragment = { ...this.#fragment, text: joinedText };
      return;
    }
    if (this.#fragment !== undefined) records.push(this.#fragment);
    this.#fragment = flags === 'c' ? record : undefined;
    if (this.#fragment === undefined) records.push(record);
  }
}
