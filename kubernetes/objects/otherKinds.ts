/** What a node without a cluster does with objects that are neither pods nor what pods get: nothing, and what to write instead. */
import type { Problem } from '../api/problem.ts';

const POD = (template: string) => `write the Pod that its ${template} describes instead`;
const REACHED = 'pods are reached by a hostPort or with hostNetwork instead';
const HOST_PATH = 'a hostPath volume in the Pod gives it a directory of this node instead';
const RIGHTS = 'there is no API server here that a pod could ask: leave it out';
const ALONE = 'what it governs is the business of a cluster: leave it out';

/** By kind, so far as people bring them along. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job'].map(
    (kind) => [kind, POD('spec.template')] as const,
  ),
  ['CronJob', `${POD('spec.jobTemplate.spec.template')}, and let a timer of the host put its file here`] as const,
  ['PodTemplate', POD('template')] as const,
  ...['Service', 'Endpoints', 'EndpointSlice', 'Ingress', 'IngressClass', 'Gateway', 'HTTPRoute'].map(
    (kind) => [kind, REACHED] as const,
  ),
  ...['PersistentVolumeClaim', 'PersistentVolume', 'StorageClass'].map((kind) => [kind, HOST_PATH] as const),
  ...['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].map(
    (kind) => [kind, RIGHTS] as const,
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
  ].map((kind) => [kind, ALONE] as const),
  ['Namespace', 'a pod is in the namespace that its metadata.namespace names, without anything else: leave it out'],
  ['PriorityClass', 'the Pod names its spec.priority itself instead'],
  ['RuntimeClass', 'put it into the directory of --runtime-class-path instead'],
]);

/** The one message for an object of another kind; undefined for a kind that nobody knows, which may be a mistake. */
export function otherKind(kind: string): Problem | undefined {
  const instead = INSTEAD.get(kind);
  if (instead === undefined) return undefined;
  return { path: 'kind', message: `nothing is done here with a ${kind}: ${instead}` };
}
