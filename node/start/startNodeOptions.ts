import type { NodeConfig } from '../config/nodeConfig.ts';
import type { AgentLog } from '../log/logger.ts';

export interface StartNodeOptions extends AgentLog {
  readonly config: NodeConfig;
  /** Whether to use a simulated runtime, which does not run containers. */
  readonly isSimulated: boolean;
  /**
   * Whether the agent takes over pods of other agents. Only pods with a directory below this agent's root directory are
   * taken over.
   */
  readonly takesOver?: boolean;
  /** Whether the agent is started only to terminate all pods, each within its own grace period. */
  readonly endsAll?: boolean;
  /** Restarts the runtime while its pods keep running. Undefined if the runtime does not belong to this node. */
  readonly restartRuntime?: ((why: string) => void) | undefined;
}
