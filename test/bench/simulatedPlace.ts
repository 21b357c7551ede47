import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentPlace, agentPlace } from './agentProcess.ts';
import { withProcess } from './childProcess.ts';

/** Calls `use` with the directories of a new agent on a simulated runtime, which runs until `use` settles. */
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
