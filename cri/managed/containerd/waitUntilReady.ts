import { createConnection } from 'node:net';
import type { Cri } from '../../client/calls.ts';
import type { Layout } from '../layout.ts';
import type { Pause } from './process.ts';

interface ReadyInput {
  readonly layout: Layout;
  readonly cri: Cri;
  /** Whether the containerd process still exists. */
  readonly isAlive: () => Promise<boolean>;
  readonly pause: Pause;
  /** Cancels the wait. */
  readonly signal: AbortSignal;
}

/** Waits until containerd reports over the CRI that the runtime and the network are ready. */
export async function waitUntilReady({ layout, cri, isAlive, pause, signal }: ReadyInput): Promise<void> {
  // Probe the socket first, because gRPC waits longer between attempts after a refused connection.
  while (!(await isListening(layout.socket)) || !(await isReady(cri, signal))) {
    signal.throwIfAborted();
    if (!(await isAlive())) throw new Error('containerd ended');
    await pause(10);
  }
}

function isListening(socket: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = createConnection(socket);
  connection.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => connection.destroy());
}

async function isReady(cri: Cri, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await cri.status({ verbose: false }, { signal, timeoutMs: 2000 });
    return status?.conditions.every((condition) => condition.status) ?? false;
  } catch {
    return false;
  }
}
