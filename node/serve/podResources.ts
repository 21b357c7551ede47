import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { NodeFailure } from '../../base/failure.ts';
import type { PodResourcesParts } from '../../kubelet-api/podResources/server.ts';
import { checkSocketPath, isListening, removeStaleSocket } from '../../socket/socketPath.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { RETRY_MS, retryUntilStarted } from '../start/retryUntilStarted.ts';

interface PodResourcesSocketDependencies extends Omit<PodResourcesParts, 'listsOnlyActivePods'> {
  readonly config: Pick<NodeConfig, 'rootDirectory' | 'podResources'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Serves the pod-resources API on its socket below the root directory. Retries until the socket can be served. */
export function servePodResources({
  config,
  clock,
  logger,
  pods,
  cpus,
  memory,
  devices,
  claims,
  onRequest,
}: PodResourcesSocketDependencies): {
  close(): Promise<void>;
} {
  const path = join(config.rootDirectory, 'pod-resources', 'kubelet.sock');
  return retryUntilStarted({
    startService: async () => {
      await preparePath(path);
      const { listenPodResources } = await import('../../kubelet-api/podResources/server.ts');
      const { close } = await listenPodResources(path, {
        pods,
        listsOnlyActivePods: config.podResources.listsOnlyActivePods,
        cpus,
        memory,
        devices,
        claims,
        clock,
        onRequest,
      });
      return {
        close: async () => {
          await close();
          await removeStaleSocket(path);
        },
      };
    },
    clock,
    onStarted: () => {},
    onProblem: (why) =>
      logger.warn(`the pod-resources API is not served, retrying every ${RETRY_MS / 1_000} s: ${why}`),
  });
}

/** Removes a stale socket at the path. Throws a `NodeFailure` if the path is in use. */
async function preparePath(path: string): Promise<void> {
  checkSocketPath(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await removeStaleSocket(path);
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return;
  const isSocketInUse = stats.isSocket() && (await isListening(path));
  throw new NodeFailure(
    'AddressUnusable',
    isSocketInUse ? `${path} is in use by another process` : `${path} exists and is not a socket`,
  );
}
