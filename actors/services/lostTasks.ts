/**
 * Sandboxes that the runtime cannot remove: when a client is killed while containerd 1.6 starts a container, containerd
 * may keep a task that it takes for ended and the shim does not. Only a restart makes it look again.
 */
import { NodeFailure } from '../../pod/failure.ts';

/** Asks for the restart of the runtime that belongs to this node; its pods go on meanwhile. */
export type RestartRuntime = (why: string) => void;

const LOST_TASK = /cannot delete running task/;
/** Once may be a task that is just ending. */
const RESTART_AT = 2;
/** A restart takes a moment, and the removal is tried every ten seconds. */
const RESTART_EVERY = 6;

interface LostTasks {
  /** What to tell of a removal that failed. */
  failed(sandboxId: string, error: unknown): unknown;
  /** The sandbox has been removed. */
  removed(sandboxId: string): void;
}

/** Counts the removals that fail for it, and has the runtime restarted where it is the node's own. */
export function lostTasks(restart: RestartRuntime | undefined): LostTasks {
  const failures = new Map<string, number>();
  return {
    failed: (id, error) => {
      if (!(error instanceof NodeFailure && LOST_TASK.test(error.message))) return error;
      const count = (failures.get(id) ?? 0) + 1;
      failures.set(id, count);
      if (count % RESTART_EVERY === RESTART_AT) restart?.(`cannot remove the sandbox ${id}`);
      const help = restart
        ? 'the private containerd will be restarted if this happens again'
        : 'restart the container runtime (systemctl restart containerd); pods keep running';
      const message = `${error.message}: the runtime has lost track of a container that it was starting: ${help}`;
      return new NodeFailure(error.reason, message, { cause: error });
    },
    removed: (id) => void failures.delete(id),
  };
}
