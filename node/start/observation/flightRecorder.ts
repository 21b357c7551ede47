import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { deflate } from '../../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorder } from '../../../recording/flightRecorder.ts';
import type { AgentRecording } from '../../../socket/agent.ts';
import type { NodeConfig } from '../../config/nodeConfig.ts';
import { packageVersion, recordingDirectory } from '../../host/paths.ts';
import type { AgentLog } from '../../log/logger.ts';
import { machinesDigest } from './machinesDigest.ts';

/** Creates the flight recorder of the node. Returns undefined if recording is disabled. */
export function createNodeFlightRecorder(
  config: NodeConfig,
  { logger, redaction }: AgentLog,
): FlightRecorder | undefined {
  const { recordSizeBytes: sizeBytes } = config;
  if (sizeBytes === 0) return undefined;
  const directory = recordingDirectory(config.rootDirectory);
  return createFlightRecorder({
    files: hostFiles,
    directory,
    sizeBytes,
    clock: systemClock,
    deflate,
    program: {
      machines: machinesDigest(),
      versions: { statelet: packageVersion(), node: process.version },
      life: randomUUID(),
    },
    redact: redaction.redact,
    onError: (error) =>
      logger.warn({ directory, err: error }, `cannot write the recording, retrying every 10 s: ${messageOf(error)}`),
  });
}

/** Reads the entire recording, including the parts from earlier runs of the agent with the same root directory. */
export async function readRecording(
  recorder: FlightRecorder | undefined,
  { rootDirectory }: Pick<NodeConfig, 'rootDirectory'>,
): Promise<AgentRecording> {
  await recorder?.flush();
  const directory = recordingDirectory(rootDirectory);
  // Imported lazily, because the recording of most agents is never requested.
  const { readRecordingBytes } = await import('../../../recording/readRecordingBytes.ts');
  return { isOn: recorder !== undefined, directory, chunks: await readRecordingBytes(directory) };
}
