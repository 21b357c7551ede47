import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { AgentPort, AgentRecording } from './agent.ts';

/**
 * Response header that indicates that the agent is not recording. The response body then contains only the recordings
 * of earlier runs of the agent.
 */
export const RECORDER_OFF_HEADER = ['statelet-recorder', 'off'] as const;

/** Streams the recording with backpressure. If there is no recording, returns the reason. */
export async function sendRecording(agent: AgentPort, response: ServerResponse): Promise<string | undefined> {
  const recording = await agent.recording();
  const { chunks, isOn } = recording;
  if (chunks === undefined) return describeMissingRecording(recording);
  if (!isOn) response.setHeader(...RECORDER_OFF_HEADER);
  response.writeHead(200, { 'content-type': 'application/gzip' });
  // Truncate the response, so that the client notices that the recording is incomplete.
  await pipeline(chunks, response).catch(() => response.destroy());
  return undefined;
}

const describeMissingRecording = ({ isOn, directory }: AgentRecording): string =>
  isOn
    ? `nothing has been recorded: there is no recording in ${directory}; the agent's log says why it cannot write`
    : `this agent records nothing (--record-size 0), and there is no recording of an earlier one in ${directory}`;
