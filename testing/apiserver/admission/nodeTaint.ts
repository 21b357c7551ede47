/** Taints a new node as not ready (`plugin/pkg/admission/nodetaint`). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, objectAt, textAt } from '../json.ts';
import type { Plugin } from './plugin.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

export const nodeTaint: Plugin = ({ target: { resource, subresource }, object, before }) => {
  if (resource.name !== 'nodes' || subresource !== undefined || object === undefined || before !== undefined)
    return undefined;
  const spec = objectAt(object, 'spec');
  const given = lookUp(spec, 'taints');
  const taints = isList(given) ? given : [];
  const isThere = taints.some(
    (each) => isObject(each) && textAt(each, 'key') === NOT_READY.key && textAt(each, 'effect') === NOT_READY.effect,
  );
  return isThere ? undefined : { ...object, spec: { ...spec, taints: [...taints, NOT_READY] } };
};
