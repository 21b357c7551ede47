import { containersOf, isSidecar } from '../api/pods/containers.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { resourceKey } from '../resources/resize.ts';

/**
 * Features that this node declares in `status.declaredFeatures`, sorted. A pod that needs any other feature is not
 * scheduled to this node.
 */
export const DECLARED_FEATURES: readonly string[] = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
];

interface Feature {
  readonly name: string;
  /** Whether a pod needs the feature in order to run. */
  readonly isNeededByPod?: (spec: PodSpec) => boolean;
  /** Whether an update of a pod needs the feature. */
  readonly isNeededByUpdate?: (before: PodSpec, after: PodSpec) => boolean;
}

/** Features that a pod can need (`staging/src/k8s.io/component-helpers/nodedeclaredfeatures/features`), sorted. */
export const FEATURES: readonly Feature[] = [
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    isNeededByUpdate: (before, after) => resourceKey(before.resources ?? {}) !== resourceKey(after.resources ?? {}),
  },
  { name: 'InPlacePodVerticalScalingInitContainers', isNeededByUpdate: isInitContainerResized },
  {
    name: 'RestartAllContainersOnContainerExits',
    isNeededByPod: (spec) =>
      containersOf(spec).some(({ container }) =>
        container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
      ),
  },
  {
    name: 'UserNamespacesHostNetworkSupport',
    isNeededByPod: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  },
];

/** Whether the resources of any init container that is not a sidecar have changed. */
function isInitContainerResized(before: PodSpec, after: PodSpec): boolean {
  const resources = new Map((after.initContainers ?? []).map((container) => [container.name, container.resources]));
  return (before.initContainers ?? []).some(
    (container) =>
      !isSidecar(container) &&
      resources.has(container.name) &&
      resourceKey(container.resources ?? {}) !== resourceKey(resources.get(container.name) ?? {}),
  );
}

/**
 * Returns the kubelet's message about features that a pod needs but the node does not declare, or undefined if there
 * are none (`declaredFeaturesAdmitHandler` in `pkg/kubelet/lifecycle/handlers.go`).
 */
export function unsupportedFeatures(spec: PodSpec, declared = DECLARED_FEATURES): string | undefined {
  const missingFeatures = FEATURES.filter(
    ({ name, isNeededByPod }) => isNeededByPod?.(spec) && !declared.includes(name),
  );
  if (missingFeatures.length === 0) return undefined;
  return `Pod requires node features that are not available: ${missingFeatures.map(({ name }) => name).join(', ')}`;
}

/**
 * Returns the features that an update of a pod needs, sorted. Only an API server checks them, because this node
 * declares all features that an update can need.
 */
export const featuresForUpdate = (before: PodSpec, after: PodSpec): readonly string[] =>
  FEATURES.filter(({ isNeededByUpdate }) => isNeededByUpdate?.(before, after)).map(({ name }) => name);
