/** Binds every pod to the first schedulable node, ignoring requests and resources. */
import { type JsonObject, textAt } from '../json.ts';
import { listAt, objectsAt, specOf } from '../registry/strategies/parts.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Controller } from './controller.ts';

export const scheduler: Controller = {
  user: 'system:kube-scheduler',
  resources: ['/pods', '/nodes'],
  reconcile: async (store, write) => {
    const node = store.list('/nodes').find(([, each]) => takesPods(each))?.[1];
    if (node === undefined) return;
    const target = { kind: 'Node', name: metadataOf(node).name ?? '' };
    for (const [, pod] of store.list('/pods')) {
      if (!isWaiting(pod)) continue;
      const { namespace = '', name = '' } = metadataOf(pod);
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
      await write('POST', path, { metadata: { name }, target });
    }
  },
};

/** Whether a node has no taint that prevents scheduling. Cordoned and unready nodes have one. */
const takesPods = (node: JsonObject): boolean =>
  objectsAt(specOf(node), 'taints').every((taint) => textAt(taint, 'effect') === 'PreferNoSchedule');

const isWaiting = (pod: JsonObject): boolean =>
  textAt(specOf(pod), 'nodeName') === '' &&
  listAt(specOf(pod), 'schedulingGates').length === 0 &&
  metadataOf(pod).deletionTimestamp === undefined;
