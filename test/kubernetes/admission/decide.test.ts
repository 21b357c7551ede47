import { describe, expect, test } from '@jest/globals';
import { type Candidate, decideAdmission } from '../../../kubernetes/admission/decide.ts';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { type PodRequests, requestsOf } from '../../../kubernetes/resources/requests.ts';
import { aContainer, aPod, requestsWith } from '../fixtures.ts';

const plain: AdmissionNode = {
  name: 'node-1',
  labels: { zone: 'a' },
  taints: [],
  sysctls: ['net.ipv4.tcp_syncookies'],
  appArmor: false,
  strictGroups: false,
  pressure: [],
  isShuttingDown: false,
};
const capacity = { cpuMillis: 1_000, memoryBytes: 1_000, pods: 3 };

/** Returns the decision about a pod: `admitted`, the reason and message of the refusal, or the pods to preempt. */
function outcome(
  pod: Pod,
  options: { node?: Partial<AdmissionNode>; others?: PodRequests[]; reserved?: PodRequests[]; known?: boolean } = {},
) {
  const { node = {}, others = [], reserved = [], known: wasAdmitted = false } = options;
  const occupants = others.map((requests, index) => ({ uid: `pod-${index}`, requests, currentRequests: requests }));
  const candidate: Candidate = { pod, requests: requestsOf(pod), wasAdmitted };
  const decision = decideAdmission(candidate, { node: { ...plain, ...node }, capacity, occupants, reserved });
  if (decision.kind === 'refused') return [decision.reason, decision.message];
  return decision.kind === 'preempting' ? decision.uids : decision.kind;
}

const static_ = { annotations: { 'kubernetes.io/config.source': 'file' } };
const cpu = (amount: string): Partial<PodSpec> => ({
  containers: [aContainer({ resources: { requests: { cpu: amount } } })],
});
const port = { containers: [aContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })] };
const taken = requestsWith({ hostPorts: [{ port: 80, protocol: 'TCP', hostIp: '' }] });
const taint = { key: 'broken', effect: 'NoExecute' as const };
const confined = (type: 'RuntimeDefault' | 'Unconfined') => ({ securityContext: { appArmorProfile: { type } } });

test('admits a plain pod', () => {
  expect(outcome(aPod())).toBe('admitted');
  expect(outcome(aPod({ securityContext: { windowsOptions: {} } }))).toBe('admitted');
  expect(outcome(aPod({ nodeName: 'node-1', os: { name: 'linux' }, nodeSelector: { zone: 'a' } }))).toBe('admitted');
});

describe('permanent rejections', () => {
  test.each<[string, Pod, string, string]>([
    [
      'a sysctl that is not allowed',
      aPod({ securityContext: { sysctls: [{ name: 'kernel.sem', value: '1' }] } }),
      'SysctlForbidden',
      'forbidden sysctl: "kernel.sem" not allowlisted',
    ],
    [
      'a label of another operating system',
      aPod({}, { labels: { 'kubernetes.io/os': 'windows' } }),
      'PodOSSelectorNodeLabelDoesNotMatch',
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    [
      'another operating system',
      aPod({ os: { name: 'windows' } }),
      'PodOSNotSupported',
      "Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      'options for Windows',
      aPod({ securityContext: { windowsOptions: { runAsUserName: 'u' } } }),
      'PodOSNotSupported',
      'Failed to admit pod as it has Windows options, which have no effect on a node with Linux',
    ],
    [
      'options for Windows of a container',
      aPod({ containers: [aContainer({ securityContext: { windowsOptions: { hostProcess: false } } })] }),
      'PodOSNotSupported',
      'Failed to admit pod as it has Windows options, which have no effect on a node with Linux',
    ],
    [
      'groups that the runtime can not keep away',
      aPod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      'SupplementalGroupsPolicyNotSupported',
      'SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      'a selector',
      aPod({ nodeSelector: { zone: 'b' } }),
      'NodeAffinity',
      "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      "another node's name",
      aPod({ nodeName: 'node-2' }),
      'NodeName',
      "Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    [
      'a confinement that the host can not enforce',
      aPod(confined('RuntimeDefault')),
      'AppArmor',
      'Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
    [
      'a feature that the node does not declare',
      aPod({ hostNetwork: true, hostUsers: false }),
      'PodFeatureUnsupported',
      'Pod requires node features that are not available: UserNamespacesHostNetworkSupport',
    ],
  ])('include %s, for critical and other pods', (_, pod, reason, message) => {
    expect(outcome(pod)).toEqual([reason, message]);
    const critical = { ...pod, metadata: { ...pod.metadata, ...static_ } };
    expect(outcome(critical, { others: [requestsWith(), requestsWith(), requestsWith()] })).toEqual([reason, message]);
  });

  test('do not affect a pod whose requirements the node supports', () => {
    const strict = aPod({ securityContext: { supplementalGroupsPolicy: 'Strict' } });
    expect(outcome(strict, { node: { strictGroups: true } })).toBe('admitted');
    expect(outcome(aPod(confined('RuntimeDefault')), { node: { appArmor: true } })).toBe('admitted');
    expect(outcome(aPod(confined('Unconfined')))).toBe('admitted');
  });

  test('C30: include pods without a toleration for a NoExecute taint, except static pods', () => {
    expect(outcome(aPod(), { node: { taints: [taint] } })).toEqual([
      'TaintToleration',
      "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    ]);
    expect(outcome(aPod({}, static_), { node: { taints: [taint] } })).toBe('admitted');
    expect(outcome(aPod({ tolerations: [{ operator: 'Exists' }] }), { node: { taints: [taint] } })).toBe('admitted');
  });

  test('ignore changes of labels and taints since a pod was admitted', () => {
    const pod = aPod({ nodeSelector: { zone: 'b' } });
    expect(outcome(pod, { known: true, node: { taints: [taint] } })).toBe('admitted');
    expect(outcome(aPod({ nodeName: 'node-2' }), { known: true })).toContain('NodeName');
  });
});

describe('a pod with several rejection reasons', () => {
  const full = [requestsWith({ cpuMillis: 1_000, critical: true }), taken];

  test('is rejected for insufficient resources before other mismatches', () => {
    expect(outcome(aPod({ ...cpu('1'), nodeSelector: { zone: 'b' } }), { others: full })).toContain('OutOfcpu');
  });

  test('C24: is rejected only for other reasons if it is critical, and preempts nothing', () => {
    const pod = aPod({ ...cpu('1'), nodeSelector: { zone: 'b' } }, static_);
    expect(outcome(pod, { others: [requestsWith({ cpuMillis: 1_000 })] })).toContain('NodeAffinity');
    expect(outcome(aPod(port, static_), { others: [requestsWith(), requestsWith(), taken] })).toContain('NodePorts');
  });
});

describe('C24: a critical pod without enough free resources', () => {
  test('preempts other pods', () => {
    expect(outcome(aPod(cpu('200m'), static_), { others: [requestsWith({ cpuMillis: 900 })] })).toEqual(['pod-0']);
    const priority = aPod({ ...cpu('200m'), priority: 2_000_000_000 });
    expect(outcome(priority, { others: [requestsWith({ cpuMillis: 900 })] })).toEqual(['pod-0']);
  });

  test('is rejected as UnexpectedAdmissionError with the shortage if no pod can be preempted', () => {
    const others = [requestsWith({ cpuMillis: 900, critical: true })];
    expect(outcome(aPod(cpu('200m'), static_), { others })).toEqual([
      'UnexpectedAdmissionError',
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 100), ]',
    ]);
  });

  test('cannot preempt the reservations of other pods, which count as used', () => {
    const reserved = [requestsWith({ cpuMillis: 900 })];
    expect(outcome(aPod(cpu('200m'), static_), { reserved })).toContain('UnexpectedAdmissionError');
    const others = [requestsWith({ cpuMillis: 100 })];
    expect(outcome(aPod(cpu('100m'), static_), { reserved, others })).toEqual(['pod-0']);
  });

  test('is the only kind of pod that preempts others', () => {
    expect(outcome(aPod(cpu('200m')), { others: [requestsWith({ cpuMillis: 900 })] })).toContain('OutOfcpu');
  });
});
