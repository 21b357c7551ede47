import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { type ManagedContainerd, startManagedContainerd } from '../../../cri/managed/containerd/containerd.ts';
import { spawnContainerd } from '../../../cri/managed/containerd/process.ts';
import { waitUntilReady } from '../../../cri/managed/containerd/waitUntilReady.ts';
import { layoutOf } from '../../../cri/managed/layout.ts';
import { isRunning } from '../../../host/runningProcess.ts';

/** A private containerd in a temporary directory, with a connection to it. */
export interface TestContainerd {
  readonly directory: string;
  readonly containerd: ManagedContainerd;
  readonly cri: Cri;
  /** Restarts containerd, or attaches to it if it runs. */
  again(): Promise<ManagedContainerd>;
  /** Stops containerd with all its pods, and removes its directory. */
  end(): Promise<void>;
}

/** A signal that never aborts, because the test's own time limit bounds calls to a runtime. */
export const noAbort = new AbortController().signal;

/**
 * Starts a private containerd with these runtime handlers in addition to `runc`. On a host that cannot run one, the
 * test fails with a message that names what is missing.
 */
export async function startTestContainerd(
  handlers: readonly string[] = [],
  { registries, parent = tmpdir() }: TestContainerdOptions = {},
): Promise<TestContainerd> {
  const directory = await mkdtemp(join(parent, 'statelet-node-'));
  const start = () => startManagedContainerd({ directory, signal: noAbort, pause: (ms) => pause(ms) });
  let containerd: ManagedContainerd | undefined;
  let cri: Cri | undefined;
  const end = async () => {
    cri?.close();
    // Removes the directory last, because containerd cannot be stopped without it.
    await containerd?.stop(noAbort);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    containerd = await start();
    cri = connectCri({ runtimeEndpoint: containerd.endpoint, requestTimeoutMs: 30_000 });
    const tables = [
      ...handlers.map((name) => handlerTable(name, directory)),
      ...(registries ? [registriesTable(directory)] : []),
    ];
    if (tables.length > 0) await restartWith(tables, { directory, containerd, cri });
    return { directory, containerd, cri, again: start, end };
  } catch (error) {
    await end();
    throw error;
  }
}

interface TestContainerdOptions {
  /** Whether containerd reads its registry configuration from `certs.d` in its directory. */
  readonly registries?: boolean;
  /** Parent of its directory. Default: the system's directory for temporary files. */
  readonly parent?: string;
}

const registriesTable = (directory: string) =>
  `[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = ${JSON.stringify(join(directory, 'certs.d'))}
`;

/** Returns the configuration of a runtime handler that is like `runc` but has its state in a directory of its own. */
function handlerTable(name: string, directory: string): string {
  const runtimes = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes';
  return `${runtimes}.${name}]
  runtime_type = "io.containerd.runc.v2"
${runtimes}.${name}.options]
  Root = ${JSON.stringify(join(layoutOf(directory).state, name))}
`;
}

/** Restarts containerd with these tables appended to its configuration. */
async function restartWith(
  tables: readonly string[],
  { directory, containerd, cri }: Pick<TestContainerd, 'directory' | 'containerd' | 'cri'>,
): Promise<void> {
  const layout = layoutOf(directory);
  await appendFile(layout.config, tables.join(''));
  await containerd.halt();
  const started = await spawnContainerd(layout);
  await waitUntilReady({
    layout,
    cri,
    pause: (ms) => pause(ms),
    signal: AbortSignal.timeout(30_000),
    isAlive: () => isRunning(started),
  });
}

/** Runs `use` with a private containerd, which is stopped in any case. */
export async function withContainerd<T>(use: (node: TestContainerd) => Promise<T>): Promise<T> {
  const node = await startTestContainerd();
  try {
    return await use(node);
  } finally {
    await node.end();
  }
}
