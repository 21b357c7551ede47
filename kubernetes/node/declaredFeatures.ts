import { containersOf, isSidecar } from '../api/containers.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import { keyOf } from '../resources/resize.ts';

/**
 * The declared features of Kubernetes that this node supports, sorted. An API server sends pods that need a different feature
 * only to other nodes.
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
  readonly runs?: (spec: PodSpec) => boolean;
  /** Whether an update of a pod needs the feature. */
  readonly updates?: (before: PodSpec, after: PodSpec) => boolean;
}

/** The features that a pod can need (`staging/src/k8s.io/component-helpers/nodedeclaredfeatures/features`), sorted. */
const FEATURES: readonly Feature[] = [
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    updates: (before, after) => keyOf(before.resources ?? {}) !== keyOf(after.resources ?? {}),
  },
  { name: 'InPlacePodVerticalScalingInitContainers', updates: resizesInitContainer },
  {
    name: 'RestartAllContainersOnContainerExits',
    runs: (spec) =>
      containersOf(spec).some(({ container }) =>
        container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
      ),
  },
  {
    name: 'UserNamespacesHostNetworkSupport',
    runs: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  },
];

/** Whether the resources of an init container change that is not a sidecar. */
function resizesInitContainer(before: PodSpec, after: PodSpec): boolean {
  const resources = new Map((after.initContainers ?? []).map((container) => [container.name, container.resources]));
  return (before.initContainers ?? []).some(
    (container) =>
      !isSidecar(container) &&
      resources.has(container.name) &&
      keyOf(container.resources ?? {}) !== keyOf(resources.get(container.name) ?? {}),
  );
}

/**
 * Returns the kubelet's message about the features that a pod needs and the node does not declare; undefined if it declares
 * all of them (`declaredFeaturesAdmitHandler` in `pkg/kubelet/lifecycle/handlers.go`).
 */
export function unsupportedFeatures(spec: PodSpec, declared = DECLARED_FEATURES): string | undefined {
  const missing = FEATURES.filter(({ name, runs }) => runs?.(spec) && !declared.includes(name));
  if (missing.length === 0) return undefined;
  return `Pod requires node features that are not available: ${missing.map(({ name }) => name).join(', ')}`;
}

/**
 * The features that an update of a pod needs, sorted. This node declares all features that an update can need, so that only an
 * API server checks them.
 */
export const featuresOfUpdate = (before: PodSpec, after: PodSpec): readonly string[] =>
  FEATURES.filter(({ updates }) => updates?.(before, after)).map(({ name }) => name);
