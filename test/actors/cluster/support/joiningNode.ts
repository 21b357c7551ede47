/** A node that has not joined its cluster yet, on a test API server in memory. */
import { ClusterNode, type ClusterNodeDependencies } from '../../../../actors/cluster/node/clusterNode.ts';
import { OwnNode, ownNodeWatch } from '../../../../actors/cluster/node/ownNode.ts';
import { runWatch } from '../../../../actors/cluster/runWatch.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import type { RateLimitOptions } from '../../../../kubeclient/rateLimit.ts';
import type { KubeRequest, KubeTransport } from '../../../../kubeclient/transport.ts';
import { type NodeImage, type NodeState, nodeObject } from '../../../../kubernetes/node/nodeObject.ts';
import type { Fault } from '../../../../testing/apiserver/faults.ts';
import { cluster } from '../../../fakes/cluster.ts';
import { SettableClock } from '../../../fakes/settableClock.ts';
import { healthy } from '../../../kubernetes/nodes.ts';

export const NODES = '/api/v1/nodes';
export const NODE = `${NODES}/node-1`;
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const LEASE = `${LEASES}/node-1`;
export const LABELS = { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux' };

/** Returns a node whose ports the test calls one by one. */
export function joiningNode(more: Partial<ClusterNodeDependencies> = {}, rateLimit?: RateLimitOptions) {
  const clock = new SettableClock();
  const made = cluster(clock);
  const startedAt = clock.now();
  const changes: { of: Partial<NodeState> } = { of: {} };
  const amounts = { cpuMillis: 2_000, memoryBytes: 2 ** 32, pods: 110 };
  const describe = (listed: readonly NodeImage[]) =>
    nodeObject({
      images: listed,
      name: 'node-1',
      labels: LABELS,
      taints: [],
      capacity: amounts,
      allocatable: amounts,
      host: made.host,
      addresses: ['192.0.2.1'],
      startedAt,
      now: clock.now(),
      health: healthy(),
      readySince: startedAt,
      ...changes.of,
    });
  const ownNode = new OwnNode();
  const images = { list: async () => [{ names: ['box:1'], sizeBytes: 1 }] };
  const chance = { of: 0.5 };
  const forgetful = { of: 'nothing' };
  const transport: KubeTransport = {
    send: (request, options) => made.transport.send(without(forgetful.of, request), options),
    reset: () => made.transport.reset(),
    close: () => made.transport.close(),
  };
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test', ...(rateLimit ? { rateLimit } : {}) });
  const common = {
    ...made,
    client,
    leaseClient: client,
    clock,
    jitter: () => chance.of,
    ownNode,
    describe,
    images,
    nodeName: 'node-1',
  };
  const node = new ClusterNode({ ...common, ...more });
  const options = { signal: new AbortController().signal };
  /** Returns the requests of the node since the last call. */
  const asked = () => made.transport.requests.splice(0).map(({ method, path }) => `${method} ${path}`);
  const troubled = (verb: string, fault: Fault, resource?: string, times = 1) =>
    made.api.faults.add({
      fault,
      times,
      matches: (request, user) =>
        request.verb === verb &&
        user !== 'admin' &&
        (resource === undefined || ('resource' in request && request.resource === resource)),
    });
  return {
    ...common,
    chance,
    changes,
    asked,
    troubled,
    forgetful,
    register: () => node.ports.registerNode(null, options),
    readNode: () => node.ports.readNode(null, options),
    /** Starts the watch of the Node. */
    hear: async () => {
      const how = {
        client: made.client,
        clock,
        jitter: () => 0,
        signal: options.signal,
        send: () => {},
        onError: () => {},
      };
      void runWatch(ownNodeWatch(ownNode, 'node-1', clock), how);
      await clock.advance(0);
      asked();
    },
    put: () => node.ports.putNodeStatus(null, options),
    putStatus: async () => (await node.ports.putNodeStatus(null, options)).isWritten,
    renew: async () => (await node.ports.renewLease(null, options)).isHeld,
    ensureCsiNode: (uid: string) => node.ports.ensureCsiNode({ uid }, options),
  };
}

/** Removes a field of the Node status from a request, like a server that does not know the field. */
function without(field: string, request: KubeRequest): KubeRequest {
  if (request.body === undefined) return request;
  const body = JSON.parse(request.body, (key, value) => (key === field ? undefined : value));
  return { ...request, body: JSON.stringify(body) };
}
