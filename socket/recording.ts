import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { AgentPort, AgentRecording } from './agent.ts';

/** Says in an answer that the agent records nothing: all that it sends is of earlier agents. */
export const RECORDER_OFF = ['statelet-recorder', 'off'] as const;

/** Sends what the agent has recorded, at the pace of whoever reads it; why not, where it has nothing. */
export async function sendRecording(agent: AgentPort, response: ServerResponse): Promise<string | undefined> {
  const recording = await agent.recording();
  const { parts, isOn } = recording;
  if (parts === undefined) return nothingIn(recording);
  if (!isOn) response.setHeader(...RECORDER_OFF);
  response.writeHead(200, { 'content-type': 'application/gzip' });
  // Whoever reads it sees that it breaks off.
  await pipeline(parts, response).catch(() => response.destroy());
  return undefined;
}

const nothingIn = ({ isOn, directory }: AgentRecording): string =>
  isOn
    ? `nothing has been recorded: there is no recording in ${directory}; the agent's log says why it cannot write`
    : `this agent records nothing (--record-size 0), and there is no recording of an earlier one in ${directory}`;
