/** What objects of a kind have of their own: what is filled in, what is checked, and how they go. */

import type { TimerClock } from '../../../base/clock.ts';
import type { SelectableFields } from '../../../kubernetes/api/selection/fieldSelector.ts';
import { dnsSubdomain } from '../../../kubernetes/api/validation/nameRules.ts';
import type { NameRule } from '../../../kubernetes/api/validation/objectMeta.ts';
import type { Cause } from '../failures.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Store } from '../store/store.ts';
import type { Ids } from './ids.ts';

/** What the rules of a kind may ask for. */
export interface Surroundings {
  readonly store: Store;
  readonly clock: TimerClock;
  readonly ids: Ids;
  /** Feature gates that are on beside those that are on by default. */
  readonly features: ReadonlySet<string>;
}

/** How objects of a kind, or a subresource of them, are written (`rest.RESTCreateUpdateStrategy` of apiserver). */
export interface Strategy {
  readonly nameRule: NameRule['name'];
  /** As it is stored, with the defaults of its version. */
  readonly defaulted: (object: JsonObject) => JsonObject;
  /** A stored object as this version shows it. */
  readonly shown: (object: JsonObject) => JsonObject;
  /** What a client may not say of a new object is taken out, what the server says is put in. */
  readonly created: (object: JsonObject, surroundings: Surroundings) => JsonObject;
  readonly updated: (object: JsonObject, before: JsonObject, surroundings: Surroundings) => JsonObject;
  /** What is wrong with an object beside its metadata. */
  readonly createCauses: (object: JsonObject) => readonly Cause[];
  readonly updateCauses: (object: JsonObject, before: JsonObject) => readonly Cause[];
  /** What a client is warned of that makes an object. */
  readonly warnings: (object: JsonObject) => readonly string[];
  /** Whether an update is checked as a new object is, too. */
  readonly checksWhole: boolean;
  /** Whether a PUT makes what is not there. */
  readonly createsOnUpdate: boolean;
  /** Whether an update need not say which version it changes. */
  readonly updatesUnconditionally: boolean;
  /** Whether its objects are given time to end. */
  readonly isGraceful: boolean;
  /** What becomes first of an object that is to be deleted; undefined: it may go. */
  readonly marked: (object: JsonObject, now: number) => JsonObject | undefined;
  /** Whether the deletion of an object is answered with the object. */
  readonly answersDeleted: boolean;
  readonly fields: SelectableFields<JsonObject>;
  /** What is said of a field that nothing is selected by. */
  readonly unknownField: (field: string) => string;
}

const same = (object: JsonObject): JsonObject => object;

/** By what objects of all kinds are selected. */
const metadataFields: SelectableFields<JsonObject> = new Map([
  ['metadata.name', (object: JsonObject) => metadataOf(object).name ?? ''],
  ['metadata.namespace', (object: JsonObject) => metadataOf(object).namespace ?? ''],
]);

/** A kind without rules of its own. */
export const plainStrategy: Strategy = {
  nameRule: dnsSubdomain,
  defaulted: same,
  shown: same,
  created: same,
  updated: same,
  createCauses: () => [],
  updateCauses: () => [],
  warnings: () => [],
  checksWhole: true,
  createsOnUpdate: false,
  updatesUnconditionally: true,
  isGraceful: false,
  marked: () => undefined,
  answersDeleted: false,
  fields: metadataFields,
  unknownField: (field) =>
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

/** A kind with fields of its own to select by. */
export const selectedBy = (
  fields: readonly (readonly [field: string, read: (object: JsonObject) => string])[],
): Pick<Strategy, 'fields' | 'unknownField'> => ({
  fields: new Map([...metadataFields, ...fields]),
  unknownField: (field) => `field label not supported: ${field}`,
});

/** The version of an object; empty where it has none. */
export const versionOf = (object: JsonObject): string => metadataOf(object).resourceVersion ?? '';
