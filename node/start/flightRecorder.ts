/** The flight recorder of the command line's node. */
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { deflate } from '../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorder } from '../../recording/flightRecorder.ts';
import type { AgentRecording } from '../../socket/agent.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { packageVersion, recordingDirectory } from '../host/places.ts';
import type { AgentLog } from '../log/logger.ts';
import { machinesDigest } from './machinesDigest.ts';

/** Undefined where nothing is to be recorded. */
export function flightRecorder(config: NodeConfig, { logger, redaction }: AgentLog): FlightRecorder | undefined {
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

/** All that it has recorded, and those of the agents before it. */
export async function recordingOf(
  recorder: FlightRecorder | undefined,
  { rootDirectory }: Pick<NodeConfig, 'rootDirectory'>,
): Promise<AgentRecording> {
  await recorder?.flush();
  const directory = recordingDirectory(rootDirectory);
  // Most agents are never asked.
  const { readRecordingBytes: bytesOf } = await import('../../recording/dump.ts');
  return { isOn: recorder !== undefined, directory, parts: await bytesOf(directory) };
}
