/** `statelet record dump`: what the flight recorder has, as one file. */
import { open, rm } from 'node:fs/promises';
import { errorCode, isMissing } from '../host/files/fileErrors.ts';
import { ConfigError } from '../node/config/configError.ts';
import { candidateRoots, recordingDirectory } from '../node/places.ts';
import { NodeFailure } from '../pod/failure.ts';
import { bytesOf } from '../recording/dump.ts';
import { agentNamed } from './agent.ts';

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
  const parts = await partsOf(options);
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
  write(`${file}: ${size} bytes\n`);
}

/** From the agent itself, which has what is not on disk yet; of one that does not run, from its root directory. */
async function partsOf(options: RecordDumpOptions): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await (await agentNamed(options)).bytes('/recording');
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.reason !== 'NoAgent') throw error;
    const directories = candidateRoots(options).map(recordingDirectory);
    for (const directory of directories) {
      const parts = await bytesOf(directory).catch((cause: unknown) => {
        if (!isMissing(cause)) throw cause;
        return undefined;
      });
      if (parts) return parts;
    }
    throw new ConfigError(`no agent has recorded anything at ${directories.join(' or ')}`, { cause: error });
  }
}
