/** Deletes objects (`Delete` of `registry/generic/registry/store.go` of apiserver). */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { gracefulDeletion } from '../deletion/grace.ts';
import { deletionFinalizers, type PropagationPolicy } from '../deletion/propagation.ts';
import { conflict, type Failure } from '../failures/failures.ts';
import { type JsonObject, numberAt, objectAt } from '../json.ts';
import { storedAs } from '../resources/resource.ts';
import { metadataOf, withMetadata } from '../store/metadata.ts';
import { finalizersOf } from './finalizing.ts';
import type { ObjectLocation, Registry } from './registry.ts';
import type { Strategy } from './strategy.ts';

export interface DeletionOptions {
  readonly strategy: Strategy;
  readonly isDryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface DeletionResult {
  readonly object: JsonObject;
  readonly isGone: boolean;
}

/**
 * Deletes an object, or marks it as being deleted. Throws a `Failure` if it does not exist or does not match the
 * preconditions.
 */
export function deleteObject(registry: Registry, location: ObjectLocation, how: DeletionOptions): DeletionResult {
  const before = registry.get(location);
  checkPreconditions(location, before, how.preconditions);
  const step = nextStep(before, how, registry.clock.now());
  if (step === undefined) return { object: before, isGone: false };
  const { object, remains } = step;
  const isChanged = !isJsonEqual(object, before);
  const marked = how.isDryRun || !isChanged ? object : registry.store.put(storedAs(location.resource), object);
  if (remains) return { object: marked, isGone: false };
  return { object: how.isDryRun ? marked : registry.store.remove(storedAs(location.resource), marked), isGone: true };
}

/**
 * Returns the object to be written and whether it remains for now. Undefined if the deletion is already in progress.
 */
function nextStep(before: JsonObject, how: DeletionOptions, now: number) {
  const marked = how.strategy.markDeleted(before, now);
  if (marked !== undefined) return { object: marked, remains: true };
  const had = finalizersOf(before);
  const finalizers = deletionFinalizers(had, how.propagationPolicy);
  const isPending = finalizers.length > 0;
  const held = withMetadata(before, { finalizers: isPending ? finalizers : undefined });
  if (!how.strategy.isGraceful) return { object: isPending ? markedAsDeleted(held, now) : before, remains: isPending };
  const deletion = gracefulDeletion(held, how.gracePeriodSeconds, now);
  if (deletion.when === 'pending') return undefined;
  if (deletion.when === 'now') return { object: isPending ? markedAsDeleted(held, now) : before, remains: isPending };
  const seconds = numberAt(objectAt(deletion.object, 'metadata'), 'deletionGracePeriodSeconds') ?? 0;
  return { object: deletion.object, remains: isPending || seconds > 0 };
}

function markedAsDeleted(object: JsonObject, now: number): JsonObject {
  const { deletionTimestamp } = metadataOf(object);
  const past = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now;
  return withMetadata(object, {
    deletionTimestamp: past ? deletionTimestamp : rfc3339(now),
    deletionGracePeriodSeconds: 0,
  });
}

function checkPreconditions(
  { resource, name }: ObjectLocation,
  before: JsonObject,
  { uid, resourceVersion }: DeletionOptions['preconditions'],
): void {
  const had = metadataOf(before);
  const about = { ...resource, name: resource.kind };
  const differs = (what: string, expected: string, actual = '', change = ''): Failure =>
    conflict(
      about,
      name,
      `the ${what} in the precondition (${expected}) does not match the ${what} in record (${actual}). The object might have been ${change}`,
    );
  if (uid !== undefined && uid !== had.uid) throw differs('UID', uid, had.uid, 'deleted and then recreated');
  if (resourceVersion !== undefined && resourceVersion !== had.resourceVersion)
    throw differs('ResourceVersion', resourceVersion, had.resourceVersion, 'modified');
}
