/** The objects of an empty cluster. */
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';
import type { JsonObject } from './json.ts';
import type { Registry } from './registry/registry.ts';
import { withMetadata } from './store/metadata.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'] as const;
const CRITICAL = [
  [
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ],
  [
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their current node.',
  ],
] as const;

export function createInitialObjects({ store, ids, clock }: Registry): void {
  const withServerMetadata = (object: JsonObject, name: string, more: JsonObject = {}): JsonObject =>
    withMetadata(object, { name, uid: ids.uid(), creationTimestamp: rfc3339(clock.now()), ...more });
  for (const name of NAMESPACES) {
    const namespace = {
      kind: 'Namespace',
      apiVersion: 'v1',
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
    store.put('/namespaces', withServerMetadata(namespace, name, { labels: { 'kubernetes.io/metadata.name': name } }));
  }
  for (const [name, value, description] of CRITICAL) {
    const critical = {
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    };
    store.put('scheduling.k8s.io/priorityclasses', withServerMetadata(critical, name, { generation: 1 }));
  }
}
