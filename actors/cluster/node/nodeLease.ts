/** The lease of a node at the API server (`component-helpers/apimachinery/lease` of Kubernetes). */

import type { Clock } from '../../../base/clock.ts';
import type { CallOptions } from '../../../kubeclient/client.ts';
import { isConflict } from '../../../kubeclient/kubeError.ts';
import { LEASE, LEASES, leasePath, NODE, nodePath } from '../../../kubeclient/paths.ts';
import { ownerNode, readLease, readNode, type ServerLease, undefinedIfNotFound } from '../nodeObjects.ts';
import type { HeartbeatClient } from './heartbeat.ts';

export interface NodeLeaseParts {
  /** Its own, so that no other traffic holds the lease up. */
  readonly client: HeartbeatClient;
  readonly nodeName: string;
  readonly clock: Clock;
  /** Duration of the lease in seconds. */
  readonly seconds: number;
}

/** So often it is renewed in one go, without asking how it is, before it is read again. */
const TRIES = 5;

export class NodeLease {
  readonly #parts: NodeLeaseParts;
  #known: ServerLease | undefined;

  constructor(parts: NodeLeaseParts) {
    this.#parts = parts;
  }

  /** False where there is none, and no Node either for which to make it. */
  async renew(options: CallOptions): Promise<boolean> {
    if (this.#known !== undefined && (await this.#tryUpdating(this.#known, options))) return true;
    this.#known = undefined;
    const found = await this.#find(options);
    if (found === undefined) return await this.#create(options);
    await this.#update(found, options);
    return true;
  }

  /** Whether it could be renewed as it was known. */
  async #tryUpdating(known: ServerLease, options: CallOptions): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        await this.#update(known, options);
        return true;
      } catch (error) {
        if (options.signal.aborted) throw error;
        // Somebody else has written it, or it is gone: it has to be read.
        if (isConflict(error)) return false;
      }
    }
    return false;
  }

  async #find(options: CallOptions): Promise<ServerLease | undefined> {
    const { client, nodeName } = this.#parts;
    const path = leasePath(nodeName);
    return undefinedIfNotFound(async () =>
      readLease(await client.get(path, { ...options, type: LEASE }), `GET ${path}`),
    );
  }

  async #update(known: ServerLease, options: CallOptions): Promise<void> {
    const { client, nodeName } = this.#parts;
    const isOwned = (known.metadata.ownerReferences ?? []).length > 0;
    // It is renewed even if its owner cannot be had: nothing else shows that the node is alive.
    const owners = isOwned ? [] : await this.#owners(options).catch(() => []);
    const path = leasePath(nodeName);
    this.#known = readLease(await client.update(path, this.#after(known, owners), options), `PUT ${path}`);
  }

  async #create(options: CallOptions): Promise<boolean> {
    const owners = await this.#owners(options);
    if (owners.length === 0) return false;
    const made = await this.#parts.client.create(LEASES, this.#after(undefined, owners), options);
    this.#known = readLease(made, `POST ${LEASES}`);
    return true;
  }

  /** The Node as its owner; nothing where there is none. */
  async #owners(options: CallOptions) {
    const { client, nodeName } = this.#parts;
    const path = nodePath(nodeName);
    const node = await undefinedIfNotFound(async () =>
      readNode(await client.get(path, { ...options, type: NODE }), `GET ${path}`),
    );
    return node === undefined ? [] : [ownerNode(nodeName, node.metadata.uid)];
  }

  #after(known: ServerLease | undefined, owners: readonly object[]) {
    const { nodeName, clock, seconds } = this.#parts;
    const { metadata = {}, spec = {} } = known ?? {};
    return {
      ...LEASE,
      metadata: {
        ...metadata,
        name: nodeName,
        namespace: 'kube-node-lease',
        ...(owners.length > 0 ? { ownerReferences: owners } : {}),
      },
      spec: { holderIdentity: nodeName, ...spec, leaseDurationSeconds: seconds, renewTime: microTime(clock.now()) },
    };
  }
}

/** With microseconds, as the API has it. */
const microTime = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');
