import type { Logger } from 'pino';
import type { AgentPort } from '../server/agent.ts';
import type { NodeConfig } from './config/nodeConfig.ts';

/** A node agent at work. */
interface StartedNode {
  readonly agent: AgentPort;
  /** Stops the agent and leaves every pod running. */
  stop(): Promise<void>;
  /** Terminates all pods gracefully, and resolves when they are gone. */
  drain(): Promise<void>;
  /** Rejects when the agent itself has failed: it does nothing any more, and is still to be stopped. */
  readonly failed: Promise<never>;
}

/** Starts a node agent over a runtime; `simulated` stands in for it with one that runs no containers. */
export type StartNode = (options: { config: NodeConfig; simulated: boolean; logger: Logger }) => Promise<StartedNode>;
