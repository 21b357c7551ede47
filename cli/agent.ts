import { dirname } from 'node:path';
import { type AgentClient, findAgent } from '../server/client.ts';
import { runningAgent } from './lock.ts';
import { candidateSockets } from './places.ts';

/** The process that an agent with this socket runs in, as its claim of the root directory tells. */
const processAt = (socket: string): Promise<number | undefined> => runningAgent(dirname(socket));

/** The running agent that the flags name, or the one at a default place. */
export const agentNamed = (named: { rootDir?: string; stateDir?: string }): Promise<AgentClient> =>
  findAgent(candidateSockets(named), processAt);
