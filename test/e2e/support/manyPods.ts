/** So many pods of an API server at once that some stand in line to be started, on any number of processors. */
import { availableParallelism } from 'node:os';
import type { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { accountIsThere } from './account.ts';

const [PODS, EVENTS] = ['/api/v1/namespaces/default/pods', '/api/v1/namespaces/default/events'];
/** A node takes 110. */
const MOST = 100;

/** The pods in the order in which they are made, which is that of their starts. */
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
  /** Makes all of them, bound to the node. */
  make(): Promise<void>;
  /** Those that run, as the API server has them. */
  running(): Promise<readonly string[]>;
  /** Those of whose container it has the event that it was started. */
  started(): Promise<readonly (string | undefined)[]>;
}

export function manyPods(server: ApiServer): ManyPods {
  // The test API server keeps what it gave to the shapes of Kubernetes.
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
