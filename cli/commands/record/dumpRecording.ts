/** `statelet record dump`: writes the flight recorder's data to one file. */
import { open, rm } from 'node:fs/promises';
import { NodeFailure } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { candidateRoots, recordingDirectory } from '../../../node/host/paths.ts';
import { readRecordingBytes } from '../../../recording/readRecordingBytes.ts';
import { RECORDER_OFF_HEADER } from '../../../socket/recording.ts';
import { connectAgent } from '../../connectAgent.ts';

export interface RecordDumpOptions {
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Writes the recording of the selected agent, which may have stopped, to a new file. */
export async function dumpRecording(
  file: string,
  options: RecordDumpOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const { chunks, isRecorderOff } = await openRecordingBytes(options);
  const handle = await open(file, 'wx', 0o600).catch((cause: unknown) => {
    if (errorCode(cause) !== 'EEXIST') throw cause;
    throw new ConfigError(`${file} exists: expected the name of a new file`, { cause });
  });
  let writtenBytes = 0;
  try {
    for await (const part of chunks) {
      await handle.writeFile(part);
      writtenBytes += part.length;
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  write(`${file}: ${writtenBytes} bytes${isRecorderOff ? RECORDER_OFF_NOTE : ''}\n`);
}

const RECORDER_OFF_NOTE = ', all from earlier agents: the running agent does not record (--record-size 0)';

interface RecordingBytes {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Whether the running agent does not record, in which case all data is from earlier agents. */
  readonly isRecorderOff: boolean;
}

/**
 * Requests the recording from the running agent, because some data may not be on disk yet. Without an agent, reads the
 * recording from the root directory.
 */
async function openRecordingBytes(options: RecordDumpOptions): Promise<RecordingBytes> {
  try {
    const { chunks, headers } = await (await connectAgent(options)).bytes('/recording');
    const [name, off] = RECORDER_OFF_HEADER;
    return { chunks, isRecorderOff: headers[name] === off };
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.reason !== 'NoAgent') throw error;
    const directories = candidateRoots(options).map(recordingDirectory);
    for (const directory of directories) {
      const chunks = await readRecordingBytes(directory);
      if (chunks) return { chunks, isRecorderOff: false };
    }
    throw new ConfigError(`no agent has recorded anything at ${directories.join(' or ')}`, { cause: error });
  }
}
