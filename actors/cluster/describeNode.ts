/** The Node object as it is at each moment, of what the agent knows. */
import type { AdmissionNode } from '../../pod/admission/node.ts';
import { type HostIdentity, type NodeObject, nodeObject } from '../../pod/node/nodeObject.ts';
import type { Clock } from '../clock.ts';
import type { NodeAgent } from '../nodeAgent.ts';

interface DescribedNode {
  readonly name: string;
  readonly born: Partial<Pick<AdmissionNode, 'labels' | 'taints'>>;
  readonly host: HostIdentity;
  /** As a cloud knows the node; empty for none. */
  readonly providerId?: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Gives the node as it is then. */
export function describer(
  agent: Pick<NodeAgent, 'overview' | 'facts'>,
  { name, born, host, providerId = '', clock }: DescribedNode,
): () => NodeObject {
  const known = { name, labels: {}, taints: [], ...born, host, providerId, startedAt: clock.now() };
  return () => {
    const [{ runtime, tags, since }, now] = [agent.overview(), clock.now()];
    const drains = tags.includes('draining') ? { drainsSince: since } : {};
    const { hostIps: addresses, admissionNode, ...facts } = agent.facts();
    return nodeObject({ ...known, ...admissionNode, ...facts, addresses, runtime, ...drains, now });
  };
}
