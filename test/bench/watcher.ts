import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { agentClient } from '../../socket/client.ts';
import { isListening } from '../../socket/socketPath.ts';
import { preciseNow } from './statistics.ts';

const containerStatus = z.object({
  containerID: z.optional(z.string()),
  state: z.optional(z.object({ running: z.optional(z.object({})) })),
});
const watchEvent = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED']),
  object: z.object({
    metadata: z.object({ name: z.string(), uid: z.string() }),
    status: z.object({
      phase: z.string(),
      podIP: z.optional(z.string()),
      containerStatuses: z.optional(z.array(containerStatus)),
    }),
  }),
});

/** A running pod as reported to a watcher. */
export interface RunningPod {
  readonly uid: string;
  /** Undefined for a pod on the host network. */
  readonly ip: string | undefined;
  /** ID of its first container, without the runtime's scheme. */
  readonly containerId: string;
  /** Time at which this container was first reported as running, in milliseconds since the epoch. */
  readonly at: number;
}

/** Watches an agent's pods over its socket. */
export interface Watcher {
  /**
   * Resolves with the pods of the given full names when all have been reported as running in containers other than
   * `not`.
   */
  running(names: readonly string[], not?: ReadonlySet<string>): Promise<ReadonlyMap<string, RunningPod>>;
  close(): void;
}

/** Returns the timeout for pods to run and for the node to respond, which is generous even for a busy machine. */
const limitMs = (pods: number): number => 120_000 + pods * 3_000;

/** Watches the agent at a socket as soon as it responds. */
export function watchAgent(socket: string): Watcher {
  const ending = new AbortController();
  const pods = new Map<string, RunningPod>();
  let changed = Promise.withResolvers<void>();
  const follow = async () => {
    while (!(await isListening(socket))) await pause(2, undefined, { signal: ending.signal });
    for await (const event of await agentClient(socket).watch('/api/v1/pods', ending.signal)) {
      note(pods, event);
      changed.resolve();
      changed = Promise.withResolvers();
    }
    throw new Error('the agent has ended the watch');
  };
  const end = follow();
  // The error is reported to the callers that wait.
  end.catch(() => {});
  return {
    running: async (names, not = new Set()) => {
      const late = pause(limitMs(names.length), undefined, { ref: false }).then(() => {
        throw new Error(`not told in time to run: ${names.filter((name) => !pods.has(name)).join(', ')}`);
      });
      late.catch(() => {});
      const runs = (name: string) => pods.has(name) && !not.has(pods.get(name)?.containerId ?? '');
      while (!names.every(runs)) await Promise.race([changed.promise, end, late]);
      return new Map(pods);
    },
    close: () => ending.abort(),
  };
}

function note(pods: Map<string, RunningPod>, event: unknown): void {
  const { type, object } = watchEvent.parse(event);
  const { name, uid } = object.metadata;
  const { phase, podIP: ip, containerStatuses: [status] = [] } = object.status;
  const runs = type !== 'DELETED' && phase === 'Running' && status?.state?.running !== undefined;
  const containerId = status?.containerID?.replace(/^\w+:\/\//, '') ?? '';
  if (!runs) pods.delete(name);
  else if (pods.get(name)?.containerId !== containerId) pods.set(name, { uid, ip, containerId, at: preciseNow() });
}
