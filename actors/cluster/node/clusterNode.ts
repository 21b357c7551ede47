/** The Node, its lease and its CSINode at the API server: what fills the ports of the machines that keep them. */

import type { Clock } from '../../../base/clock.ts';
import { lookUp } from '../../../base/lookUp.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict, isForbidden } from '../../../kubeclient/kubeError.ts';
import { CSI_NODE, CSI_NODES, csiNodePath, NODE, NODES, nodePath } from '../../../kubeclient/paths.ts';
import type { CloudSettings } from '../../../kubernetes/node/cloud.ts';
import { conditionEvents } from '../../../kubernetes/node/nodeConditions.ts';
import type { NodeImage, NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { registeredNode, registrationPatch } from '../../../kubernetes/node/registeredNode.ts';
import type { CertificatePorts } from '../../../machines/certificate/ports.ts';
import type { Services } from '../../boundary.ts';
import {
  ownerNode,
  readCsiNode,
  readNode,
  type ServerCsiNode,
  type ServerNode,
  undefinedIfNotFound,
} from '../nodeObjects.ts';
import type { MirrorPort } from '../pods/mirrorPods.ts';
import { heartbeatClient } from './heartbeat.ts';
import { NodeLease } from './nodeLease.ts';
import { NodeStatus } from './nodeStatus.ts';
import { type OwnNode, seenNode } from './ownNode.ts';

export interface ClusterNodeParts {
  readonly client: KubeClient;
  /** Its own, so that no other traffic holds the lease up. */
  readonly leaseClient: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly ownNode: Pick<OwnNode, 'current'>;
  readonly describe: (images: readonly NodeImage[]) => NodeObject;
  readonly images: { list(signal: AbortSignal): Promise<readonly NodeImage[]> };
  /** How often the status is looked at, in milliseconds: no try of a heartbeat takes longer. */
  readonly statusCheckMs: number;
  /** Duration of the lease in seconds. */
  readonly leaseSeconds: number;
  /** The status is written again after so long, whatever it is, in milliseconds. */
  readonly statusReportMs: number;
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** Whether the node registers itself; else somebody else makes its Node. */
  readonly registers: boolean;
  /** Whether the controller of the cluster attaches volumes to the node. */
  readonly attachesByController: boolean;
  /** Is told the UID of the Node when that is registered. */
  readonly onNodeUid?: (uid: string) => void;
}

/** What clusters once did themselves is for storage drivers to do: controllers look here whether a node knows it. */
const MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins';
const MIGRATED_PLUGINS: readonly string[] = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
];

/** As an agent of another version may have left it; the same object where nothing has to change. */
function withMigrated(found: ServerCsiNode): ServerCsiNode {
  const { annotations = {} } = found.metadata;
  const known = new Set((lookUp(annotations, MIGRATED) ?? '').split(','));
  if (known.size === MIGRATED_PLUGINS.length && MIGRATED_PLUGINS.every((name) => known.has(name))) return found;
  const changed = { ...annotations, [MIGRATED]: MIGRATED_PLUGINS.join() };
  return { ...found, metadata: { ...found.metadata, annotations: changed } };
}

/** What is asked of the API server about the node itself. */
export type ClusterPort = 'registerNode' | 'readNode' | 'ensureCsiNode' | 'putNodeStatus' | 'renewLease';
type Ports = Pick<Services, ClusterPort>;

/** A try of a heartbeat takes no longer, in milliseconds: that several fit in a lease. */
const LONGEST_TRY_MS = 10_000;

export class ClusterNode {
  readonly #parts: ClusterNodeParts;
  readonly #lease: NodeLease;
  readonly #status: NodeStatus;
  readonly #tryMs: number;

  constructor(parts: ClusterNodeParts) {
    const { client, leaseClient, leaseSeconds, statusCheckMs, statusReportMs } = parts;
    const tryMs = Math.min(statusCheckMs, leaseSeconds * 1_000, LONGEST_TRY_MS);
    this.#parts = parts;
    this.#tryMs = tryMs;
    this.#lease = new NodeLease({ ...parts, client: heartbeatClient(leaseClient, tryMs), seconds: leaseSeconds });
    this.#status = new NodeStatus({
      // As that of a kubelet it waits behind nothing else that the node asks.
      ...parts,
      client: heartbeatClient(client.unlimited(), tryMs),
      reportMs: statusReportMs,
      describe: (options) => this.#describe(options),
    });
  }

  readonly ports: Ports = {
    registerNode: async (_input, options) => {
      const registered = await this.#register(options);
      this.#parts.onNodeUid?.(registered.uid);
      return registered;
    },
    readNode: async (_input, options) => seenNode(await this.#get({ ...options, timeoutMs: this.#tryMs })),
    ensureCsiNode: async ({ uid }, options) => {
      await this.#ensureCsiNode(uid, options);
      return null;
    },
    putNodeStatus: (_input, options) => this.#status.put(options),
    renewLease: async (_input, options) => {
      const isHeld = await this.#lease.renew(options);
      return { isHeld, chance: this.#parts.jitter() };
    },
  };

  async #describe({ signal }: CallOptions): Promise<NodeObject> {
    return this.#parts.describe(await this.#parts.images.list(signal));
  }

  async #register(options: CallOptions) {
    const { registers, nodeName } = this.#parts;
    if (!registers) return { uid: (await this.#get(options)).metadata.uid, events: [] };
    const node = await this.#describe(options);
    const created = await this.#create(node, options);
    const { uid } = (created ?? (await this.#adopt(node, options))).metadata;
    // As in a kubelet nothing was known of these before, whatever the server has; Ready is not among them.
    const conditions = node.status.conditions.filter(({ type }) => type !== 'Ready');
    const events = conditions.flatMap((each) => conditionEvents(nodeName, each));
    return { uid, events, ...(created === undefined ? {} : { isNew: true }) };
  }

  async #create(node: NodeObject, options: CallOptions): Promise<ServerNode | undefined> {
    try {
      return readNode(
        await this.#parts.client.create(NODES, registeredNode(node, this.#parts), options),
        `POST ${NODES}`,
      );
    } catch (error) {
      // It is there already, or it is not for the node to make it.
      if (isConflict(error) || isForbidden(error)) return undefined;
      throw error;
    }
  }

  /** Brings a Node that somebody has made up to date, as far as that is for the node. */
  async #adopt(node: NodeObject, options: CallOptions): Promise<ServerNode> {
    const { client, nodeName } = this.#parts;
    const found = await this.#get(options);
    const wanted = registrationPatch(node, found, this.#parts);
    if (wanted === undefined) return found;
    const path = `${nodePath(nodeName)}/status`;
    return readNode(await client.patch(path, wanted, { ...options, type: NODE }), `PATCH ${path}`);
  }

  async #get(options: CallOptions): Promise<ServerNode> {
    const { client, nodeName } = this.#parts;
    const path = nodePath(nodeName);
    return readNode(await client.get(path, { ...options, type: NODE }), `GET ${path}`);
  }

  async #ensureCsiNode(uid: string, options: CallOptions): Promise<void> {
    const { client, nodeName } = this.#parts;
    const path = csiNodePath(nodeName);
    const found = await undefinedIfNotFound(async () =>
      readCsiNode(await client.get(path, { ...options, type: CSI_NODE }), `GET ${path}`),
    );
    if (found !== undefined) {
      const owners = found.metadata.ownerReferences ?? [];
      if (owners.some((owner) => owner.kind === 'Node' && owner.name === nodeName && owner.uid === uid)) {
        const current = withMigrated(found);
        if (current !== found) await client.update(path, { ...current, ...CSI_NODE }, options);
        return;
      }
      // That of another Node of this name, or of nobody, says nothing of this one.
      await undefinedIfNotFound(() => client.delete(path, { preconditions: { uid: found.metadata.uid } }, options));
    }
    const annotations = { [MIGRATED]: MIGRATED_PLUGINS.join() };
    const metadata = { name: nodeName, annotations, ownerReferences: [ownerNode(nodeName, uid)] };
    await client.create(CSI_NODES, { ...CSI_NODE, metadata, spec: { drivers: [] } }, options);
  }
}

/** Without a cluster there is nobody to ask. */
const missing = () => Promise.reject(new Error('the node belongs to no cluster'));
export const noCertificates: Pick<Services, keyof CertificatePorts> = {
  readCertificate: missing,
  requestCertificate: missing,
  awaitCertificate: missing,
};
export const noCluster: Ports & Pick<Services, MirrorPort | keyof CertificatePorts> = {
  registerNode: missing,
  readNode: missing,
  ensureCsiNode: missing,
  putNodeStatus: missing,
  renewLease: missing,
  ...noCertificates,
  createMirror: missing,
  removeMirror: missing,
};
