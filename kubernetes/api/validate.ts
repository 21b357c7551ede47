/**
 * Checks of pods with their defaults, in the order and the words of Kubernetes (`pkg/apis/core/validation/validation.go`).
 * Static pods and the pods of the test API server are checked by the same functions.
 */
import type { Problem } from './problem.ts';
import type { Pod, PodSpec } from './schema/pod.ts';
import { isStaticPod } from './staticPod.ts';
import { validatePodAnnotations, validateProfileAnnotations } from './validation/annotations.ts';
import { validateContainers, validateImages } from './validation/containers.ts';
import { validateFileKeyVolumes } from './validation/env.ts';
import { dnsSubdomain as subdomainRules } from './validation/nameRules.ts';
import { validateDns, validateHostAliases, validateHostnameOverride } from './validation/names.ts';
import { validateKubeFinalizers, validateLabels, validateObjectMeta } from './validation/objectMeta.ts';
import { validatePodClaims, validatePodResources } from './validation/podResources.ts';
import { validateResources } from './validation/resources.ts';
import {
  validateAffinity,
  validateReadinessGates,
  validateSchedulingGates,
  validateSchedulingGroup,
  validateTolerations,
  validateTopologySpread,
} from './validation/scheduling.ts';
import { validateHostUsers, validatePodSecurity } from './validation/security.ts';
import { type StaticRules, validateStatic } from './validation/static.ts';
import { validateVolumes } from './validation/volumes.ts';
import { validateHostProcesses, validateOs } from './validation/windows.ts';
import {
  dnsLabel,
  dnsSubdomain,
  forbidden,
  inRange,
  invalid,
  oneOf,
  required,
  requiredOneOf,
} from './validation/words.ts';

/** In seconds, the longest time that fits into 32 bits. */
const LONGEST_DEADLINE = 2 ** 31 - 1;

/**
 * Returns what a node cannot run of a pod with its defaults. A static pod is checked as an API server checks a new pod,
 * because its mirror pod could not be created otherwise, and may not refer to objects of an API server. If the rules are
 * lenient, it may, as far as it can run without them; and if the caller sees to its needs, so may it to what its source
 * has. A pod of an API server has been checked there.
 */
export function validatePod(pod: Pod, { isLenient = false, seesNeeds = false }: Partial<StaticRules> = {}): Problem[] {
  const uid = validateUid(pod.metadata.uid);
  if (!isStaticPod(pod)) return [...uid, ...validateAcceptedPod(pod)];
  const rule = { isNamespaced: true, name: subdomainRules };
  const problems = [
    ...validateObjectMeta(pod.metadata, rule),
    ...validateKubeFinalizers(pod.metadata),
    ...uid,
    ...validateNewPod(pod),
  ];
  return problems.length > 0 ? problems : validateStatic(pod.spec, { isLenient, seesNeeds });
}

/** A UID becomes the name of a directory and of a cgroup. */
function validateUid(uid: string): Problem[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', start with an alphanumeric one, and have at most 63";
  return /^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/.test(uid) ? [] : [invalid('metadata.uid', uid, rule)];
}

/** Checks a pod that is created, beside the metadata that all kinds have (`ValidatePodCreate`). */
export function validateNewPod(pod: Pod): Problem[] {
  const { ephemeralContainers = [] } = pod.spec;
  return [
    ...validateAnyPod(pod),
    ...(ephemeralContainers.length > 0 ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')] : []),
    ...validatePlacement(pod.spec),
    ...validateProfileAnnotations(pod),
  ];
}

/** A pod with gates is not scheduled yet, so it has no node. */
const validatePlacement = ({ nodeName = '', schedulingGates = [] }: PodSpec): Problem[] =>
  nodeName === '' || schedulingGates.length === 0
    ? []
    : [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')];

/** Checks a pod that is created or changed, beside the metadata that all kinds have (`validatePodMetadataAndSpec`). */
export function validateAnyPod(pod: Pod): Problem[] {
  return [
    ...validatePodAnnotations(pod),
    ...validateSpec(pod, false),
    ...tokensWithoutAccount(pod.spec),
    ...validateImages(pod.spec),
  ];
}

const accountOf = ({ serviceAccountName, serviceAccount }: PodSpec): string =>
  serviceAccountName || serviceAccount || '';

function tokensWithoutAccount(spec: PodSpec): Problem[] {
  if (accountOf(spec) !== '') return [];
  const why = 'must not be specified when serviceAccountName is not set';
  return (spec.volumes ?? []).flatMap(({ projected }, index) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, position) =>
      serviceAccountToken === undefined
        ? []
        : [forbidden(`spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`, why)],
    ),
  );
}

/** A check of the spec, and whether a node relies on it: the others are for schedulers and API servers. */
interface SpecCheck {
  readonly isOfNode: boolean;
  readonly check: (spec: PodSpec) => Problem[];
}

const ofNode = (check: SpecCheck['check']): SpecCheck => ({ isOfNode: true, check });
const ofCluster = (check: SpecCheck['check']): SpecCheck => ({ isOfNode: false, check });

/** In the order of `ValidatePodSpec`, after the volumes and the containers. */
const SPEC_CHECKS: readonly SpecCheck[] = [
  ofNode(validateHostNetwork),
  ofNode(({ restartPolicy }) => requiredOneOf('spec.restartPolicy', restartPolicy, ['Always', 'OnFailure', 'Never'])),
  ofNode(({ dnsPolicy }) => requiredOneOf('spec.dnsPolicy', dnsPolicy, DNS_POLICIES)),
  ofCluster(({ nodeSelector = {} }) => validateLabels(nodeSelector, 'spec.nodeSelector')),
  ofNode(validatePodSecurity),
  ofCluster(validateAffinity),
  ofNode(validateDns),
  ofCluster(validateReadinessGates),
  ofCluster(validateSchedulingGates),
  ofCluster(validateTopologySpread),
  ofCluster(validateHostProcesses),
  ofNode(validateHostUsers),
  ofNode(validateHostnameOverride),
  ofCluster((spec) => optionalSubdomain('spec.serviceAccountName', accountOf(spec))),
  ofCluster(({ nodeName }) => optionalSubdomain('spec.nodeName', nodeName)),
  ofNode(({ activeDeadlineSeconds }) =>
    inRange('spec.activeDeadlineSeconds', activeDeadlineSeconds, 1, LONGEST_DEADLINE),
  ),
  ofNode(({ hostname }) => (hostname ? dnsLabel('spec.hostname', hostname) : [])),
  ofNode(({ subdomain }) => (subdomain ? dnsLabel('spec.subdomain', subdomain) : [])),
  ofCluster((spec) => validateTolerations(spec, 'spec.tolerations')),
  ofNode(validateHostAliases),
  ofCluster(({ priorityClassName }) => optionalSubdomain('spec.priorityClassName', priorityClassName)),
  // These two are pointers in Go, so an empty text is a wrong one.
  ofCluster(({ runtimeClassName: name }) => (name === undefined ? [] : dnsSubdomain('spec.runtimeClassName', name))),
  ofCluster(({ preemptionPolicy }) => validatePreemption(preemptionPolicy)),
  ofNode(({ overhead }) => (overhead ? validateResources({ limits: overhead }, 'spec.overhead') : [])),
  ofCluster(validateOs),
  ofCluster(validateSchedulingGroup),
  ofNode(validateFileKeyVolumes),
];

/** Checks the spec of a pod, or only what its node relies on. */
function validateSpec(pod: Pod, isOnlyOfNode: boolean): Problem[] {
  const { metadata, spec } = pod;
  const { valid, problems } = validateVolumes(spec.volumes ?? [], metadata.name, 'spec.volumes');
  const podClaims = (spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => name !== '');
  return [
    ...problems,
    ...(isOnlyOfNode ? [] : validatePodClaims(pod)),
    ...validateContainers({ spec, volumes: valid, podClaims }),
    ...validatePodResources(spec, podClaims),
    ...SPEC_CHECKS.flatMap(({ isOfNode, check }) => (isOfNode || !isOnlyOfNode ? check(spec) : [])),
  ];
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

const optionalSubdomain = (path: string, value = ''): Problem[] => (value === '' ? [] : dnsSubdomain(path, value));

function validatePreemption(policy: string | undefined): Problem[] {
  const path = 'spec.preemptionPolicy';
  return policy === '' ? [required(path)] : oneOf(path, policy, ['PreemptLowerPriority', 'Never']);
}

function validateHostNetwork({ hostNetwork, containers }: PodSpec): Problem[] {
  if (!hostNetwork) return [];
  const why = 'must match `containerPort` when `hostNetwork` is true';
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, containerPort }, position) =>
      hostPort === containerPort
        ? []
        : [invalid(`spec.containers[${index}].ports[${position}].hostPort`, hostPort, why)],
    ),
  );
}

/** Checks a pod of an API server, which may know rules that are newer, for what the node relies on. */
function validateAcceptedPod(pod: Pod): Problem[] {
  const { metadata, spec } = pod;
  return [
    ...dnsSubdomain('metadata.name', metadata.name),
    ...dnsLabel('metadata.namespace', metadata.namespace),
    ...validateSpec(pod, true),
    ...validatePlacement(spec),
    ...validateImages(spec),
  ];
}
