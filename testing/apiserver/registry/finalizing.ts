/** What holds an object that is deleted. */
import { lookUp } from '../../../base/lookUp.ts';
import { isList, type JsonObject, numberAt, objectAt } from '../json.ts';

export function finalizersOf(object: JsonObject): string[] {
  const finalizers = lookUp(objectAt(object, 'metadata'), 'finalizers');
  return isList(finalizers) ? finalizers.filter((each) => typeof each === 'string') : [];
}

/** Whether an object that is deleted has nothing left to wait for (`ShouldDeleteDuringUpdate` of apiserver). */
export function isGone(object: JsonObject): boolean {
  const metadata = objectAt(object, 'metadata');
  const isDeleted = lookUp(metadata, 'deletionTimestamp') !== undefined;
  const seconds = numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  return isDeleted && finalizersOf(object).length === 0 && seconds === 0;
}
