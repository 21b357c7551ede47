import { containersOf } from './containers.ts';
import { podRequest } from './resources.ts';
import type { Pod } from './schema/pod.ts';
import { isCriticalPod } from './staticPod.ts';

export interface HostPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Empty for every address of the node. */
  readonly hostIp: string;
}

/** What a pod takes of its node while it is admitted. */
export interface Claims {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly hostPorts: readonly HostPort[];
  /** It goes before others: its refusal has another reason (C24). */
  readonly critical: boolean;
}

/** What a node has for its pods. */
export interface Capacity {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly pods: number;
}

/** Why a node does not take a pod, as its status tells. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** What a pod asks of the node: effective requests and host ports. */
export function claimsOf(pod: Pod): Claims {
  return {
    cpuMillis: podRequest(pod.spec, 'cpu'),
    memoryBytes: podRequest(pod.spec, 'memory'),
    hostPorts: hostPortsOf(pod),
    critical: isCriticalPod(pod),
  };
}

function hostPortsOf(pod: Pod): HostPort[] {
  return containersOf(pod.spec)
    .filter(({ role }) => role === 'regular' || role === 'sidecar')
    .flatMap(({ container }) => container.ports ?? [])
    .flatMap(({ hostPort, protocol = 'TCP', hostIP = '' }) =>
      hostPort ? [{ port: hostPort, protocol, hostIp: hostIP === '0.0.0.0' ? '' : hostIP }] : [],
    );
}

/** Whether the node can take a pod beside the others: undefined if so, else the kubelet's reason and message (C24). */
export function conflicts(claims: Claims, others: readonly Claims[], capacity: Capacity): Refusal | undefined {
  return shortage(claims, others, capacity) ?? portConflict(claims, others);
}

function shortage(claims: Claims, others: readonly Claims[], capacity: Capacity): Refusal | undefined {
  const sum = (amount: (each: Claims) => number) => others.reduce((total, each) => total + amount(each), 0);
  const resources = [
    { name: 'pods', requested: 1, used: others.length, has: capacity.pods },
    { name: 'cpu', requested: claims.cpuMillis, used: sum((each) => each.cpuMillis), has: capacity.cpuMillis },
    { name: 'memory', requested: claims.memoryBytes, used: sum((each) => each.memoryBytes), has: capacity.memoryBytes },
  ];
  const short = resources.filter(({ requested, used, has }) => requested > 0 && requested > has - used);
  const [first] = short;
  if (first === undefined) return undefined;
  if (claims.critical) return unexpected(short);
  const { name, requested, used, has } = first;
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${has}`;
  return { reason: `OutOf${name}`, message };
}

/** A critical pod would preempt others; when that gives nothing the reason is not the shortage itself (C24). */
function unexpected(short: readonly { name: string; requested: number; used: number; has: number }[]): Refusal {
  const missing = short.map(({ name, requested, used, has }) => `(res: ${name}, q: ${requested - (has - used)}), `);
  const cause = `no set of running pods found to reclaim resources: [${missing.join('')}]`;
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${cause}`,
  };
}

function portConflict(claims: Claims, others: readonly Claims[]): Refusal | undefined {
  const taken = others.flatMap(({ hostPorts }) => hostPorts);
  const clash = claims.hostPorts.some((wanted) => taken.some((each) => samePort(wanted, each)));
  const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  return clash ? { reason: 'NodePorts', message } : undefined;
}

/** Whether both can not listen at once: an empty address is every address. */
export function samePort(one: HostPort, other: HostPort): boolean {
  const addressesMeet = one.hostIp === '' || other.hostIp === '' || one.hostIp === other.hostIp;
  return one.port === other.port && one.protocol === other.protocol && addressesMeet;
}
