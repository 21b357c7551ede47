/**
 * Sandboxes that the runtime cannot remove: when a client is killed while containerd 1.6 starts a container, containerd
 * may keep a task that it takes for ended and the shim does not. Only a restart makes it look again.
 */
import { NodeFailure } from '../../../base/failure.ts';

/** Asks for the restart of the runtime that belongs to this node; its pods go on meanwhile. */
export type RestartRuntime = (why: string) => void;

/** A removal that failed, with what helps; `isOwn`: the runtime belongs to this node. */
export function withHelp(error: unknown, isOwn: boolean): unknown {
  if (!(error instanceof NodeFailure && error.reason === 'TaskLost')) return error;
  const help = isOwn
    ? 'the private containerd will be restarted if this happens again'
    : 'restart the container runtime (systemctl restart containerd); pods keep running';
  const message = `${error.message}: the runtime has lost track of a container that it was starting: ${help}`;
  return new NodeFailure(error.reason, message, { cause: error });
}
