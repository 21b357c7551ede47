/** Enough pods at once from an API server that some must wait to be started, on any number of CPUs. */
import { availableParallelism } from 'node:os';
import type { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { accountIsThere } from './account.ts';

const [PODS, EVENTS] = ['/api/v1/namespaces/default/pods', '/api/v1/namespaces/default/events'];
/** Less than the default `maxPods` of 110. */
const MOST = 100;

/** The names of the pods in the order in which they are created and started. */
export const manyNames: readonly string[] = Array.from(
  { length: Math.min(MOST, 8 * availableParallelism()) },
  (_, index) => `many-${index}`,
);

interface Listed {
  readonly items: readonly {
    readonly reason?: string;
    readonly metadata: { readonly name: string };
    readonly involvedObject?: { readonly name: string };
    readonly status?: { readonly phase?: string };
  }[];
}

const pod = (name: string) => ({
  metadata: { name },
  spec: {
    nodeName: 'node',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'statelet.local/busybox:1', command: ['sleep', '1000000'] }],
  },
});

export interface ManyPods {
  /** Creates all pods, bound to the node. */
  make(): Promise<void>;
  /** Returns the names of the running pods at the API server. */
  running(): Promise<readonly string[]>;
  /** Returns the names of the pods whose container has a Started event at the API server. */
  started(): Promise<readonly (string | undefined)[]>;
}

export function manyPods(server: ApiServer): ManyPods {
  // The test API server returns lists in the format of Kubernetes.
  const listed = async (path: string) => ((await server.request('GET', path)) as unknown as Listed).items;
  return {
    make: async () => {
      await accountIsThere(server);
      for (const name of manyNames) await server.request('POST', PODS, pod(name));
    },
    running: async () =>
      (await listed(PODS)).filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name),
    started: async () =>
      (await listed(EVENTS))
        .filter(({ reason }) => reason === 'Started')
        .map(({ involvedObject }) => involvedObject?.name),
  };
}
