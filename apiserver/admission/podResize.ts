/** A pod is resized where its node can do it (`plugin/pkg/admission/podresize`, `plugin/pkg/admission/nodedeclaredfeatures`). */
import { lookUp } from '../../pod/lookUp.ts';
import { sameValue } from '../../pod/sameValue.ts';
import { refused } from '../failures.ts';
import { isList, objectAt, textAt } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Plugin } from './plugin.ts';

const POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling';

export const podResize: Plugin = ({ target: { resource, subresource }, object, before, registry }) => {
  if (resource.name !== 'pods' || subresource?.name !== 'resize' || object === undefined || before === undefined)
    return undefined;
  const nodeName = textAt(objectAt(before, 'spec'), 'nodeName');
  const { name = '' } = metadataOf(object);
  const node = nodeName === '' ? undefined : registry.store.get('/nodes', undefined, nodeName);
  const quoted = JSON.stringify(nodeName);
  if (nodeName !== '' && node === undefined) throw refused(resource, name, `node ${quoted} not found`);
  const [own, had] = [object, before].map((pod) => lookUp(objectAt(pod, 'spec'), 'resources'));
  const declared = lookUp(objectAt(node ?? {}, 'status'), 'declaredFeatures');
  const isDeclared = isList(declared) && declared.includes(POD_LEVEL);
  if (node === undefined || sameValue(own, had) || isDeclared) return undefined;
  throw refused(resource, name, `pod update requires features ${POD_LEVEL} which are not available on node ${quoted}`);
};
