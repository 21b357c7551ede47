/** A cluster whose only node is the virtual machine. Its API server runs in the test process. */
import { systemClock } from '../../../base/time/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { cancelForwarding, forwardPort } from '../../../scripts/vm/ssh.ts';
import { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { noAbort } from '../../e2e/support/containerd.ts';
import type { Manifest } from '../../e2e/support/manifests.ts';
import { configureNode, inVm, NODE_NAME, restartUnit, run, sshConfigFile, writeFile } from './host.ts';

const KUBECONFIG = '/etc/kubernetes/kubeconfig';
const PODS = '/api/v1/namespaces/default/pods';

interface Condition {
  readonly type: string;
  readonly status: string;
}

export interface VmCluster {
  /** Creates the pod on the node, without a service account token. */
  createPod(manifest: Manifest): Promise<void>;
  /** Waits until `look` accepts the pod at the API server. */
  podUntil(what: string, name: string, look: (pod: Pod) => boolean | undefined): Promise<Pod>;
  /** Waits until all containers of the pod are ready. */
  runningPod(name: string): Promise<Pod>;
  /** Deletes the pods and waits until they are gone. */
  deletePods(...names: readonly string[]): Promise<void>;
  /** Waits until the node's condition of this type has this status. */
  conditionBecomes(type: string, status: 'True' | 'False'): Promise<void>;
  /** Returns the messages of all events with this reason. */
  eventMessages(reason: string): Promise<string[]>;
  node(): Promise<Readonly<Record<string, unknown>>>;
  end(): Promise<void>;
}

/** Starts an API server, and starts the unit as its node with these fields of the KubeletConfiguration. */
export async function startCluster(fields: Readonly<Record<string, unknown>>): Promise<VmCluster> {
  const server = await ApiServer.start(systemClock);
  const { kubeconfig, port, close } = await server.serve();
  const node = () => server.request('GET', `/api/v1/nodes/${NODE_NAME}`);
  const conditions = async (): Promise<readonly Condition[]> => Object(await node()).status.conditions;
  const conditionBecomes = (type: string, status: string) =>
    inVm(`the node's condition ${type} is ${status}`, async () =>
      (await conditions()).some((condition) => condition.type === type && condition.status === status),
    );
  const podUntil: VmCluster['podUntil'] = async (what, name, look) => {
    let last: Pod | undefined;
    try {
      return await inVm(`pod ${name} ${what}`, async () => {
        last = Object(await server.request('GET', `${PODS}/${name}`));
        return last && look(last) ? last : undefined;
      });
    } catch (cause) {
      const log = await run('journalctl --unit statelet --no-pager --lines 30');
      throw new Error(`pod ${name}: ${what}; last seen as ${JSON.stringify(last?.status)}\n${log}`, { cause });
    }
  };
  await forwardPort(sshConfigFile(), port, noAbort);
  await writeFile(KUBECONFIG, kubeconfig({ name: `system:node:${NODE_NAME}`, groups: ['system:nodes'] }));
  await configureNode(fields, '--kubeconfig', KUBECONFIG);
  await restartUnit();
  await conditionBecomes('Ready', 'True');
  return {
    podUntil,
    node,
    conditionBecomes: async (type, status) => void (await conditionBecomes(type, status)),
    createPod: async (manifest) => {
      const spec = { ...manifest.spec, nodeName: NODE_NAME, automountServiceAccountToken: false };
      // JSON has no undefined fields.
      await server.request('POST', PODS, JSON.parse(JSON.stringify({ ...manifest, spec })));
    },
    runningPod: (name) =>
      podUntil('runs', name, ({ status }) => {
        const statuses = status?.containerStatuses ?? [];
        return statuses.length > 0 && statuses.every(({ ready }) => ready);
      }),
    deletePods: async (...names) => {
      for (const name of names) await server.request('DELETE', `${PODS}/${name}`).catch(() => undefined);
      await inVm('the pods are gone', async () => {
        const { items } = Object(await server.request('GET', PODS));
        return !items.some(({ metadata }: Pod) => names.includes(metadata.name));
      });
    },
    eventMessages: async (reason) => {
      const { items } = Object(await server.request('GET', '/api/v1/events'));
      return items.flatMap((event: { reason: string; message: string }) =>
        event.reason === reason ? [event.message] : [],
      );
    },
    end: async () => {
      await run(`systemctl stop statelet && rm -f ${KUBECONFIG}`);
      await cancelForwarding(sshConfigFile(), port, noAbort);
      server.close();
      await close();
    },
  };
}
