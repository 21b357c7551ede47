/** The vectors of `pkg/kubelet/preemption/preemption_test.go` of Kubernetes 1.36 as data. CPU in millicores, memory in MiB. */

/** The pods of the vectors: QoS class, CPU and memory, and priority if they have one. */
export const POD_FIGURES = {
  tiny: { qos: 'Burstable', amount: 1 },
  bestEffort: { qos: 'BestEffort', amount: 0 },
  burstable: { qos: 'Burstable', amount: 100 },
  highBurstable: { qos: 'Burstable', amount: 300 },
  guaranteed: { qos: 'Guaranteed', amount: 100 },
  highGuaranteed: { qos: 'Guaranteed', amount: 300 },
  clusterCritical: { qos: 'Burstable', amount: 100, priority: 2_000_000_000 },
  nodeCritical: { qos: 'Burstable', amount: 100, priority: 2_000_000_100 },
} as const;

export type PodName = keyof typeof POD_FIGURES;

/** Insufficient amounts of CPU, memory and pods. */
export type Need = readonly [cpu: number, memory: number, pods: number];

interface Choice {
  readonly title: string;
  readonly preemptor: PodName;
  readonly pods: readonly PodName[];
  readonly need: Need;
  /** Undefined if the need cannot be met. */
  readonly victims?: readonly PodName[];
}

const ALL_ORDINARY = ['bestEffort', 'burstable', 'highBurstable', 'guaranteed', 'highGuaranteed'] as const;
const byCritical = (title: string, pods: readonly PodName[], need: Need, victims?: readonly PodName[]): Choice => ({
  title,
  preemptor: 'clusterCritical',
  pods,
  need,
  ...(victims ? { victims } : {}),
});

/** `TestGetPodsToPreempt`. */
export const CHOICES: readonly Choice[] = [
  byCritical('no needs', [], [0, 0, 0], []),
  byCritical('no pods', [], [0, 0, 1]),
  byCritical('as much as a pod requests', ['burstable'], [100, 100, 1], ['burstable']),
  byCritical('more than the pod requests', ['burstable'], [200, 200, 2]),
  byCritical('a BestEffort rather than a Burstable pod', ['burstable', 'bestEffort'], [0, 0, 1], ['bestEffort']),
  byCritical('a Burstable rather than a Guaranteed pod', ['burstable', 'guaranteed'], [0, 0, 1], ['burstable']),
  byCritical(
    'the smaller Burstable pod if it suffices',
    ['bestEffort', 'highBurstable', 'burstable'],
    [100, 100, 0],
    ['burstable'],
  ),
  byCritical(
    'the larger Burstable pod if the smaller one does not suffice',
    ['bestEffort', 'burstable', 'highBurstable'],
    [150, 150, 0],
    ['highBurstable'],
  ),
  byCritical('several pods', ALL_ORDINARY, [350, 350, 0], ['highBurstable', 'burstable']),
  byCritical(
    'a Guaranteed pod, and not the Burstable pod that it makes superfluous',
    ALL_ORDINARY,
    [0, 550, 0],
    ['highBurstable', 'highGuaranteed'],
  ),
  {
    title: 'a critical pod of a lower priority',
    preemptor: 'nodeCritical',
    pods: ['clusterCritical'],
    need: [100, 0, 0],
    victims: ['clusterCritical'],
  },
  byCritical('no critical pod of a higher priority', ['nodeCritical'], [100, 0, 0]),
];

/** `TestAdmissionRequirementsDistance`. */
export const DISTANCES: readonly (readonly [title: string, need: Need, pod: PodName, distance: number])[] = [
  ['no needs', [0, 0, 0], 'burstable', 0],
  ['a pod without requests', [100, 100, 1], 'bestEffort', 2],
  ['as much as the pod requests', [100, 100, 1], 'burstable', 0],
  ['less than the pod requests', [50, 50, 0], 'burstable', 0],
];

/** `TestAdmissionRequirementsSubtract`. */
export const REMAINDERS: readonly (readonly [title: string, need: Need, pod: PodName, remainder: Need])[] = [
  ['no needs', [0, 0, 0], 'burstable', [0, 0, 0]],
  ['a pod without requests', [100, 100, 1], 'bestEffort', [100, 100, 0]],
  ['as much as the pod requests', [100, 100, 1], 'burstable', [0, 0, 0]],
  ['less than the pod requests', [50, 50, 0], 'burstable', [0, 0, 0]],
  ['more than the pod requests', [200, 200, 1], 'burstable', [100, 100, 0]],
];

type Size = readonly [cpu: number, memory: number];

/** `TestSmallerResourceRequest`. Two pods that request only other resources are equal. */
export const SIZE_COMPARISONS: readonly (readonly [title: string, first: Size, second: Size, isNoLarger: boolean])[] = [
  ['some requests and none', [100, 50], [0, 0], false],
  ['less memory', [100, 50], [100, 200], true],
  ['more memory and less CPU', [100, 200], [200, 50], false],
  ['equal requests', [100, 50], [100, 50], true],
  ['only other resources', [0, 0], [0, 0], true],
];

interface AdmissionCase {
  readonly title: string;
  readonly admitted: PodName;
  readonly pods: readonly PodName[];
  readonly need: Need;
  /** Whether the pod also fails for a reason other than resources. */
  readonly hasOtherReason: boolean;
  readonly outcome: { readonly victims: readonly PodName[] } | { readonly reason: string };
}

const IMPOSSIBLE = { reason: 'UnexpectedAdmissionError' };
const SHORT_OF_MEMORY = { reason: 'OutOfmemory' };

/**
 * `TestHandleAdmissionFailure`. Its case of a pod that cannot be killed concerns the kubelet's actor, which then admits
 * the critical pod, whereas this node waits.
 */
export const ADMISSIONS: readonly AdmissionCase[] = [
  {
    title: 'preempts no critical pod of the same priority',
    admitted: 'clusterCritical',
    pods: ['clusterCritical'],
    need: [0, 0, 1],
    hasOtherReason: false,
    outcome: IMPOSSIBLE,
  },
  {
    title: 'preempts nothing for a pod that is not critical',
    admitted: 'guaranteed',
    pods: ['burstable'],
    need: [0, 1, 0],
    hasOtherReason: false,
    outcome: SHORT_OF_MEMORY,
  },
  {
    title: 'preempts no BestEffort pod for memory',
    admitted: 'clusterCritical',
    pods: ['bestEffort'],
    need: [0, 1, 0],
    hasOtherReason: false,
    outcome: IMPOSSIBLE,
  },
  {
    title: 'preempts several pods',
    admitted: 'clusterCritical',
    pods: ['clusterCritical', ...ALL_ORDINARY],
    need: [0, 550, 0],
    hasOtherReason: false,
    outcome: { victims: ['highBurstable', 'highGuaranteed'] },
  },
  {
    title: 'refuses a pod that is not critical for the resource, even if there is another reason',
    admitted: 'guaranteed',
    pods: ['burstable'],
    need: [0, 1, 0],
    hasOtherReason: true,
    outcome: SHORT_OF_MEMORY,
  },
  {
    title: 'preempts nothing for a critical pod that is refused for another reason',
    admitted: 'clusterCritical',
    pods: ['clusterCritical'],
    need: [0, 0, 1],
    hasOtherReason: true,
    outcome: { reason: 'NodeName' },
  },
];
