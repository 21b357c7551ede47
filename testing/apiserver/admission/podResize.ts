/**
 * Rejects a resize that the pod's node does not support (`plugin/pkg/admission/podresize`,
 * `plugin/pkg/admission/nodedeclaredfeatures`).
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { featuresForUpdate } from '../../../kubernetes/node/declaredFeatures.ts';
import { forbidden } from '../failures/failures.ts';
import { isList, type JsonObject, objectAt, textAt } from '../json.ts';
import { readPod } from '../registry/strategies/pods/readPod.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Plugin } from './plugin.ts';

export const podResize: Plugin = ({ target: { resource, subresource }, object, before, registry }) => {
  if (resource.name !== 'pods' || subresource?.name !== 'resize' || object === undefined || before === undefined)
    return undefined;
  const nodeName = textAt(objectAt(before, 'spec'), 'nodeName');
  const { name = '' } = metadataOf(object);
  const node = nodeName === '' ? undefined : registry.store.get('/nodes', undefined, nodeName);
  const quoted = JSON.stringify(nodeName);
  if (nodeName !== '' && node === undefined) throw forbidden(resource, name, `node ${quoted} not found`);
  if (node === undefined) return undefined;
  const declared = lookUp(objectAt(node, 'status'), 'declaredFeatures');
  const missing = neededFeatures(before, object).filter((feature) => !(isList(declared) && declared.includes(feature)));
  if (missing.length === 0) return undefined;
  const features = missing.join(', ');
  throw forbidden(resource, name, `pod update requires features ${features} which are not available on node ${quoted}`);
};

/**
 * Returns the node features that an update requires. Empty if the pod is invalid, because its validation then rejects
 * the update.
 */
function neededFeatures(before: JsonObject, object: JsonObject): readonly string[] {
  const [had, read] = [readPod(before), readPod(object)];
  return 'pod' in had && 'pod' in read ? featuresForUpdate(had.pod.spec, read.pod.spec) : [];
}
