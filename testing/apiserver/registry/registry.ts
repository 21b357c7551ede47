/** Writes objects according to the strategies of their kinds (`registry/generic/registry/store.go` of apiserver). */

import type { TimerClock } from '../../../base/time/clock.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { invalidValue } from '../failures/causes.ts';
import {
  alreadyExists,
  type Cause,
  conflict,
  Failure,
  invalid,
  modifiedConflict,
  notFound,
} from '../failures/failures.ts';
import { type JsonObject, objectAt } from '../json.ts';
import { type Resource, storedAs } from '../resources/resource.ts';
import { type Metadata, metadataOf, withMetadata } from '../store/metadata.ts';
import { Store } from '../store/store.ts';
import { createdMetaCauses, kubeFinalizerCauses, updatedMetaCauses } from '../validation/objectMeta.ts';
import { isGone } from './finalizing.ts';
import type { Ids } from './ids.ts';
import type { DisabledFeature } from './strategies/pods/disabledFields.ts';
import { type RegistryContext, type Strategy, versionOf } from './strategy.ts';

/** The location of an object. */
export interface ObjectLocation {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface WriteInput {
  readonly strategy: Strategy;
  readonly isDryRun: boolean;
  /** The required UID. Undefined to accept any object. */
  readonly uid?: string | undefined;
  /** Runs admission before validation. May change the object or reject it with a `Failure`. */
  readonly admit: (object: JsonObject, before: JsonObject | undefined) => JsonObject;
}

export interface WriteResult {
  readonly object: JsonObject;
  readonly isCreated: boolean;
}

export class Registry implements RegistryContext {
  readonly store = new Store();
  readonly clock: TimerClock;
  readonly ids: Ids;
  /** The enabled feature gates. Can be changed at any time. */
  readonly features = new Set<DisabledFeature>();

  constructor(clock: TimerClock, ids: Ids) {
    this.clock = clock;
    this.ids = ids;
  }

  /** Returns an object. Throws a `Failure` if it does not exist. */
  get({ resource, namespace, name }: ObjectLocation): JsonObject {
    const found = this.store.get(storedAs(resource), namespace, name);
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  create(resource: Resource, requested: JsonObject, { strategy, isDryRun, admit }: WriteInput): JsonObject {
    const named = this.#withGeneratedName(requested);
    const admitted = admit(named, undefined);
    const object = withMetadata(strategy.created(admitted, this), {
      uid: this.ids.uid(),
      creationTimestamp: rfc3339(this.clock.now()),
      deletionTimestamp: undefined,
      deletionGracePeriodSeconds: undefined,
      selfLink: undefined,
    });
    const metadata = metadataOf(object);
    requireNoCauses(resource, metadata.name ?? metadata.generateName ?? '', [
      ...createdMetaCauses(objectAt(object, 'metadata'), {
        isNamespaced: resource.isNamespaced,
        name: strategy.nameRule,
      }),
      ...kubeFinalizerCauses(object),
      ...strategy.createCauses(object),
    ]);
    this.#requireFreeName(resource, metadata);
    if (versionOf(object) !== '')
      throw new Failure(500, '', 'resourceVersion should not be set on objects to be created');
    return isDryRun ? object : this.store.put(storedAs(resource), object);
  }

  /** Writes the result of `change`, whose argument is undefined if the object does not exist. */
  update(
    location: ObjectLocation,
    change: (before: JsonObject | undefined) => JsonObject,
    how: WriteInput,
  ): WriteResult {
    const { resource, namespace, name } = location;
    const before = this.store.get(storedAs(resource), namespace, name);
    if (before === undefined) {
      if (!how.strategy.createsOnUpdate) throw notFound(resource, name);
      checkUid(location, {}, how.uid);
      return { object: this.create(resource, change(undefined), how), isCreated: true };
    }
    checkUid(location, before, how.uid);
    const changed = how.admit(change(before), before);
    const object = this.#validatedUpdate(location, changed, before, how.strategy);
    return { object: how.isDryRun ? object : this.#store(resource, object, before, how.strategy), isCreated: false };
  }

  #validatedUpdate(
    { resource, name }: ObjectLocation,
    changed: JsonObject,
    before: JsonObject,
    strategy: Strategy,
  ): JsonObject {
    const version = versionOf(changed);
    if (!/^\d*$/.test(version))
      throw new Failure(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
    if (!isMissing(version) && version !== versionOf(before)) throw modifiedConflict(resource, name);
    if (isMissing(version) && !strategy.updatesUnconditionally)
      throw invalid({ group: resource.group, kind: resource.name }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    const versioned = isMissing(version) ? withMetadata(changed, { resourceVersion: versionOf(before) }) : changed;
    const object = strategy.updated(withPreservedMetadata(versioned, before), before, this);
    const meta = updatedMetaCauses(objectAt(object, 'metadata'), objectAt(before, 'metadata'));
    const asNew = createdMetaCauses(objectAt(object, 'metadata'), {
      isNamespaced: resource.isNamespaced,
      name: () => [],
    });
    // The kube-apiserver validates metadata once for all kinds and again for each kind, so its causes occur twice.
    requireNoCauses(resource, name, [
      ...asNew,
      ...meta,
      ...meta,
      ...kubeFinalizerCauses(object),
      ...(strategy.checksWhole ? [...asNew, ...kubeFinalizerCauses(object)] : []),
      ...strategy.updateCauses(object, before),
    ]);
    return object;
  }

  /** Writes an object, or removes it if the deletion was only waiting for this write. */
  #store(resource: Resource, object: JsonObject, before: JsonObject, { markDeleted: marked }: Strategy): JsonObject {
    const hasGone = isGone(object) && marked(object, this.clock.now()) === undefined;
    if (!hasGone) return this.store.put(storedAs(resource), object);
    // Watches receive the last stored state.
    this.store.remove(storedAs(resource), before);
    return object;
  }

  /** Generates a name from `generateName`, unless there is a name. */
  #withGeneratedName(object: JsonObject): JsonObject {
    const { name, generateName } = metadataOf(object);
    if (name || !generateName) return object;
    return withMetadata(object, { name: this.ids.nameAfter(generateName) });
  }

  #requireFreeName(resource: Resource, { namespace, name = '' }: Metadata): void {
    const there = this.store.get(storedAs(resource), resource.isNamespaced ? namespace : undefined, name);
    if (there === undefined) return;
    throw alreadyExists(resource, name, metadataOf(there).deletionTimestamp !== undefined);
  }
}

const isMissing = (version: string): boolean => version === '' || version === '0';

/** Restores metadata that clients may omit and cannot change. */
function withPreservedMetadata(object: JsonObject, before: JsonObject): JsonObject {
  const [own, had] = [objectAt(object, 'metadata'), objectAt(before, 'metadata')];
  const kept = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const;
  const missing = kept.filter(
    (name) => lookUp(own, name) === undefined || name === 'generation' || name === 'creationTimestamp',
  );
  return withMetadata(object, {
    ...Object.fromEntries(missing.map((name) => [name, lookUp(had, name)])),
    selfLink: undefined,
  });
}

/** Throws a `Failure` if the object has a different UID (`Preconditions.Check` of `apiserver/pkg/storage`). */
function checkUid({ resource, namespace, name }: ObjectLocation, before: JsonObject, uid: string | undefined): void {
  const { uid: own = '' } = metadataOf(before);
  if (uid === undefined || uid === own) return;
  const key = ['/registry', resource.name, ...(namespace === undefined ? [] : [namespace]), name].join('/');
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${own}`;
  throw conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

function requireNoCauses(resource: Resource, name: string, causes: readonly Cause[]): void {
  // Errors name the group under which the resource is stored.
  const [group = ''] = storedAs(resource).split('/');
  if (causes.length > 0) throw invalid({ group, kind: resource.kind }, name, causes);
}
