/** Finalizers of deleted objects. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, type JsonObject, numberAt, objectAt } from '../json.ts';

export function finalizersOf(object: JsonObject): string[] {
  const finalizers = lookUp(objectAt(object, 'metadata'), 'finalizers');
  return isList(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [];
}

/** Whether a deleted object can be removed (`ShouldDeleteDuringUpdate` of apiserver). */
export function isGone(object: JsonObject): boolean {
  const metadata = objectAt(object, 'metadata');
  const isDeleted = lookUp(metadata, 'deletionTimestamp') !== undefined;
  const seconds = numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  return isDeleted && finalizersOf(object).length === 0 && seconds === 0;
}
