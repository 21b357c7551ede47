import type { AnswerOf, CallName, RequestOf } from './callNames.ts';
import type { Containers } from './containers.ts';
import type { Records } from './records.ts';
import { endAsNotStarted } from './running.ts';
import type { Sandboxes } from './sandboxes.ts';
import type { World } from './world.ts';

/** What a real runtime takes back of a call that was done and then failed; of other calls everything stays done. */
export type Undo = {
  readonly [K in CallName]?: (request: RequestOf<K>, answer: AnswerOf<K>, message: string) => void;
};

/** A failed sandbox stays, not ready; a failed container does not; a failed start ends what it has started. */
export function undoOf(world: World, records: Records, sandboxes: Sandboxes, containers: Containers): Undo {
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
      if (record) endAsNotStarted(world, record, message);
    },
  };
}
