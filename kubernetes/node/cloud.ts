/**
 * A node whose addresses a controller of its cloud tells (`--cloud-provider=external`): until that has, the node says those
 * that it was told itself, if any (`NodeAddress` of `pkg/kubelet/nodestatus/setters.go`).
 */

import { lookUp } from '../../base/lookUp.ts';
import type { JsonFields } from '../../base/mergePatch.ts';
import type { Taint } from '../admission/node.ts';
import type { NodeAddress } from './alternativeNames.ts';

export interface OfCloud {
  /** Those that the node was told to be known by, for the controller to see; empty: none. */
  readonly providedIps: readonly string[];
  /** Whether it says an address before the controller does. */
  readonly saysAddress: boolean;
}

/** Keeps pods away until the controller has seen to the node, and takes it back. */
export const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

const PROVIDED = 'alpha.kubernetes.io/provided-node-ip';

type Texts = Readonly<Record<string, string>>;

/** What the controller is told of the node in its annotations. */
export const cloudAnnotations = (cloud: OfCloud | undefined): Texts =>
  cloud && cloud.providedIps.length > 0 ? { [PROVIDED]: cloud.providedIps.join(',') } : {};

/** Those annotations of a Node that are not as they should be; null: it must not have it. */
export function wrongCloudAnnotations(
  { metadata: { annotations } }: { readonly metadata: { readonly annotations?: Texts | undefined } },
  found: Texts | undefined,
): Readonly<Record<string, string | null>> {
  const [wanted, has] = [lookUp(annotations, PROVIDED), lookUp(found, PROVIDED)];
  return wanted === has ? {} : { [PROVIDED]: wanted ?? null };
}

/** The node as it tells itself to a server that has addresses of it: of a cloud's node those stay. */
export function withCloudAddresses<Node extends { readonly status: { readonly addresses: readonly NodeAddress[] } }>(
  node: Node,
  cloud: OfCloud | undefined,
  server: JsonFields,
): Node {
  const known = lookUp(server, 'addresses');
  if (cloud === undefined || !Array.isArray(known) || known.length === 0) return node;
  return { ...node, status: { ...node.status, addresses: known } };
}
