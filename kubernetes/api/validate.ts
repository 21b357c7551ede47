/**
 * Validates pods after defaulting, in the order and wording of Kubernetes (`pkg/apis/core/validation/validation.go`).
 * The same functions validate static pods and the pods of the test API server.
 */

import { isStaticPod } from './pods/staticPod.ts';
import type { Problem } from './problem.ts';
import type { Pod, PodSpec } from './schema/pod.ts';
import { validateContainers, validateImages } from './validation/containers/containers.ts';
import { validateFileKeyVolumes } from './validation/containers/env.ts';
import { validatePodAnnotations, validateProfileAnnotations } from './validation/metadata/annotations.ts';
import { dnsSubdomainProblems as subdomainRules } from './validation/metadata/nameRules.ts';
import { validateKubeFinalizers, validateLabels, validateObjectMeta } from './validation/metadata/objectMeta.ts';
import { validateDns, validateHostAliases, validateHostnameOverride } from './validation/pod/names.ts';
import {
  validateAffinity,
  validateReadinessGates,
  validateSchedulingGates,
  validateSchedulingGroup,
  validateTolerations,
  validateTopologySpread,
} from './validation/pod/scheduling.ts';
import { validateHostUsers, validatePodSecurity } from './validation/pod/security.ts';
import { type StaticRules, validateStatic } from './validation/pod/static.ts';
import { validateHostProcesses, validateOs } from './validation/pod/windows.ts';
import { validatePodClaims, validatePodResources } from './validation/resources/podResources.ts';
import { validateResources } from './validation/resources/resources.ts';
import { validateVolumes } from './validation/volumes/volumes.ts';
import {
  forbidden,
  invalid,
  required,
  validateDnsLabel,
  validateDnsSubdomain,
  validateOneOf,
  validateRange,
  validateRequiredOneOf,
} from './validation/words.ts';

/** Maximum of `activeDeadlineSeconds`, the largest signed 32-bit integer. */
const MAX_DEADLINE_SECONDS = 2 ** 31 - 1;

/**
 * Returns the problems that prevent a node from running a pod. Defaults must already have been applied. A static pod is
 * checked like a new pod at an API server, because the server must accept its mirror pod. In addition, a static pod
 * must not refer to API objects, except to objects that it can run without (`isLenient`) and objects that its source
 * provides and the caller checks (`acceptsObjects`). For a pod from an API server, only the fields that the node relies
 * on are checked.
 */
export function validatePod(
  pod: Pod,
  { isLenient = false, acceptsObjects = false }: Partial<StaticRules> = {},
): Problem[] {
  const uid = validateUid(pod.metadata.uid);
  if (!isStaticPod(pod)) return [...uid, ...validateAcceptedPod(pod)];
  const rule = { isNamespaced: true, name: subdomainRules };
  const problems = [
    ...validateObjectMeta(pod.metadata, rule),
    ...validateKubeFinalizers(pod.metadata),
    ...uid,
    ...validateNewPod(pod),
  ];
  return problems.length > 0 ? problems : validateStatic(pod.spec, { isLenient, acceptsObjects });
}

/** Checks the UID, which becomes the name of a directory and of a cgroup. */
function validateUid(uid: string): Problem[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', start with an alphanumeric one, and have at most 63";
  return /^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}$/.test(uid) ? [] : [invalid('metadata.uid', uid, rule)];
}

/** Validates a new pod, except the metadata common to all kinds (`ValidatePodCreate`). */
export function validateNewPod(pod: Pod): Problem[] {
  const { ephemeralContainers = [] } = pod.spec;
  return [
    ...validateAnyPod(pod),
    ...(ephemeralContainers.length > 0 ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')] : []),
    ...validatePlacement(pod.spec),
    ...validateProfileAnnotations(pod),
  ];
}

/** Checks that a pod with scheduling gates is not assigned to a node. */
const validatePlacement = ({ nodeName = '', schedulingGates = [] }: PodSpec): Problem[] =>
  nodeName === '' || schedulingGates.length === 0
    ? []
    : [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')];

/** Validates a new or updated pod, except the metadata common to all kinds (`validatePodMetadataAndSpec`). */
export function validateAnyPod(pod: Pod): Problem[] {
  return [
    ...validatePodAnnotations(pod),
    ...validateSpec(pod, false),
    ...validateTokenAccount(pod.spec),
    ...validateImages(pod.spec),
  ];
}

const serviceAccountOf = ({ serviceAccountName, serviceAccount }: PodSpec): string =>
  serviceAccountName || serviceAccount || '';

function validateTokenAccount(spec: PodSpec): Problem[] {
  if (serviceAccountOf(spec) !== '') return [];
  const detail = 'must not be specified when serviceAccountName is not set';
  return (spec.volumes ?? []).flatMap(({ projected }, index) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, position) =>
      serviceAccountToken === undefined
        ? []
        : [forbidden(`spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`, detail)],
    ),
  );
}

/**
 * A check of the spec. `isNodeCheck` is true if the node relies on the checked fields. All other fields matter only to
 * schedulers and API servers.
 */
interface SpecCheck {
  readonly isNodeCheck: boolean;
  readonly check: (spec: PodSpec) => Problem[];
}

const nodeCheck = (check: SpecCheck['check']): SpecCheck => ({ isNodeCheck: true, check });
const clusterCheck = (check: SpecCheck['check']): SpecCheck => ({ isNodeCheck: false, check });

/** Checks in the order of `ValidatePodSpec`. They run after the checks of volumes and containers. */
const SPEC_CHECKS: readonly SpecCheck[] = [
  nodeCheck(validateHostNetwork),
  nodeCheck(({ restartPolicy }) =>
    validateRequiredOneOf('spec.restartPolicy', restartPolicy, ['Always', 'OnFailure', 'Never']),
  ),
  nodeCheck(({ dnsPolicy }) => validateRequiredOneOf('spec.dnsPolicy', dnsPolicy, DNS_POLICIES)),
  clusterCheck(({ nodeSelector = {} }) => validateLabels(nodeSelector, 'spec.nodeSelector')),
  nodeCheck(validatePodSecurity),
  clusterCheck(validateAffinity),
  nodeCheck(validateDns),
  clusterCheck(validateReadinessGates),
  clusterCheck(validateSchedulingGates),
  clusterCheck(validateTopologySpread),
  clusterCheck(validateHostProcesses),
  nodeCheck(validateHostUsers),
  nodeCheck(validateHostnameOverride),
  clusterCheck((spec) => validateOptionalSubdomain('spec.serviceAccountName', serviceAccountOf(spec))),
  clusterCheck(({ nodeName }) => validateOptionalSubdomain('spec.nodeName', nodeName)),
  nodeCheck(({ activeDeadlineSeconds }) =>
    validateRange('spec.activeDeadlineSeconds', activeDeadlineSeconds, 1, MAX_DEADLINE_SECONDS),
  ),
  nodeCheck(({ hostname }) => (hostname ? validateDnsLabel('spec.hostname', hostname) : [])),
  nodeCheck(({ subdomain }) => (subdomain ? validateDnsLabel('spec.subdomain', subdomain) : [])),
  clusterCheck((spec) => validateTolerations(spec, 'spec.tolerations')),
  nodeCheck(validateHostAliases),
  clusterCheck(({ priorityClassName }) => validateOptionalSubdomain('spec.priorityClassName', priorityClassName)),
  // The next two fields are pointers in Go, so an empty string is invalid.
  clusterCheck(({ runtimeClassName: name }) =>
    name === undefined ? [] : validateDnsSubdomain('spec.runtimeClassName', name),
  ),
  clusterCheck(({ preemptionPolicy }) => validatePreemption(preemptionPolicy)),
  nodeCheck(({ overhead }) => (overhead ? validateResources({ limits: overhead }, 'spec.overhead') : [])),
  clusterCheck(validateOs),
  clusterCheck(validateSchedulingGroup),
  nodeCheck(validateFileKeyVolumes),
];

/** Validates the spec of a pod. With `nodeChecksOnly`, validates only the fields that the node relies on. */
function validateSpec(pod: Pod, nodeChecksOnly: boolean): Problem[] {
  const { metadata, spec } = pod;
  const { validVolumes, problems } = validateVolumes(spec.volumes ?? [], metadata.name, 'spec.volumes');
  const podClaims = (spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => name !== '');
  return [
    ...problems,
    ...(nodeChecksOnly ? [] : validatePodClaims(pod)),
    ...validateContainers({ spec, volumes: validVolumes, podClaims }),
    ...validatePodResources(spec, podClaims),
    ...SPEC_CHECKS.flatMap(({ isNodeCheck, check }) => (isNodeCheck || !nodeChecksOnly ? check(spec) : [])),
  ];
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

const validateOptionalSubdomain = (path: string, value = ''): Problem[] =>
  value === '' ? [] : validateDnsSubdomain(path, value);

function validatePreemption(policy: string | undefined): Problem[] {
  const path = 'spec.preemptionPolicy';
  return policy === '' ? [required(path)] : validateOneOf(path, policy, ['PreemptLowerPriority', 'Never']);
}

function validateHostNetwork({ hostNetwork, containers }: PodSpec): Problem[] {
  if (!hostNetwork) return [];
  const detail = 'must match `containerPort` when `hostNetwork` is true';
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, containerPort }, position) =>
      hostPort === containerPort
        ? []
        : [invalid(`spec.containers[${index}].ports[${position}].hostPort`, hostPort, detail)],
    ),
  );
}

/**
 * Validates only the fields that the node relies on, because the API server that accepted the pod may have newer rules.
 */
function validateAcceptedPod(pod: Pod): Problem[] {
  const { metadata, spec } = pod;
  return [
    ...validateDnsSubdomain('metadata.name', metadata.name),
    ...validateDnsLabel('metadata.namespace', metadata.namespace),
    ...validateSpec(pod, true),
    ...validatePlacement(spec),
    ...validateImages(spec),
  ];
}
