/**
 * Supports an external cloud provider (`--cloud-provider=external`), whose controller sets the addresses of the node.
 * Until the controller has set them, the node reports its configured addresses, if any (`NodeAddress` of
 * `pkg/kubelet/nodestatus/setters.go`).
 */

import { lookUp } from '../../base/values/lookUp.ts';
import type { JsonFields } from '../../base/values/mergePatch.ts';
import type { Taint } from '../admission/node.ts';
import type { NodeAddress } from './alternativeNames.ts';

export interface CloudSettings {
  /** The configured node IPs, which an annotation passes to the controller. Empty if none are configured. */
  readonly providedIps: readonly string[];
  /** Whether the node reports addresses before the controller has set them. */
  readonly reportsAddress: boolean;
}

/** Taint that prevents scheduling until the controller has initialized the node and removed the taint. */
export const UNINITIALIZED_TAINT: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';

type StringMap = Readonly<Record<string, string>>;

/** Returns the annotations that pass the configured node IPs to the controller. */
export const cloudAnnotations = (cloud: CloudSettings | undefined): StringMap =>
  cloud && cloud.providedIps.length > 0 ? { [PROVIDED_IP_ANNOTATION]: cloud.providedIps.join(',') } : {};

/** Returns the annotations to correct in a Node. A null value removes an annotation. */
export function cloudAnnotationFixes(
  { metadata: { annotations } }: { readonly metadata: { readonly annotations?: StringMap | undefined } },
  actualAnnotations: StringMap | undefined,
): Readonly<Record<string, string | null>> {
  const [expectedIps, actualIps] = [
    lookUp(annotations, PROVIDED_IP_ANNOTATION),
    lookUp(actualAnnotations, PROVIDED_IP_ANNOTATION),
  ];
  return expectedIps === actualIps ? {} : { [PROVIDED_IP_ANNOTATION]: expectedIps ?? null };
}

/** Returns the Node to report. With a cloud provider, the addresses at the API server take precedence. */
export function withCloudAddresses<Node extends { readonly status: { readonly addresses: readonly NodeAddress[] } }>(
  node: Node,
  cloud: CloudSettings | undefined,
  serverStatus: JsonFields,
): Node {
  const serverAddresses = lookUp(serverStatus, 'addresses');
  if (cloud === undefined || !Array.isArray(serverAddresses) || serverAddresses.length === 0) return node;
  return { ...node, status: { ...node.status, addresses: serverAddresses } };
}
