import { dirname } from 'node:path';
import { runningAgent } from '../node/lock.ts';
import { candidateSockets } from '../node/places.ts';
import { type AgentClient, findAgent } from '../server/client.ts';

/** The process that an agent with this socket runs in, as its lock of the root directory tells. */
const processAt = (socket: string): Promise<number | undefined> => runningAgent(dirname(socket));

/** The running agent that the flags name, or the one at a default place. */
export const agentNamed = (named: { rootDir?: string; stateDir?: string }): Promise<AgentClient> =>
  findAgent(candidateSockets(named), processAt);
