/** A test API server in memory with a node, and a store of the objects that its pods reference. */
import { clusterObjects, type ObjectSettings } from '../../../../actors/objects/clusterObjects.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { hostFiles } from '../../../../host/files/fileSystem.ts';
import type { Pod, PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { ConfigKind } from '../../../../kubernetes/objects/configObject.ts';
import type { NodeFact } from '../../../../machines/shared/events/events.ts';
import { cluster } from '../../../fakes/cluster.ts';
import { podWith } from '../../../fakes/pods.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const collections = { ConfigMap: `${NAMESPACE}/configmaps`, Secret: `${NAMESPACE}/secrets` };

export const shows = (name: string): Partial<PodSpec> => ({ volumes: [{ name: 'v', configMap: { name } }] });
export const reads = (name: string): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'i', envFrom: [{ secretRef: { name } }, { configMapRef: { name } }] }],
});

export async function heldCluster(settings: Partial<ObjectSettings> = {}, listPodDirs: readonly string[] = []) {
  const clock = new SimulatedClock();
  const served = cluster(clock);
  const { ask, client, transport } = served;
  await ask('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  await ask('POST', `${NAMESPACE}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'default' },
  });
  const facts: NodeFact[] = [];
  const problems: unknown[] = [];
  const controller = new AbortController();
  const { signal } = controller;
  let annotations: Record<string, string> = {};
  const store = clusterObjects({
    client,
    clock,
    jitter: () => 0.5,
    files: hostFiles,
    listPodDirs: async () => listPodDirs,
    onError: (_, error) => problems.push(error),
    ownNode: {
      get current() {
        return { metadata: { uid: 'n', annotations } };
      },
    },
    settings: { strategy: 'Watch', syncMs: 60_000, ...settings },
  });
  const running = store.run((fact) => facts.push(fact), { signal });
  /** Creates a pod that is bound to the node at the server. */
  const pod = async (name: string, spec: Partial<PodSpec>): Promise<Pod> => {
    const { metadata, spec: whole, ...rest } = podWith(name, spec);
    const bound = { ...rest, metadata: { name, namespace: 'default' }, spec: { ...whole, nodeName: 'node-1' } };
    const made = await ask('POST', `${NAMESPACE}/pods`, bound);
    const { uid } = made.metadata as { uid: string };
    return { ...rest, metadata: { ...metadata, uid }, spec: whole };
  };
  const body = (kind: ConfigKind, name: string, data: object, more: object) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'default' },
    ...(kind === 'Secret' ? { stringData: data } : { data }),
    ...more,
  });
  return {
    clock,
    store,
    facts,
    problems,
    transport,
    pod,
    running,
    ask,
    annotate: (own: Record<string, string>) => {
      annotations = own;
    },
    stop: () => controller.abort(),
    make: (kind: ConfigKind, name: string, data: object, more: object = {}) =>
      ask('POST', collections[kind], body(kind, name, data, more)),
    change: (kind: ConfigKind, name: string, data: object) =>
      ask('PATCH', `${collections[kind]}/${name}`, { data }, 'application/merge-patch+json'),
    remove: (kind: ConfigKind, name: string) => ask('DELETE', `${collections[kind]}/${name}`),
    /** Returns the data of an object by key, or the reason why it is unavailable. */
    read: async (of: Pod, kind: ConfigKind, name: string): Promise<Record<string, string> | string> => {
      const asked = store.get(of, kind, name, { signal }).then(
        ({ data }) => Object.fromEntries(Array.from(data, ([key, value]) => [key, String(value)])),
        (error: Error) => error.message,
      );
      await clock.advance(0);
      await clock.advance(1_000);
      return asked;
    },
    /** Returns the UIDs of the pods in each notification of a change. */
    told: () => facts.flatMap((fact) => (fact.type === 'cluster.objectsChanged' ? [fact.uids] : [])),
    /** Returns the requests for objects, without their queries. */
    asked: () =>
      transport.requests.flatMap(({ path, isWatch }) =>
        /configmaps|secrets/.test(path) ? [`${isWatch ? 'watch ' : ''}${path.split('?')[0]}`] : [],
      ),
  };
}
