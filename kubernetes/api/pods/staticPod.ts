import { createHash } from 'node:crypto';
import type { Pod, PodManifest, PodSpec } from '../schema/pod.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const CLASS_PRIORITIES = new Map([
  ['system-node-critical', SYSTEM_CRITICAL_PRIORITY + 1000],
  ['system-cluster-critical', SYSTEM_CRITICAL_PRIORITY],
]);

/**
 * Origin of a static pod: the path of a file or a URL, and the time at which the manifest was read, in milliseconds
 * since the epoch.
 */
export interface StaticSource {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  readonly origin: string;
  readonly seenAt: number;
}

/** Builds the pod to run from a manifest. The node sets the name, UID, annotations, toleration and priority (C24). */
export function toStaticPod(manifest: PodManifest, { nodeName, source, origin, seenAt }: StaticSource): Pod {
  const node = nodeName.toLowerCase();
  const uid = manifest.metadata.uid || computeUid(manifest, node, origin);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...manifest.metadata,
      name: staticPodName(manifest.metadata.name, nodeName),
      namespace: manifest.metadata.namespace || 'default',
      uid,
      annotations: {
        ...manifest.metadata.annotations,
        'kubernetes.io/config.source': source,
        'kubernetes.io/config.seen': new Date(seenAt).toISOString(),
        'kubernetes.io/config.hash': uid,
      },
    },
    spec: {
      ...manifest.spec,
      nodeName: node,
      ...priorityFields(manifest.spec),
      ...tolerationFields(manifest.spec, source),
    },
  };
}

/** Returns the name of the pod that a node creates from a manifest (C24). */
export const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/**
 * Returns the pod's UID, which consists of 32 hex digits that depend on the manifest's content, the node and the
 * origin. The manifest is hashed without defaults, so that new defaults in a later version do not restart pods.
 */
function computeUid(manifest: PodManifest, node: string, origin: string): string {
  const { metadata, spec } = manifest;
  return createHash('sha256')
    .update(JSON.stringify([metadata, spec, node, origin], sortKeys))
    .digest('hex')
    .slice(0, 32);
}

/** Returns an object with sorted keys, because the order of keys in a manifest must not affect the UID. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function priorityFields(spec: PodSpec): Pick<PodSpec, 'priority'> {
  const classPriority = CLASS_PRIORITIES.get(spec.priorityClassName ?? '');
  return spec.priority === undefined && classPriority !== undefined ? { priority: classPriority } : {};
}

/**
 * Returns the tolerations of a static pod. A pod from a file tolerates all NoExecute taints, because it must keep
 * running when its node has problems.
 */
function tolerationFields(spec: PodSpec, source: 'file' | 'http'): Pick<PodSpec, 'tolerations'> {
  if (source !== 'file') return {};
  const otherTolerations = (spec.tolerations ?? []).filter(
    ({ key, operator, effect }) => key !== undefined || operator !== 'Exists' || effect !== 'NoExecute',
  );
  return { tolerations: [...otherTolerations, { operator: 'Exists', effect: 'NoExecute' }] };
}

/**
 * Returns the pod's full name (`name_namespace`). At most one pod with a given full name may run on a node (C24). For a
 * pod from an API server, returns the UID instead, because the server ensures unique names, and the previous pod of
 * that name may still be terminating (`startedStaticPodsByFullname` of `pkg/kubelet/pod_workers.go`).
 */
export function fullName(pod: Pod): string {
  const { name, namespace, uid } = pod.metadata;
  return sourceOf(pod) === 'api' ? uid : `${name}_${namespace}`;
}

/** Returns the source of a pod: `file`, `http` or `api`. */
export const sourceOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.['kubernetes.io/config.source'];

/** Whether a pod comes from a file or a URL instead of an API server. */
export const isStaticPod = (pod: Pod): boolean => ['file', 'http'].includes(sourceOf(pod) ?? '');

/**
 * Whether a pod takes precedence over others. That is the case for a static pod (C24) and for a pod with a system
 * priority.
 */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}
