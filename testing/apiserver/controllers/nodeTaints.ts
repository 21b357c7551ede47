/**
 * Taints nodes according to their conditions (`pkg/controller/nodelifecycle` of kubernetes). Leases are not checked.
 */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { type JsonObject, textAt } from '../json.ts';
import { objectsAt, specOf, statusOf } from '../registry/strategies/parts.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Controller } from './controller.ts';

export const taintController: Controller = {
  user: 'system:serviceaccount:kube-system:node-controller',
  resources: ['/nodes'],
  reconcile: async (store, write) => {
    for (const [, node] of store.list('/nodes')) {
      const had = objectsAt(specOf(node), 'taints');
      const taints = [...had.filter((taint) => !isManaged(taint)), ...wantedTaints(node)];
      const name = metadataOf(node).name ?? '';
      if (!isJsonEqual(sortedKeys(had), sortedKeys(taints)))
        await write('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } });
    }
  },
};

const PREFIX = 'node.kubernetes.io/';

/** The condition and status that cause each taint. */
const CONDITIONS = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['PIDPressure', 'True', 'pid-pressure'],
] as const;
const UNSCHEDULABLE = 'unschedulable';
const MANAGED: ReadonlySet<string> = new Set(
  [...CONDITIONS.map(([, , taint]) => taint), UNSCHEDULABLE].map((each) => PREFIX + each),
);

const isManaged = (taint: JsonObject): boolean =>
  textAt(taint, 'effect') === 'NoSchedule' && MANAGED.has(textAt(taint, 'key'));

function wantedTaints(node: JsonObject): JsonObject[] {
  const conditions = objectsAt(statusOf(node), 'conditions');
  const reported = CONDITIONS.filter(([type, status]) =>
    conditions.some((each) => textAt(each, 'type') === type && textAt(each, 'status') === status),
  ).map(([, , taint]) => taint);
  // A node without a Ready condition is not ready.
  const unreported = conditions.some((each) => textAt(each, 'type') === 'Ready') ? [] : ['not-ready'];
  const cordoned = lookUp(specOf(node), 'unschedulable') === true ? [UNSCHEDULABLE] : [];
  return [...reported, ...unreported, ...cordoned].map((each) => ({ key: PREFIX + each, effect: 'NoSchedule' }));
}

const sortedKeys = (taints: readonly JsonObject[]): readonly string[] =>
  taints.map((taint) => `${textAt(taint, 'key')} ${textAt(taint, 'effect')} ${textAt(taint, 'value')}`).toSorted();
