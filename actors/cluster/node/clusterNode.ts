/** Implements the ports of the machines that maintain the Node, its lease and its CSINode on the API server. */

import type { Clock } from '../../../base/time/clock.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict, isForbidden } from '../../../kubeclient/kubeError.ts';
import {
  CSI_NODE_TYPE,
  CSI_NODES_PATH,
  csiNodePath,
  NODE_TYPE,
  NODES_PATH,
  nodePath,
} from '../../../kubeclient/paths.ts';
import type { CloudSettings } from '../../../kubernetes/node/cloud.ts';
import { conditionEvents } from '../../../kubernetes/node/nodeConditions.ts';
import type { NodeImage, NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { registeredNode, registrationPatch } from '../../../kubernetes/node/registeredNode.ts';
import type { CertificatePorts } from '../../../machines/certificate/ports.ts';
import type { PortServices } from '../../boundary.ts';
import {
  nodeOwnerReference,
  readCsiNode,
  readNode,
  type ServerCsiNode,
  type ServerNode,
  undefinedIfNotFound,
} from '../nodeObjects.ts';
import type { MirrorPort } from '../pods/mirrorPods.ts';
import { createHeartbeatClient } from './heartbeatClient.ts';
import { NodeLease } from './nodeLease.ts';
import { NodeStatus } from './nodeStatus.ts';
import { type OwnNode, ownNodeState } from './ownNode.ts';

export interface ClusterNodeDependencies {
  readonly client: KubeClient;
  /** A client that is used only for the lease, so that other traffic does not delay the renewals. */
  readonly leaseClient: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly ownNode: Pick<OwnNode, 'current'>;
  readonly describe: (images: readonly NodeImage[]) => NodeObject;
  readonly images: { list(signal: AbortSignal): Promise<readonly NodeImage[]> };
  /**
   * Interval between checks for changes of the node's status, in milliseconds. Also the maximum duration of each
   * heartbeat attempt.
   */
  readonly statusCheckMs: number;
  readonly leaseSeconds: number;
  /** Interval at which the status is written even if it is unchanged, in milliseconds. */
  readonly statusReportMs: number;
  /** Absent if no cloud controller manages the node's addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** Whether the node registers itself. Otherwise, an administrator or another component must create its Node. */
  readonly createsNode: boolean;
  /** Whether the cluster's attach-detach controller attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** Called with the Node's UID after registration. */
  readonly onNodeUid?: (uid: string) => void;
}

/**
 * Annotation that lists the in-tree volume plugins that were migrated to CSI drivers. Controllers check it to see
 * whether a node supports the migration.
 */
const MIGRATED_PLUGINS_ANNOTATION = 'storage.alpha.kubernetes.io/migrated-plugins';
const MIGRATED_PLUGINS: readonly string[] = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
];

/**
 * Returns the CSINode with its migrated-plugins annotation set to this agent's value, because an agent of a different
 * version may have written another value. Returns the given object if the annotation is already up to date.
 */
function withMigratedPlugins(csiNode: ServerCsiNode): ServerCsiNode {
  const { annotations = {} } = csiNode.metadata;
  const currentPlugins = new Set((lookUp(annotations, MIGRATED_PLUGINS_ANNOTATION) ?? '').split(','));
  if (currentPlugins.size === MIGRATED_PLUGINS.length && MIGRATED_PLUGINS.every((name) => currentPlugins.has(name)))
    return csiNode;
  const updatedAnnotations = { ...annotations, [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join() };
  return { ...csiNode, metadata: { ...csiNode.metadata, annotations: updatedAnnotations } };
}

/** Ports that send requests about the Node, its lease and its CSINode to the API server. */
export type ClusterPort = 'registerNode' | 'readNode' | 'ensureCsiNode' | 'putNodeStatus' | 'renewLease';
type ClusterPorts = Pick<PortServices, ClusterPort>;

/** Maximum duration of a heartbeat attempt, in milliseconds. Several attempts fit into the lease duration. */
const MAX_ATTEMPT_MS = 10_000;

export class ClusterNode {
  readonly #dependencies: ClusterNodeDependencies;
  readonly #lease: NodeLease;
  readonly #status: NodeStatus;
  readonly #attemptMs: number;

  constructor(dependencies: ClusterNodeDependencies) {
    const { client, leaseClient, leaseSeconds, statusCheckMs, statusReportMs } = dependencies;
    const attemptMs = Math.min(statusCheckMs, leaseSeconds * 1_000, MAX_ATTEMPT_MS);
    this.#dependencies = dependencies;
    this.#attemptMs = attemptMs;
    this.#lease = new NodeLease({
      ...dependencies,
      client: createHeartbeatClient(leaseClient, attemptMs),
      leaseSeconds,
    });
    this.#status = new NodeStatus({
      // Status updates are exempt from the rate limit of the node's other requests, as in the kubelet.
      ...dependencies,
      client: createHeartbeatClient(client.unlimited(), attemptMs),
      reportIntervalMs: statusReportMs,
      describe: (options) => this.#describe(options),
    });
  }

  readonly ports: ClusterPorts = {
    registerNode: async (_input, options) => {
      const registeredNode = await this.#register(options);
      this.#dependencies.onNodeUid?.(registeredNode.uid);
      return registeredNode;
    },
    readNode: async (_input, options) => ownNodeState(await this.#getNode({ ...options, timeoutMs: this.#attemptMs })),
    ensureCsiNode: async ({ uid }, options) => {
      await this.#ensureCsiNode(uid, options);
      return null;
    },
    putNodeStatus: (_input, options) => this.#status.put(options),
    renewLease: async (_input, options) => {
      const isLeaseRenewed = await this.#lease.renew(options);
      return { isHeld: isLeaseRenewed, chance: this.#dependencies.jitter() };
    },
  };

  async #describe({ signal }: CallOptions): Promise<NodeObject> {
    return this.#dependencies.describe(await this.#dependencies.images.list(signal));
  }

  async #register(options: CallOptions) {
    const { createsNode, nodeName } = this.#dependencies;
    if (!createsNode) return { uid: (await this.#getNode(options)).metadata.uid, events: [] };
    const node = await this.#describe(options);
    const createdNode = await this.#create(node, options);
    const { uid } = (createdNode ?? (await this.#adoptExisting(node, options))).metadata;
    // Like the kubelet, report every condition except Ready as changed, even if the server already stores the same
    // condition.
    const conditions = node.status.conditions.filter(({ type }) => type !== 'Ready');
    const events = conditions.flatMap((each) => conditionEvents(nodeName, each));
    return { uid, events, ...(createdNode === undefined ? {} : { isNew: true }) };
  }

  async #create(node: NodeObject, options: CallOptions): Promise<ServerNode | undefined> {
    try {
      return readNode(
        await this.#dependencies.client.create(NODES_PATH, registeredNode(node, this.#dependencies), options),
        `POST ${NODES_PATH}`,
      );
    } catch (error) {
      // The Node already exists, or the server forbids this node to create it. In both cases, the caller updates the
      // existing Node instead.
      if (isConflict(error) || isForbidden(error)) return undefined;
      throw error;
    }
  }

  /** Updates those fields of an existing Node that this node is responsible for. */
  async #adoptExisting(node: NodeObject, options: CallOptions): Promise<ServerNode> {
    const { client, nodeName } = this.#dependencies;
    const existing = await this.#getNode(options);
    const patch = registrationPatch(node, existing, this.#dependencies);
    if (patch === undefined) return existing;
    const path = `${nodePath(nodeName)}/status`;
    return readNode(await client.patch(path, patch, { ...options, type: NODE_TYPE }), `PATCH ${path}`);
  }

  async #getNode(options: CallOptions): Promise<ServerNode> {
    const { client, nodeName } = this.#dependencies;
    const path = nodePath(nodeName);
    return readNode(await client.get(path, { ...options, type: NODE_TYPE }), `GET ${path}`);
  }

  async #ensureCsiNode(uid: string, options: CallOptions): Promise<void> {
    const { client, nodeName } = this.#dependencies;
    const path = csiNodePath(nodeName);
    const existing = await undefinedIfNotFound(async () =>
      readCsiNode(await client.get(path, { ...options, type: CSI_NODE_TYPE }), `GET ${path}`),
    );
    if (existing !== undefined) {
      const owners = existing.metadata.ownerReferences ?? [];
      if (owners.some((owner) => owner.kind === 'Node' && owner.name === nodeName && owner.uid === uid)) {
        const updatedAnnotations = withMigratedPlugins(existing);
        if (updatedAnnotations !== existing)
          await client.update(path, { ...updatedAnnotations, ...CSI_NODE_TYPE }, options);
        return;
      }
      // Delete the CSINode, because it belongs to an earlier Node of the same name.
      await undefinedIfNotFound(() => client.delete(path, { preconditions: { uid: existing.metadata.uid } }, options));
    }
    const annotations = { [MIGRATED_PLUGINS_ANNOTATION]: MIGRATED_PLUGINS.join() };
    const metadata = { name: nodeName, annotations, ownerReferences: [nodeOwnerReference(nodeName, uid)] };
    await client.create(CSI_NODES_PATH, { ...CSI_NODE_TYPE, metadata, spec: { drivers: [] } }, options);
  }
}

/** Rejects every call of a cluster port on a node without a cluster. */
const rejectWithoutCluster = () => Promise.reject(new Error('the node belongs to no cluster'));
export const noCertificates: Pick<PortServices, keyof CertificatePorts> = {
  readCertificate: rejectWithoutCluster,
  requestCertificate: rejectWithoutCluster,
  awaitCertificate: rejectWithoutCluster,
};
export const noCluster: ClusterPorts & Pick<PortServices, MirrorPort | keyof CertificatePorts> = {
  registerNode: rejectWithoutCluster,
  readNode: rejectWithoutCluster,
  ensureCsiNode: rejectWithoutCluster,
  putNodeStatus: rejectWithoutCluster,
  renewLease: rejectWithoutCluster,
  ...noCertificates,
  createMirror: rejectWithoutCluster,
  removeMirror: rejectWithoutCluster,
};
