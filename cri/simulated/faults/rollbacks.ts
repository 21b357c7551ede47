import type { Containers } from '../calls/containers.ts';
import type { Sandboxes } from '../calls/sandboxes.ts';
import type { RuntimeRecords } from '../objects/records.ts';
import { exitWithStartError } from '../objects/running.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { CallName, RequestOf, ResponseOf } from './callNames.ts';

/**
 * Rollback of each call, which a real runtime performs if the call fails after taking effect. Calls without an entry
 * are not rolled back.
 */
export type Rollbacks = {
  readonly [K in CallName]?: (request: RequestOf<K>, response: ResponseOf<K>, message: string) => void;
};

/**
 * Returns the rollbacks. If RunPodSandbox fails, the sandbox remains in the not ready state. If CreateContainer fails,
 * the container is removed. If StartContainer fails, the container is terminated.
 */
export function createRollbacks(
  context: RuntimeContext,
  records: RuntimeRecords,
  sandboxes: Sandboxes,
  containers: Containers,
): Rollbacks {
  return {
    runPodSandbox: (_, { podSandboxId }) => {
      const record = records.sandboxes.get(podSandboxId);
      if (record) sandboxes.kill(record);
    },
    createContainer: (_, { containerId }) => {
      const record = records.containers.get(containerId);
      if (record) containers.drop(record);
    },
    startContainer: ({ containerId }, _, message) => {
      const record = records.containers.get(containerId);
      if (record) exitWithStartError(context, record, message);
    },
  };
}
