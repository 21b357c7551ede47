/** The Node, its lease and its CSINode at the API server: what fills the ports of the machines that keep them. */
import * as z from 'zod/mini';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import { isConflict, isForbidden, isNotFound } from '../../kube/kubeError.ts';
import { CSI_NODES, csiNodePath, LEASES, leasePath, NODES, nodePath } from '../../kube/paths.ts';
import type { NodeObject } from '../../pod/node/nodeObject.ts';
import { nodeStatusPatch, sameNodeStatus } from '../../pod/node/nodeStatusPatch.ts';
import { registeredNode, wantedOfRegistered } from '../../pod/node/registeredNode.ts';
import type { Services } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import type { MirrorPort } from './mirrorPods.ts';

export interface ClusterNodeParts {
  readonly client: KubeClient;
  /** Its own, so that no other traffic holds the lease up. */
  readonly leaseClient: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly describe: () => NodeObject;
  /** How long the lease lasts, in seconds. */
  readonly leaseSeconds: number;
  /** The status is written again after so long, whatever it is, in milliseconds. */
  readonly statusReportMs: number;
  /** Whether the node registers itself; else somebody else makes its Node. */
  readonly registers: boolean;
  /** Is told the UID of the Node when that is registered. */
  readonly onNodeUid?: (uid: string) => void;
}

const nodeSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    labels: z.optional(z.record(z.string(), z.string())),
    annotations: z.optional(z.record(z.string(), z.string())),
  }),
  status: z._default(z.record(z.string(), z.unknown()), {}),
});
const leaseSchema = z.looseObject({ metadata: z.looseObject({}), spec: z._default(z.looseObject({}), {}) });
const csiNodeSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    ownerReferences: z.optional(z.array(z.looseObject({ uid: z.string() }))),
  }),
});

/** What is asked of the API server about the node itself. */
export type ClusterPort = 'registerNode' | 'ensureCsiNode' | 'putNodeStatus' | 'renewLease';
type Ports = Pick<Services, ClusterPort>;

export class ClusterNode {
  readonly #parts: ClusterNodeParts;
  #uid = '';
  #lease: z.infer<typeof leaseSchema> | undefined;
  #told: { readonly node: NodeObject; readonly at: number } | undefined;

  constructor(parts: ClusterNodeParts) {
    this.#parts = parts;
  }

  /** That of the Node object; empty until it is known. */
  get uid(): string {
    return this.#uid;
  }

  readonly ports: Ports = {
    registerNode: async (_input, options) => {
      const { uid } = await this.#register(options);
      this.#uid = uid;
      this.#parts.onNodeUid?.(uid);
      return { uid };
    },
    ensureCsiNode: async ({ uid }, options) => {
      await this.#ensureCsiNode(uid, options);
      return null;
    },
    putNodeStatus: async (_input, options) => ({ isWritten: await this.#putStatus(options) }),
    renewLease: async (_input, options) => {
      await this.#renew(options);
      return null;
    },
  };

  async #register(options: CallOptions): Promise<{ readonly uid: string }> {
    const { client, describe, registers } = this.#parts;
    if (!registers) return (await this.#get(options)).metadata;
    try {
      const made = await client.create(NODES, registeredNode(describe()), options);
      return z.parse(nodeSchema, made).metadata;
    } catch (error) {
      // It is there already, or it is not for the node to make it.
      if (!isConflict(error) && !isForbidden(error)) throw error;
    }
    return (await this.#adopt(options)).metadata;
  }

  /** Brings a Node that somebody has made up to date, as far as that is for the node. */
  async #adopt(options: CallOptions) {
    const { client, nodeName, describe } = this.#parts;
    const found = await this.#get(options);
    const wanted = wantedOfRegistered(describe(), found.metadata);
    if (wanted === undefined) return found;
    return z.parse(nodeSchema, await client.patch(`${nodePath(nodeName)}/status`, { metadata: wanted }, options));
  }

  async #get(options: CallOptions) {
    const { client, nodeName } = this.#parts;
    return z.parse(nodeSchema, await client.get(nodePath(nodeName), options));
  }

  async #putStatus(options: CallOptions): Promise<boolean> {
    const { client, nodeName, describe, clock, statusReportMs } = this.#parts;
    const node = describe();
    const told = this.#told;
    const isDue = told === undefined || clock.now() - told.at >= statusReportMs;
    if (!isDue && sameNodeStatus(told.node, node)) return false;
    const found = await this.#get(options);
    const patch = nodeStatusPatch(found.status, node);
    if (patch !== undefined) await client.patch(`${nodePath(nodeName)}/status`, { status: patch }, options);
    this.#told = { node, at: clock.now() };
    return patch !== undefined;
  }

  async #ensureCsiNode(uid: string, options: CallOptions): Promise<void> {
    const { client, nodeName } = this.#parts;
    const found = await orNone(async () => z.parse(csiNodeSchema, await client.get(csiNodePath(nodeName), options)));
    const owners = found?.metadata.ownerReferences ?? [];
    if (found !== undefined && owners.some((owner) => owner.uid === uid)) return;
    // That of another Node of this name says nothing of this one.
    if (found !== undefined && owners.length > 0)
      await orNone(() => client.delete(csiNodePath(nodeName), { preconditions: { uid: found.metadata.uid } }, options));
    else if (found !== undefined) return;
    const metadata = { name: nodeName, ownerReferences: [this.#owner(uid)] };
    await client.create(
      CSI_NODES,
      { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata, spec: { drivers: [] } },
      options,
    );
  }

  #owner(uid: string) {
    return { apiVersion: 'v1', kind: 'Node', name: this.#parts.nodeName, uid };
  }

  /** Without asking how the lease is, as long as nobody else writes it. */
  async #renew(options: CallOptions): Promise<void> {
    const { leaseClient: client, nodeName } = this.#parts;
    const known =
      this.#lease ?? (await orNone(async () => z.parse(leaseSchema, await client.get(leasePath(nodeName), options))));
    const lease = this.#leaseAfter(known);
    try {
      const answer =
        known === undefined
          ? await client.create(LEASES, lease, options)
          : await client.update(leasePath(nodeName), lease, options);
      this.#lease = z.parse(leaseSchema, answer);
    } catch (error) {
      this.#lease = undefined;
      throw error;
    }
  }

  #leaseAfter(known: z.infer<typeof leaseSchema> | undefined) {
    const { nodeName, clock, leaseSeconds } = this.#parts;
    const { metadata = {}, spec = {} } = known ?? {};
    const owned =
      this.#uid === '' || 'ownerReferences' in metadata ? {} : { ownerReferences: [this.#owner(this.#uid)] };
    return {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: { ...metadata, name: nodeName, namespace: 'kube-node-lease', ...owned },
      spec: {
        holderIdentity: nodeName,
        ...spec,
        leaseDurationSeconds: leaseSeconds,
        renewTime: microTime(clock.now()),
      },
    };
  }
}

/** With microseconds, as the API has it. */
const microTime = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');

async function orNone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Without a cluster there is nobody to ask. */
const missing = () => Promise.reject(new Error('the node belongs to no cluster'));
export const noCluster: Ports & Pick<Services, MirrorPort> = {
  ...{ registerNode: missing, ensureCsiNode: missing, putNodeStatus: missing, renewLease: missing },
  ...{ createMirror: missing, removeMirror: missing },
};
