import { createConnection } from 'node:net';
import type { Cri } from '../calls.ts';
import type { Layout } from './layout.ts';
import type { Pause } from './process.ts';

interface ReadyInput {
  readonly layout: Layout;
  readonly cri: Cri;
  /** Whether the process is still there to wait for. */
  readonly lives: () => Promise<boolean>;
  readonly pause: Pause;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Waits until containerd answers over CRI that its runtime and its network are ready. */
export async function becomeReady({ layout, cri, lives, pause, signal }: ReadyInput): Promise<void> {
  // Asked by hand first: a gRPC connection that is refused waits longer before it tries again.
  while (!(await listens(layout.socket)) || !(await isReady(cri, signal))) {
    signal.throwIfAborted();
    if (!(await lives())) throw new Error('containerd ended');
    await pause(10);
  }
}

function listens(socket: string): Promise<boolean> {
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
