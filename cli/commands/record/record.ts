/** `statelet record dump`: what the flight recorder has, as one file. */
import { open, rm } from 'node:fs/promises';
import { NodeFailure } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { candidateRoots, recordingDirectory } from '../../../node/host/paths.ts';
import { readRecordingBytes } from '../../../recording/dump.ts';
import { RECORDER_OFF } from '../../../socket/recording.ts';
import { agentNamed } from '../../agent.ts';

export interface RecordDumpOptions {
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Writes the recording of the agent that the flags name to a new file: it need not run any more. */
export async function dumpRecording(
  file: string,
  options: RecordDumpOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const { parts, isOff } = await recordingOf(options);
  const handle = await open(file, 'wx', 0o600).catch((cause: unknown) => {
    if (errorCode(cause) !== 'EEXIST') throw cause;
    throw new ConfigError(`${file} exists: expected the name of a new file`, { cause });
  });
  let size = 0;
  try {
    for await (const part of parts) {
      await handle.writeFile(part);
      size += part.length;
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  write(`${file}: ${size} bytes${isOff ? OF_EARLIER : ''}\n`);
}

const OF_EARLIER = ', all of earlier agents: the one that runs now records nothing (--record-size 0)';

interface Found {
  readonly parts: AsyncIterable<Uint8Array>;
  /** Whether it is of an agent that records nothing itself. */
  readonly isOff: boolean;
}

/** From the agent itself, which has what is not on disk yet; of one that does not run, from its root directory. */
async function recordingOf(options: RecordDumpOptions): Promise<Found> {
  try {
    const { parts, headers } = await (await agentNamed(options)).bytes('/recording');
    const [name, off] = RECORDER_OFF;
    return { parts, isOff: headers[name] === off };
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.reason !== 'NoAgent') throw error;
    const directories = candidateRoots(options).map(recordingDirectory);
    for (const directory of directories) {
      const parts = await readRecordingBytes(directory);
      if (parts) return { parts, isOff: false };
    }
    throw new ConfigError(`no agent has recorded anything at ${directories.join(' or ')}`, { cause: error });
  }
}
