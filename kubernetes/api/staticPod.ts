import { createHash } from 'node:crypto';
import type { Pod, PodManifest, PodSpec } from './schema/pod.ts';

const SYSTEM_CRITICAL = 2_000_000_000;
const PRIORITIES = new Map([
  ['system-node-critical', SYSTEM_CRITICAL + 1000],
  ['system-cluster-critical', SYSTEM_CRITICAL],
]);

/** Where a static pod was read: a file's path or an address, and when (milliseconds since the epoch). */
export interface StaticSource {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  readonly origin: string;
  readonly seenAt: number;
}

/** Makes the pod that a node runs of a manifest: name, UID, annotations, toleration and priority (C24). */
export function staticPod(manifest: PodManifest, { nodeName, source, origin, seenAt }: StaticSource): Pod {
  const node = nodeName.toLowerCase();
  const uid = manifest.metadata.uid || uidOf(manifest, node, origin);
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
    spec: { ...manifest.spec, nodeName: node, ...priority(manifest.spec), ...tolerations(manifest.spec, source) },
  };
}

/** The name that a node gives the pod of a manifest (C24). */
export const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/** 32 hex digits that are the same for the same content, node and origin; of what was written, so that new defaults restart nothing. */
function uidOf(manifest: PodManifest, node: string, origin: string): string {
  const { metadata, spec } = manifest;
  return createHash('sha256')
    .update(JSON.stringify([metadata, spec, node, origin], sortedKeys))
    .digest('hex')
    .slice(0, 32);
}

/** The order of keys in a file is no difference. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function priority(spec: PodSpec): Pick<PodSpec, 'priority'> {
  const known = PRIORITIES.get(spec.priorityClassName ?? '');
  return spec.priority === undefined && known !== undefined ? { priority: known } : {};
}

/** A pod of a file must outlive problems of its node, so no NoExecute taint evicts it. */
function tolerations(spec: PodSpec, source: 'file' | 'http'): Pick<PodSpec, 'tolerations'> {
  if (source !== 'file') return {};
  const others = (spec.tolerations ?? []).filter(
    ({ key, operator, effect }) => key !== undefined || operator !== 'Exists' || effect !== 'NoExecute',
  );
  return { tolerations: [...others, { operator: 'Exists', effect: 'NoExecute' }] };
}

/**
 * What at most one running pod of a node may have: `name_namespace` (C24). A pod of an API server has its name to itself
 * there, and has its UID here: the one before it may still end while it runs (`startedStaticPodsByFullname` of
 * `pkg/kubelet/pod_workers.go`).
 */
export function fullName(pod: Pod): string {
  const { name, namespace, uid } = pod.metadata;
  return sourceOf(pod) === 'api' ? uid : `${name}_${namespace}`;
}

/** Where a pod comes from: `file`, `http`, or the API server in other words. */
export const sourceOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.['kubernetes.io/config.source'];

/** Whether a pod's source is a file or an address rather than the API server. */
export const isStaticPod = (pod: Pod): boolean => ['file', 'http'].includes(sourceOf(pod) ?? '');

/** Whether the node must run it before others: a static pod (C24), or one of the system's priorities. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL;
}
