/** Finalizers of the kinds of Kubernetes itself (`validateKubeFinalizerName` of `core/validation`). */
import { lookUp } from '../../pod/lookUp.ts';
import { invalidValue } from '../causes.ts';
import type { Cause } from '../failures.ts';
import { isList, type JsonObject, objectAt } from '../json.ts';

const STANDARD: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** One that has no domain has to be a standard one. */
export function kubeFinalizerCauses(object: JsonObject): Cause[] {
  const finalizers = lookUp(objectAt(object, 'metadata'), 'finalizers');
  if (!isList(finalizers)) return [];
  return finalizers.flatMap((each, index) => {
    if (typeof each !== 'string' || each.includes('/') || STANDARD.has(each)) return [];
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalidValue(`metadata.finalizers[${index}]`, each, why)];
  });
}
