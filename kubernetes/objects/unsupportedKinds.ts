/** Suggests alternatives for kinds of objects that a standalone node does not support. */
import type { Problem } from '../api/problem.ts';

const podAdvice = (template: string) => `write the Pod that its ${template} describes instead`;
const HOST_PORT_ADVICE = 'pods are reached by a hostPort or with hostNetwork instead';
const HOST_PATH_ADVICE = 'a hostPath volume in the Pod gives it a directory of this node instead';
const NO_API_SERVER_ADVICE = 'there is no API server here that a pod could ask: leave it out';
const NO_CLUSTER_ADVICE = 'what it governs is the business of a cluster: leave it out';

/** Advice for kinds that often occur in manifests, by kind. */
const ADVICE_BY_KIND: ReadonlyMap<string, string> = new Map([
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job'].map(
    (kind) => [kind, podAdvice('spec.template')] as const,
  ),
  ['CronJob', `${podAdvice('spec.jobTemplate.spec.template')}, and let a timer of the host put its file here`] as const,
  ['PodTemplate', podAdvice('template')] as const,
  ...['Service', 'Endpoints', 'EndpointSlice', 'Ingress', 'IngressClass', 'Gateway', 'HTTPRoute'].map(
    (kind) => [kind, HOST_PORT_ADVICE] as const,
  ),
  ...['PersistentVolumeClaim', 'PersistentVolume', 'StorageClass'].map((kind) => [kind, HOST_PATH_ADVICE] as const),
  ...['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map(
    (kind) => [kind, NO_API_SERVER_ADVICE] as const,
  ),
  ...[
    'NetworkPolicy',
    'PodDisruptionBudget',
    'HorizontalPodAutoscaler',
    'VerticalPodAutoscaler',
    'ResourceQuota',
    'LimitRange',
    'CustomResourceDefinition',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
  ].map((kind) => [kind, NO_CLUSTER_ADVICE] as const),
  ['Namespace', 'a pod is in the namespace that its metadata.namespace names, without anything else: leave it out'],
  ['PriorityClass', 'the Pod names its spec.priority itself instead'],
  ['RuntimeClass', 'put it into the directory of --runtime-class-path instead'],
]);

/**
 * Returns the message about an object of an unsupported kind, or undefined for an unknown kind, which may be misspelt.
 */
export function unsupportedKindProblem(kind: string): Problem | undefined {
  const advice = ADVICE_BY_KIND.get(kind);
  if (advice === undefined) return undefined;
  return { path: 'kind', message: `nothing is done here with a ${kind}: ${advice}` };
}
