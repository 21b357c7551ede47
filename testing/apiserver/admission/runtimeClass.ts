/** Sets a pod's overhead and scheduling constraints from its RuntimeClass (`plugin/pkg/admission/runtimeclass`). */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { forbidden } from '../failures/failures.ts';
import { isList, isObject, type JsonObject, objectAt, textAt } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';
import { isNewPod, type Plugin } from './plugin.ts';

export const runtimeClass: Plugin = (request) => {
  const { target, object, registry } = request;
  if (object === undefined || !isNewPod(request)) return undefined;
  const spec = objectAt(object, 'spec');
  const name = textAt(spec, 'runtimeClassName');
  const forbid = (why: string) => forbidden(target.resource, metadataOf(object).name ?? '', `pod rejected: ${why}`);
  const found = name === '' ? undefined : registry.store.get('node.k8s.io/runtimeclasses', undefined, name);
  if (name !== '' && found === undefined) throw forbid(`RuntimeClass ${JSON.stringify(name)} not found`);
  const fixed = lookUp(objectAt(found ?? {}, 'overhead'), 'podFixed');
  const requested = lookUp(spec, 'overhead');
  if (requested !== undefined && name === '')
    throw forbid('Pod Overhead set without corresponding RuntimeClass defined Overhead');
  if (requested !== undefined && !isJsonEqual(requested, fixed))
    throw forbid("Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  return {
    ...object,
    spec: withScheduling(
      { ...spec, ...(fixed === undefined ? {} : { overhead: fixed }) },
      objectAt(found ?? {}, 'scheduling'),
    ),
  };
};

function withScheduling(spec: JsonObject, scheduling: JsonObject): JsonObject {
  const selector = lookUp(scheduling, 'nodeSelector');
  const tolerations = lookUp(scheduling, 'tolerations');
  const own = lookUp(spec, 'tolerations');
  return {
    ...spec,
    ...(isObject(selector) ? { nodeSelector: { ...objectAt(spec, 'nodeSelector'), ...selector } } : {}),
    ...(isList(tolerations) ? { tolerations: [...(isList(own) ? own : []), ...tolerations] } : {}),
  };
}
