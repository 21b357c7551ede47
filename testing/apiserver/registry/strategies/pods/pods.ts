/** The strategy of pods (`registry/core/pod/strategy.go` of kubernetes). */

import { isJsonEqual } from '../../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../../base/values/lookUp.ts';
import { withDefaults } from '../../../../../kubernetes/api/defaults/defaults.ts';
import { qosClass } from '../../../../../kubernetes/resources/qos.ts';
import { isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from '../../../json.ts';
import { withMetadata } from '../../../store/metadata.ts';
import { plainStrategy, type Strategy, withSelectors } from '../../strategy.ts';
import { listAt, specOf, statusOf, withFieldsOf } from '../parts.ts';
import { withoutDisabledFields } from './disabledFields.ts';
import { newPodCauses, readPod } from './readPod.ts';
import { podUpdateCauses } from './updates.ts';
import { podWarnings } from './warnings.ts';

const specText = (name: string) => [`spec.${name}`, (pod: JsonObject) => textAt(specOf(pod), name)] as const;
const statusText = (name: string) => [`status.${name}`, (pod: JsonObject) => textAt(statusOf(pod), name)] as const;

export const podStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([
    ...['nodeName', 'restartPolicy', 'schedulerName', 'serviceAccountName'].map(specText),
    ['spec.hostNetwork', (pod) => String(lookUp(specOf(pod), 'hostNetwork') ?? false)],
    ...['phase', 'podIP', 'nominatedNodeName'].map(statusText),
  ]),
  defaulted,
  created: (requested, { features }) => {
    const pod = withoutDisabledFields(requested, undefined, features);
    return withMetadata({ ...pod, status: initialStatus(pod) }, { generation: 1 });
  },
  updated: (pod, before, { features }) =>
    withGeneration(withFieldsOf(withoutDisabledFields(pod, before, features), before, ['status']), before),
  createCauses: newPodCauses,
  warnings: podWarnings,
  updateCauses: podUpdateCauses,
  isGraceful: true,
  returnsDeleted: true,
};

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

function initialStatus(pod: JsonObject): JsonObject {
  const read = readPod(pod);
  const isGated = listAt(specOf(pod), 'schedulingGates').length > 0;
  return {
    phase: 'Pending',
    ...(isGated ? { conditions: [{ ...GATED, lastProbeTime: null, lastTransitionTime: null }] } : {}),
    qosClass: 'pod' in read ? qosClass(read.pod.spec) : 'BestEffort',
  };
}

/** Sets the generation of a pod, which counts the changes of its spec. */
export function withGeneration(pod: JsonObject, before: JsonObject): JsonObject {
  const generation = numberAt(objectAt(before, 'metadata'), 'generation') ?? 0;
  return withMetadata(pod, { generation: isJsonEqual(specOf(pod), specOf(before)) ? generation : generation + 1 });
}

/** An unreadable pod is left unchanged, because validation reports it. */
function defaulted(pod: JsonObject): JsonObject {
  const read = readPod(withMetadata(pod, { name: 'any' }));
  if ('problems' in read) return pod;
  return { ...pod, spec: jsonOf(withDefaults(read.pod).spec) };
}

function jsonOf(value: object): JsonObject {
  const copy: Json = JSON.parse(JSON.stringify(value));
  return isObject(copy) ? copy : {};
}
