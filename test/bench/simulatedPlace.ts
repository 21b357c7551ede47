import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentPlace, agentPlace } from './agentProcess.ts';
import { withProcess } from './childProcess.ts';

/** Does something with the directories of a fresh agent over a simulated runtime that runs meanwhile. */
export async function withSimulatedPlace<T>(parent: string, use: (place: AgentPlace) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(parent, 'simulated-'));
  const socket = join(directory, 'cri.sock');
  try {
    return await withProcess('simulatedProcess.ts', [socket], async () =>
      use(await agentPlace(directory, { endpoint: `unix://${socket}`, cgroupRoot: '' })),
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
