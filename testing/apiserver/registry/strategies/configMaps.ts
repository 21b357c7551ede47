/** Strategies of ConfigMaps and Secrets (`registry/core/{configmap,secret}` of kubernetes). */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { type ConfigKind, readConfig, validateConfig } from '../../../../kubernetes/objects/configObject.ts';
import { causeOf, forbidden } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';
import { immutableCauses, withFields } from './parts.ts';

/** Validates an object, except for its metadata, as in a manifest. Go's path of the whole object is `[]`. */
function configCauses(kind: ConfigKind, object: JsonObject): Cause[] {
  const read = readConfig(kind, object);
  const problems = 'problems' in read ? read.problems : validateConfig(read.config);
  return problems.map((problem) => causeOf(problem.path === '' ? { ...problem, path: '[]' } : problem));
}

/** An immutable object cannot change or become mutable. */
function immutableCausesOf(object: JsonObject, before: JsonObject, fields: readonly string[]): Cause[] {
  if (lookUp(before, 'immutable') !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  const changed = fields.filter((field) => !isJsonEqual(lookUp(object, field), lookUp(before, field)));
  return [
    ...(lookUp(object, 'immutable') === true ? [] : [forbidden('immutable', why)]),
    ...changed.map((field) => forbidden(field, why)),
  ];
}

export const configMapStrategy: Strategy = {
  ...plainStrategy,
  createCauses: (object) => configCauses('ConfigMap', object),
  updateCauses: (object, before) => [
    ...immutableCausesOf(object, before, ['data', 'binaryData']),
    ...configCauses('ConfigMap', object),
  ],
};

/** Moves `stringData` to `data`. It is never returned. */
function secretDefaulted(object: JsonObject): JsonObject {
  const texts = Object.entries(objectAt(object, 'stringData')).map(
    ([key, text]) => [key, Buffer.from(String(text)).toString('base64')] as const,
  );
  const data = { ...objectAt(object, 'data'), ...Object.fromEntries(texts) };
  return withFields(object, {
    ...(texts.length > 0 ? { data } : {}),
    stringData: undefined,
    type: textAt(object, 'type') || 'Opaque',
  });
}

export const secretStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([['type', (object) => textAt(object, 'type')]]),
  defaulted: secretDefaulted,
  createCauses: (object) => configCauses('Secret', object),
  updateCauses: (object, before) => [
    ...immutableCauses(object, before, ['type']),
    ...immutableCausesOf(object, before, ['data']),
    ...configCauses('Secret', object),
  ],
};
