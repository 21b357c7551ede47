import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { AgentPort } from './agent.ts';

/** Sends what the agent has recorded, at the pace of whoever reads it; whether it has recorded anything. */
export async function sendRecording(agent: AgentPort, response: ServerResponse): Promise<boolean> {
  const parts = await agent.recording();
  if (parts === undefined) return false;
  response.writeHead(200, { 'content-type': 'application/gzip' });
  // Whoever reads it sees that it breaks off.
  await pipeline(parts, response).catch(() => response.destroy());
  return true;
}
