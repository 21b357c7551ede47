/** The Node object as it is at each moment, of what the agent knows. */

import type { Clock } from '../../../base/clock.ts';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { CloudSettings } from '../../../kubernetes/node/cloud.ts';
import { type HostIdentity, type NodeImage, type NodeObject, nodeObject } from '../../../kubernetes/node/nodeObject.ts';
import type { NodeAgent } from '../../node/nodeAgent.ts';

interface DescribedNode {
  readonly name: string;
  readonly born: Partial<Pick<AdmissionNode, 'labels' | 'taints'>>;
  readonly host: HostIdentity;
  /** As a cloud knows the node; empty for none. */
  readonly providerId?: string;
  /** Where it serves its own API; absent, or 0: it serves none. */
  readonly servedPort?: (() => number) | undefined;
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: CloudSettings | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** Gives the node as it is then, with these images. */
export function describer(
  agent: Pick<NodeAgent, 'facts' | 'health'>,
  { name, born, host, providerId = '', cloud, servedPort, clock }: DescribedNode,
): (images?: readonly NodeImage[]) => NodeObject {
  const startedAt = clock.now();
  const known = { name, labels: {}, taints: [], ...born, host, providerId, cloud, startedAt };
  return (images = []) => {
    const { since: readySince = startedAt, ...health } = agent.health();
    const { hostIps: addresses, admissionNode, ...facts } = agent.facts();
    return nodeObject({
      ...known,
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
