/** The strategy of the `resize` subresource (`ValidatePodResize` of `core/validation`). */

import { isJsonEqual } from '../../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../../base/values/lookUp.ts';
import { qosClass } from '../../../../../kubernetes/resources/qos.ts';
import { forbidden, invalidValue } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../../json.ts';
import type { Strategy } from '../../strategy.ts';
import { objectsAt, specOf, statusOf, withFields, withFieldsOf } from '../parts.ts';
import { isMirrorPod } from './mirrorPod.ts';
import { podStrategy, withGeneration } from './pods.ts';
import { podCauses, readPod } from './readPod.ts';

export const resizeStrategy: Strategy = {
  ...podStrategy,
  updated: (pod, before) => withGeneration(withFieldsOf(withResources(pod, before), before, ['status']), before),
  updateCauses: resizeCauses,
};

const LISTS = ['containers', 'initContainers'] as const;

/** Takes only the resources and resize policies from an update. */
function withResources(pod: JsonObject, before: JsonObject): JsonObject {
  const lists = LISTS.flatMap((list) => {
    const requested = objectsAt(specOf(pod), list);
    const had = objectsAt(specOf(before), list);
    if (had.length === 0) return [];
    const all = had.map((container) => {
      const now = requested.find((each) => textAt(each, 'name') === textAt(container, 'name'));
      return now === undefined ? container : withFieldsOf(container, now, ['resources', 'resizePolicy']);
    });
    return [[list, all] as const];
  });
  const metadata = objectAt(pod, 'metadata');
  const resources = lookUp(specOf(pod), 'resources');
  return { ...before, metadata, spec: withFields(specOf(before), { ...Object.fromEntries(lists), resources }) };
}

function resizeCauses(pod: JsonObject, before: JsonObject): Cause[] {
  if (isMirrorPod(before)) return [forbidden('', 'static pods cannot be resized')];
  const [read, had] = [readPod(pod), readPod(before)];
  const isOther = 'pod' in read && 'pod' in had && qosClass(read.pod.spec) !== qosClass(had.pod.spec);
  const why = 'Pod QOS Class may not change as a result of resizing';
  return [
    ...podCauses(pod),
    ...(isOther ? [invalidValue('spec', textAt(statusOf(pod), 'qosClass'), why)] : []),
    ...(isSupported(before) ? [] : [forbidden('spec', 'Pod running on node without support for resize')]),
    ...LISTS.flatMap((list) => containerCauses(pod, before, list)),
  ];
}

/** Whether the node supports resizes, because it reports the containers' resources (`isPodResizeRequestSupported`). */
const isSupported = (pod: JsonObject): boolean =>
  objectsAt(statusOf(pod), 'containerStatuses').every(
    (each) => lookUp(objectAt(each, 'state'), 'running') === undefined || lookUp(each, 'resources') !== undefined,
  );

const MUTABLE = ['cpu', 'memory'] as const;

function containerCauses(pod: JsonObject, before: JsonObject, list: (typeof LISTS)[number]): Cause[] {
  const requested = objectsAt(specOf(pod), list);
  return objectsAt(specOf(before), list).flatMap((container, index) => {
    const field = `spec.${list}[${index}].resources`;
    const [own, had] = [objectAt(requested[index] ?? {}, 'resources'), objectAt(container, 'resources')];
    const restarts = list === 'initContainers' && !isJsonEqual(own, had) && isRestartedInit(requested[index] ?? {});
    return [
      ...removalCauses(own, had, 'requests', field),
      ...removalCauses(own, had, 'limits', field),
      ...(isJsonEqual(withoutMutable(own), withoutMutable(had)) ? [] : [immutableCause(list, index)]),
      ...(restarts ? [forbidden(`spec.initContainers[${index}]`, RESTARTED_INIT)] : []),
    ];
  });
}

const RESTARTED_INIT = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';

/** Whether the container, if it is not a sidecar, has a resize policy that requires a restart. */
const isRestartedInit = (container: JsonObject): boolean =>
  textAt(container, 'restartPolicy') !== 'Always' &&
  objectsAt(container, 'resizePolicy').some((policy) => textAt(policy, 'restartPolicy') === 'RestartContainer');

const immutableCause = (list: (typeof LISTS)[number], index: number): Cause =>
  list === 'containers'
    ? forbidden('spec', 'only cpu and memory resources are mutable')
    : forbidden(
        `spec.initContainers[${index}]`,
        'only cpu and memory resources for init or sidecar containers are mutable',
      );

function removalCauses(own: JsonObject, had: JsonObject, kind: 'requests' | 'limits', field: string): Cause[] {
  const isRemoved = Object.keys(objectAt(had, kind)).some((name) => lookUp(objectAt(own, kind), name) === undefined);
  return isRemoved ? [forbidden(`${field}.${kind}`, `resource ${kind} cannot be removed`)] : [];
}

const withoutMutable = (resources: JsonObject): JsonObject =>
  withFields(
    resources,
    Object.fromEntries(
      (['requests', 'limits'] as const).map((kind) => [
        kind,
        withFields(objectAt(resources, kind), Object.fromEntries(MUTABLE.map((name) => [name, undefined]))),
      ]),
    ),
  );
