/** The pod-resources API of the node, on its socket below the root directory. */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { NodeFailure } from '../../base/failure.ts';
import type { PodResourcesParts } from '../../kubelet-api/podResources/server.ts';
import { checkSocketPath, isListening, removeStaleSocket } from '../../socket/socketPath.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { keptTrying } from '../start/keptTrying.ts';

interface Parts extends PodResourcesParts {
  readonly config: Pick<NodeConfig, 'rootDirectory'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Serves it, or tries to until it can: no pod waits for that. */
export function servePodResources({ config, clock, logger, pods, onRequest }: Parts): { close(): Promise<void> } {
  const path = join(config.rootDirectory, 'pod-resources', 'kubelet.sock');
  return keptTrying({
    make: async () => {
      await claim(path);
      const { listenPodResources } = await import('../../kubelet-api/podResources/server.ts');
      const { close } = await listenPodResources(path, { pods, clock, onRequest });
      return {
        close: async () => {
          await close();
          await removeStaleSocket(path);
        },
      };
    },
    clock,
    onMade: () => {},
    onProblem: (why) => logger.warn(`the pod-resources API is not served, trying again: ${why}`),
  });
}

/** Makes room for the socket; what is somebody else's stays where it is. */
async function claim(path: string): Promise<void> {
  checkSocketPath(path);
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await removeStaleSocket(path);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  const isTaken = found.isSocket() && (await isListening(path));
  throw new NodeFailure('AddressUnusable', isTaken ? `${path} is in use by another process` : `${path} is in the way`);
}
