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

/** A pod that runs, as a watcher was told. */
export interface RunningPod {
  readonly uid: string;
  /** Of its own; absent when it has none. */
  readonly ip: string | undefined;
  /** Of its first container, without the runtime's scheme. */
  readonly containerId: string;
  /** When this container was first told to run, in milliseconds since the epoch. */
  readonly at: number;
}

/** Follows the pods of an agent as any client of its socket can. */
export interface Watcher {
  /** Resolves with these pods (full names) when all have been told to run, in containers other than `not`. */
  running(names: readonly string[], not?: ReadonlySet<string>): Promise<ReadonlyMap<string, RunningPod>>;
  close(): void;
}

/** Pods must run, and a node must answer, within so long: the bench is about far less, also on a busy machine. */
const limitMs = (pods: number): number => 120_000 + pods * 3_000;

/** Watches the agent at a socket, from the moment at which it answers. */
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
  // Told to those who wait.
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
