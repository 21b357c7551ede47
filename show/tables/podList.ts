import type { Pod } from '../../kubernetes/api/schema/pod.ts';

/** Returns a PodList as printed by kubectl and returned by the API. */
export const podList = (items: readonly Pod[]) => ({
  apiVersion: 'v1',
  kind: 'PodList',
  metadata: { resourceVersion: '' },
  items,
});
