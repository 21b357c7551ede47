import type { Pod } from '../kubernetes/api/schema/pod.ts';

/** A list of pods as kubectl prints one, and as an API answers it. */
export const podList = (items: readonly Pod[]) => ({
  apiVersion: 'v1',
  kind: 'PodList',
  metadata: { resourceVersion: '' },
  items,
});
