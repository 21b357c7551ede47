/** Builds the Node object from the agent's current state. */

import type { Clock } from '../../../base/time/clock.ts';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { CloudSettings } from '../../../kubernetes/node/cloud.ts';
import { type HostIdentity, type NodeImage, type NodeObject, nodeObject } from '../../../kubernetes/node/nodeObject.ts';
import type { NodeAgent } from '../../node/nodeAgent.ts';

interface DescribedNode {
  readonly name: string;
  readonly initialMetadata: Partial<Pick<AdmissionNode, 'labels' | 'taints'>>;
  readonly host: HostIdentity;
  /** The cloud provider's ID of the node, or an empty string. */
  readonly providerId?: string;
  /** Returns the port of the kubelet API, or 0 if the API is not served. Defaults to 0. */
  readonly servedPort?: (() => number) | undefined;
  /** Absent if no cloud controller manages the node's addresses. */
  readonly cloud?: CloudSettings | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns a function that builds the Node object, with the given images, from the agent's current state. */
export function createNodeDescriber(
  agent: Pick<NodeAgent, 'facts' | 'health'>,
  { name, initialMetadata, host, providerId = '', cloud, servedPort, clock }: DescribedNode,
): (images?: readonly NodeImage[]) => NodeObject {
  const startedAt = clock.now();
  const baseFields = {
    name,
    labels: {},
    taints: [],
    ...initialMetadata,
    host,
    providerId,
    cloud,
    startedAt,
  };
  return (images = []) => {
    const { since: readySince = startedAt, ...health } = agent.health();
    const { hostIps: addresses, admissionNode, ...facts } = agent.facts();
    return nodeObject({
      ...baseFields,
      ...admissionNode,
      ...facts,
      addresses,
      images,
      servedPort: servedPort?.() ?? 0,
      health,
      readySince,
      now: clock.now(),
    });
  };
}
