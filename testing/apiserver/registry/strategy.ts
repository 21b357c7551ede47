/** The rules of a kind: defaults, validation and deletion. */

import type { TimerClock } from '../../../base/time/clock.ts';
import type { SelectableFields } from '../../../kubernetes/api/selection/fieldSelector.ts';
import { dnsSubdomainProblems } from '../../../kubernetes/api/validation/metadata/nameRules.ts';
import type { NameRule } from '../../../kubernetes/api/validation/metadata/objectMeta.ts';
import type { Cause } from '../failures/failures.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Store } from '../store/store.ts';
import type { Ids } from './ids.ts';

/** The parts of the server that strategies use. */
export interface RegistryContext {
  readonly store: Store;
  readonly clock: TimerClock;
  readonly ids: Ids;
  /** Enabled feature gates that are disabled by default. */
  readonly features: ReadonlySet<string>;
}

/** The rules of a kind or subresource (`rest.RESTCreateUpdateStrategy` of apiserver). */
export interface Strategy {
  readonly nameRule: NameRule['name'];
  /** Returns the stored form with the defaults of the version. */
  readonly defaulted: (object: JsonObject) => JsonObject;
  /** Returns a stored object in the form of the version. */
  readonly toVersion: (object: JsonObject) => JsonObject;
  /** Removes fields that clients cannot set on a new object and sets those of the server. */
  readonly created: (object: JsonObject, surroundings: RegistryContext) => JsonObject;
  readonly updated: (object: JsonObject, before: JsonObject, surroundings: RegistryContext) => JsonObject;
  /** Returns validation errors, except for those of the metadata. */
  readonly createCauses: (object: JsonObject) => readonly Cause[];
  readonly updateCauses: (object: JsonObject, before: JsonObject) => readonly Cause[];
  /** Returns warnings for the creator of an object. */
  readonly warnings: (object: JsonObject) => readonly string[];
  /** Whether an update is also validated like a new object. */
  readonly checksWhole: boolean;
  /** Whether an update creates a missing object. */
  readonly createsOnUpdate: boolean;
  /** Whether an update may omit the resource version. */
  readonly updatesUnconditionally: boolean;
  /** Whether objects have a deletion grace period. */
  readonly isGraceful: boolean;
  /** Returns the first state of an object that is being deleted. Undefined if it can be removed. */
  readonly markDeleted: (object: JsonObject, now: number) => JsonObject | undefined;
  /** Whether the response to a deletion contains the object. */
  readonly returnsDeleted: boolean;
  readonly fields: SelectableFields<JsonObject>;
  /** The error message for an unsupported field selector. */
  readonly unknownField: (field: string) => string;
}

const unchanged = (object: JsonObject): JsonObject => object;

/** The field selectors of all kinds. */
const metadataFields: SelectableFields<JsonObject> = new Map([
  ['metadata.name', (object: JsonObject) => metadataOf(object).name ?? ''],
  ['metadata.namespace', (object: JsonObject) => metadataOf(object).namespace ?? ''],
]);

/** The strategy of a kind without specific rules. */
export const plainStrategy: Strategy = {
  nameRule: dnsSubdomainProblems,
  defaulted: unchanged,
  toVersion: unchanged,
  created: unchanged,
  updated: unchanged,
  createCauses: () => [],
  updateCauses: () => [],
  warnings: () => [],
  checksWhole: true,
  createsOnUpdate: false,
  updatesUnconditionally: true,
  isGraceful: false,
  markDeleted: () => undefined,
  returnsDeleted: false,
  fields: metadataFields,
  unknownField: (field) =>
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

/** Adds field selectors. */
export const withSelectors = (
  fields: readonly (readonly [field: string, read: (object: JsonObject) => string])[],
): Pick<Strategy, 'fields' | 'unknownField'> => ({
  fields: new Map([...metadataFields, ...fields]),
  unknownField: (field) => `field label not supported: ${field}`,
});

/** The resource version of an object, or an empty string. */
export const versionOf = (object: JsonObject): string => metadataOf(object).resourceVersion ?? '';
