/**
 * Adds the finalizers that protect volumes and claims in use
 * (`plugin/pkg/admission/storage/storageobjectinuseprotection`).
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, objectAt } from '../json.ts';
import { withMetadata } from '../store/metadata.ts';
import type { Plugin } from './plugin.ts';

const PROTECTED: ReadonlyMap<string, string> = new Map([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
]);

export const storageInUse: Plugin = ({ target: { resource }, object, before }) => {
  const finalizer = PROTECTED.get(resource.name);
  if (finalizer === undefined || object === undefined || before !== undefined) return undefined;
  const had = lookUp(objectAt(object, 'metadata'), 'finalizers');
  const finalizers = isList(had) ? had : [];
  return finalizers.includes(finalizer) ? undefined : withMetadata(object, { finalizers: [...finalizers, finalizer] });
};
