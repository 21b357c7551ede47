/**
 * Adds tolerations of five minutes for nodes that are not ready or unreachable
 * (`plugin/pkg/admission/defaulttolerationseconds`).
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, type Json, objectAt, textAt } from '../json.ts';
import type { Plugin } from './plugin.ts';

const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;
const SECONDS = 300;

export const defaultTolerations: Plugin = (request) => {
  const { object, target } = request;
  const { resource, subresource } = target;
  if (object === undefined || resource.name !== 'pods' || subresource !== undefined) return undefined;
  const spec = objectAt(object, 'spec');
  const existing = lookUp(spec, 'tolerations');
  const tolerations = isList(existing) ? existing : [];
  const added = KEYS.filter((key) => !tolerations.some((each) => tolerates(each, key))).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS,
  }));
  return added.length === 0 ? undefined : { ...object, spec: { ...spec, tolerations: [...tolerations, ...added] } };
};

function tolerates(toleration: Json, key: string): boolean {
  if (!isObject(toleration)) return false;
  const [own, effect] = [textAt(toleration, 'key'), textAt(toleration, 'effect')];
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}
