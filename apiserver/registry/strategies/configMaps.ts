/** How config maps and secrets are written (`registry/core/{configmap,secret}` of kubernetes). */

import { configKey } from '../../../pod/api/validation/nameRules.ts';
import { lookUp } from '../../../pod/lookUp.ts';
import { sameValue } from '../../../pod/sameValue.ts';
import { forbidden, invalidValue, required, tooLong } from '../../causes.ts';
import type { Cause } from '../../failures.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { plainStrategy, type Strategy, selectedBy } from '../strategy.ts';
import { immutableCauses, withFields } from './parts.ts';

const MOST_BYTES = 1024 * 1024;

const keyCauses = (object: JsonObject, field: string): Cause[] =>
  Object.keys(objectAt(object, field)).flatMap((key) =>
    configKey(key).map((why) => invalidValue(`${field}[${key}]`, key, why)),
  );

function configMapCauses(object: JsonObject): Cause[] {
  const [data, binary] = [objectAt(object, 'data'), objectAt(object, 'binaryData')];
  const twice = Object.keys(data).filter((key) => lookUp(binary, key) !== undefined);
  const bytes = [...Object.values(data), ...Object.values(binary)].map(String).join('');
  return [
    ...keyCauses(object, 'data'),
    ...twice.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...keyCauses(object, 'binaryData'),
    ...(Buffer.byteLength(bytes) > MOST_BYTES ? [tooLong('[]', MOST_BYTES)] : []),
  ];
}

/** What is immutable stays so, and stays as it is. */
function sealedCauses(object: JsonObject, before: JsonObject, fields: readonly string[]): Cause[] {
  if (lookUp(before, 'immutable') !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  const changed = fields.filter((field) => !sameValue(lookUp(object, field), lookUp(before, field)));
  return [
    ...(lookUp(object, 'immutable') === true ? [] : [forbidden('immutable', why)]),
    ...changed.map((field) => forbidden(field, why)),
  ];
}

export const configMapStrategy: Strategy = {
  ...plainStrategy,
  createCauses: configMapCauses,
  updateCauses: (object, before) => [
    ...sealedCauses(object, before, ['data', 'binaryData']),
    ...configMapCauses(object),
  ],
};

/** What a secret of a type has to hold. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

function secretCauses(object: JsonObject): Cause[] {
  const data = objectAt(object, 'data');
  const bytes = Object.values(data).reduce<number>((sum, each) => sum + Buffer.from(String(each), 'base64').length, 0);
  const missing = (KEYS.get(textAt(object, 'type')) ?? []).filter((key) => lookUp(data, key) === undefined);
  return [
    ...keyCauses(object, 'data'),
    ...(bytes > MOST_BYTES ? [tooLong('data', MOST_BYTES)] : []),
    ...missing.map((key) => required(`data[${key}]`)),
  ];
}

/** Texts are stored as data, and are never shown. */
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
  ...selectedBy([['type', (object) => textAt(object, 'type')]]),
  defaulted: secretDefaulted,
  createCauses: secretCauses,
  updateCauses: (object, before) => [
    ...immutableCauses(object, before, ['type']),
    ...sealedCauses(object, before, ['data']),
    ...secretCauses(object),
  ],
};
