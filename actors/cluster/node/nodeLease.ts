/** Renews a node's lease on the API server (`component-helpers/apimachinery/lease` of Kubernetes). */

import type { Clock } from '../../../base/time/clock.ts';
import type { CallOptions } from '../../../kubeclient/client.ts';
import { isConflict } from '../../../kubeclient/kubeError.ts';
import { LEASE_TYPE, LEASES_PATH, leasePath, NODE_TYPE, nodePath } from '../../../kubeclient/paths.ts';
import { nodeOwnerReference, readLease, readNode, type ServerLease, undefinedIfNotFound } from '../nodeObjects.ts';
import type { HeartbeatClient } from './heartbeatClient.ts';

export interface NodeLeaseDependencies {
  /** A client that is used only for the lease, so that other traffic does not delay the renewals. */
  readonly client: HeartbeatClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly leaseSeconds: number;
}

/** Maximum number of attempts to update the cached lease before the lease is read again. */
const MAX_ATTEMPTS = 5;

export class NodeLease {
  readonly #dependencies: NodeLeaseDependencies;
  #lease: ServerLease | undefined;

  constructor(dependencies: NodeLeaseDependencies) {
    this.#dependencies = dependencies;
  }

  /** Renews or creates the lease. Returns false if there is neither a lease nor a Node to own it. */
  async renew(options: CallOptions): Promise<boolean> {
    if (this.#lease !== undefined && (await this.#tryUpdateCached(this.#lease, options))) return true;
    this.#lease = undefined;
    const lease = await this.#getLease(options);
    if (lease === undefined) return await this.#create(options);
    await this.#update(lease, options);
    return true;
  }

  /** Updates the lease without reading it first. Returns false if the lease must be read again. */
  async #tryUpdateCached(lease: ServerLease, options: CallOptions): Promise<boolean> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      try {
        await this.#update(lease, options);
        return true;
      } catch (error) {
        if (options.signal.aborted) throw error;
        // Another client has changed or deleted the lease, so it must be read again.
        if (isConflict(error)) return false;
      }
    }
    return false;
  }

  async #getLease(options: CallOptions): Promise<ServerLease | undefined> {
    const { client, nodeName } = this.#dependencies;
    const path = leasePath(nodeName);
    return undefinedIfNotFound(async () =>
      readLease(await client.get(path, { ...options, type: LEASE_TYPE }), `GET ${path}`),
    );
  }

  async #update(lease: ServerLease, options: CallOptions): Promise<void> {
    const { client, nodeName } = this.#dependencies;
    const hasOwner = (lease.metadata.ownerReferences ?? []).length > 0;
    // The lease is renewed even if its owner cannot be read, because the lease is the only proof that the node is
    // alive.
    const owners = hasOwner ? [] : await this.#ownerReferences(options).catch(() => []);
    const path = leasePath(nodeName);
    this.#lease = readLease(await client.update(path, this.#createRenewedLease(lease, owners), options), `PUT ${path}`);
  }

  async #create(options: CallOptions): Promise<boolean> {
    const owners = await this.#ownerReferences(options);
    if (owners.length === 0) return false;
    const createdLease = await this.#dependencies.client.create(
      LEASES_PATH,
      this.#createRenewedLease(undefined, owners),
      options,
    );
    this.#lease = readLease(createdLease, `POST ${LEASES_PATH}`);
    return true;
  }

  /** Returns the owner reference to the Node in an array, which is empty if there is no Node. */
  async #ownerReferences(options: CallOptions) {
    const { client, nodeName } = this.#dependencies;
    const path = nodePath(nodeName);
    const node = await undefinedIfNotFound(async () =>
      readNode(await client.get(path, { ...options, type: NODE_TYPE }), `GET ${path}`),
    );
    return node === undefined ? [] : [nodeOwnerReference(nodeName, node.metadata.uid)];
  }

  #createRenewedLease(lease: ServerLease | undefined, owners: readonly object[]) {
    const { nodeName, clock, leaseSeconds } = this.#dependencies;
    const { metadata = {}, spec = {} } = lease ?? {};
    return {
      ...LEASE_TYPE,
      metadata: {
        ...metadata,
        name: nodeName,
        namespace: 'kube-node-lease',
        ...(owners.length > 0 ? { ownerReferences: owners } : {}),
      },
      spec: {
        holderIdentity: nodeName,
        ...spec,
        leaseDurationSeconds: leaseSeconds,
        renewTime: formatMicroTime(clock.now()),
      },
    };
  }
}

/** Formats a time as a Kubernetes MicroTime. */
const formatMicroTime = (timeMs: number): string => new Date(timeMs).toISOString().replace('Z', '000Z');
