/**
 * The strategy of the `ephemeralcontainers` subresource (`ValidatePodEphemeralContainersUpdate` of `core/validation`).
 */
import { firstDifference } from '../../../../../base/values/firstDifference.ts';
import { isJsonEqual } from '../../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../../base/values/lookUp.ts';
import { forbidden } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../../json.ts';
import type { Strategy } from '../../strategy.ts';
import { objectsAt, specOf, withFields } from '../parts.ts';
import { isMirrorPod } from './mirrorPod.ts';
import { podStrategy, withGeneration } from './pods.ts';
import { podCauses } from './readPod.ts';

export const ephemeralContainersStrategy: Strategy = {
  ...podStrategy,
  updated: (pod, before) => {
    const ephemeralContainers = lookUp(specOf(pod), 'ephemeralContainers');
    return withGeneration(
      { ...before, metadata: objectAt(pod, 'metadata'), spec: withFields(specOf(before), { ephemeralContainers }) },
      before,
    );
  },
  updateCauses: (pod, before) => {
    if (isMirrorPod(before)) return [forbidden('', 'static pods do not support ephemeral containers')];
    return [...podCauses(pod), ...changedCauses(pod, before)];
  },
};

function changedCauses(pod: JsonObject, before: JsonObject): Cause[] {
  const field = 'spec.ephemeralContainers';
  const containers = objectsAt(specOf(pod), 'ephemeralContainers');
  return objectsAt(specOf(before), 'ephemeralContainers').flatMap((had) => {
    const name = textAt(had, 'name');
    const now = containers.find((each) => textAt(each, 'name') === name);
    const message = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (now === undefined) return [forbidden(field, `${message} removed\n`)];
    const difference = JSON.stringify(firstDifference(had, now) ?? null);
    return isJsonEqual(had, now) ? [] : [forbidden(field, `${message} changed\n${difference}`)];
  });
}
