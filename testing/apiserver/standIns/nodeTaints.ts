/** Taints nodes according to their conditions (`pkg/controller/nodelifecycle` of kubernetes). Does not check leases. */
import { lookUp } from '../../../base/lookUp.ts';
import { sameValue } from '../../../base/sameValue.ts';
import { type JsonObject, textAt } from '../json.ts';
import { objectsAt, specOf, statusOf } from '../registry/strategies/parts.ts';
import { metadataOf } from '../store/metadata.ts';
import type { StandIn } from './standIn.ts';

export const keepTaints: StandIn = {
  user: 'system:serviceaccount:kube-system:node-controller',
  resources: ['/nodes'],
  look: async (store, write) => {
    for (const [, node] of store.list('/nodes')) {
      const had = objectsAt(specOf(node), 'taints');
      const taints = [...had.filter((taint) => !isKept(taint)), ...wanted(node)];
      const name = metadataOf(node).name ?? '';
      if (!sameValue(inOrder(had), inOrder(taints)))
        await write('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } });
    }
  },
};

const PREFIX = 'node.kubernetes.io/';

/** The condition and status of each taint. */
const CONDITIONS = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['PIDPressure', 'True', 'pid-pressure'],
] as const;
const UNSCHEDULABLE = 'unschedulable';
const KEPT: ReadonlySet<string> = new Set(
  [...CONDITIONS.map(([, , taint]) => taint), UNSCHEDULABLE].map((each) => PREFIX + each),
);

const isKept = (taint: JsonObject): boolean =>
  textAt(taint, 'effect') === 'NoSchedule' && KEPT.has(textAt(taint, 'key'));

function wanted(node: JsonObject): JsonObject[] {
  const conditions = objectsAt(statusOf(node), 'conditions');
  const found = CONDITIONS.filter(([type, status]) =>
    conditions.some((each) => textAt(each, 'type') === type && textAt(each, 'status') === status),
  ).map(([, , taint]) => taint);
  // A node without a Ready condition is not ready.
  const silent = conditions.some((each) => textAt(each, 'type') === 'Ready') ? [] : ['not-ready'];
  const cordoned = lookUp(specOf(node), 'unschedulable') === true ? [UNSCHEDULABLE] : [];
  return [...found, ...silent, ...cordoned].map((each) => ({ key: PREFIX + each, effect: 'NoSchedule' }));
}

const inOrder = (taints: readonly JsonObject[]): readonly string[] =>
  taints.map((taint) => `${textAt(taint, 'key')} ${textAt(taint, 'effect')} ${textAt(taint, 'value')}`).toSorted();
