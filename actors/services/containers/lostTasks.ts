/**
 * Detects sandboxes that the runtime cannot remove. If a client is killed while containerd 1.6 starts a container,
 * containerd may consider the container's task exited while the shim still considers it running. Only a restart of
 * containerd resolves this.
 */
import { NodeFailure } from '../../../base/failure.ts';

/** Requests a restart of the private runtime. Its pods keep running during the restart. */
export type RestartRuntime = (why: string) => void;

/**
 * Adds advice for the user to the error of a failed removal. `isOwn` means that the runtime is private to this node.
 */
export function withAdvice(error: unknown, isOwn: boolean): unknown {
  if (!(error instanceof NodeFailure && error.reason === 'TaskLost')) return error;
  const advice = isOwn
    ? 'the private containerd will be restarted if this happens again'
    : 'restart the container runtime (systemctl restart containerd); pods keep running';
  const message = `${error.message}: the runtime has lost track of a container that it was starting: ${advice}`;
  return new NodeFailure(error.reason, message, { cause: error });
}
