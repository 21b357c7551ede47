import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cri } from '../../../cri/calls.ts';
import { connectCri } from '../../../cri/grpc.ts';
import { type ManagedContainerd, startManagedContainerd } from '../../../cri/managed/containerd.ts';

/** A private containerd in a temporary directory, with a connection to it. */
export interface TestContainerd {
  readonly directory: string;
  readonly containerd: ManagedContainerd;
  readonly cri: Cri;
  /** Starts it again, or attaches to it. */
  again(): Promise<ManagedContainerd>;
  /** Ends it with all its pods and removes its directory. */
  end(): Promise<void>;
}

/** Calls to a runtime in a test end by the test's own time limit. */
export const noAbort = new AbortController().signal;

/** Starts a private containerd; a host that cannot run one fails the test by saying what is missing. */
export async function startTestContainerd(): Promise<TestContainerd> {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-node-'));
  const start = () => startManagedContainerd({ directory, signal: noAbort, pause: (ms) => pause(ms) });
  try {
    const containerd = await start();
    const cri = connectCri({ runtimeEndpoint: containerd.endpoint, requestTimeoutMs: 30_000 });
    const end = async () => {
      cri.close();
      await containerd.stop(noAbort);
      await rm(directory, { recursive: true, force: true });
    };
    return { directory, containerd, cri, again: start, end };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** Runs `use` with a private containerd, which is ended whatever becomes of it. */
export async function withContainerd<T>(use: (node: TestContainerd) => Promise<T>): Promise<T> {
  const node = await startTestContainerd();
  try {
    return await use(node);
  } finally {
    await node.end();
  }
}
