import type { Logger } from 'pino';
import type { AgentPort } from '../server/agent.ts';
import type { NodeConfig } from './config/nodeConfig.ts';

/** A node agent at work. */
export interface StartedNode {
  readonly agent: AgentPort;
  /** Stops the agent and leaves every pod running. */
  stop(): Promise<void>;
  /** Terminates all pods gracefully, and resolves when they are gone. */
  drain(): Promise<void>;
  /** Rejects when the agent itself has failed: it does nothing any more, and is still to be stopped. */
  readonly failed: Promise<never>;
}

interface StartNodeOptions {
  readonly config: NodeConfig;
  /** Stands in for the runtime with one that runs no containers. */
  readonly simulated: boolean;
  readonly logger: Logger;
  /** The pods of others that have a directory below the root are this agent's from now on. */
  readonly takesOver?: boolean;
  /** It is started only to end all pods, each within its own grace. */
  readonly endsAll?: boolean;
  /** Restarts the runtime where it is the node's own; its pods go on meanwhile. */
  readonly restartRuntime?: ((why: string) => void) | undefined;
}

/** Starts a node agent over a runtime. */
export type StartNode = (options: StartNodeOptions) => Promise<StartedNode>;
