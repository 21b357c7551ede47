/**
 * JSON patches (RFC 6902) as the kube-apiserver applies them (evanphx/json-patch). Replacing a missing field adds it,
 * and negative indexes count from the end.
 */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { kindOf } from '../decode/decodeError.ts';
import { isList, isObject, type Json, type JsonList, objectOf } from '../json.ts';
import { PatchError } from './patchError.ts';

/** The kube-apiserver's message for every patch that cannot be applied. */
const REJECTED = 'the server rejected our request due to an error in our request';
const MAX_OPERATIONS = 10_000;

const rejected = (): PatchError => new PatchError(REJECTED, 422);

/** Returns the value with all operations applied. Throws a `PatchError` if one of them cannot be applied. */
export function jsonPatch(value: Json, patch: Json): Json {
  if (!isList(patch)) {
    const message = `json: cannot unmarshal ${kindOf(patch)} into Go value of type []handlers.jsonPatchOp`;
    throw new PatchError(`error decoding patch: ${message}`, 400);
  }
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new PatchError(message, 413);
  }
  return patch.reduce(applyOperation, value);
}

function applyOperation(value: Json, operation: Json): Json {
  const text = (name: string): string => {
    const found = isObject(operation) ? lookUp(operation, name) : undefined;
    if (typeof found !== 'string') throw rejected();
    return found;
  };
  const operand = (isObject(operation) ? lookUp(operation, 'value') : undefined) ?? null;
  const to = tokensOf(text('path'));
  switch (text('op')) {
    case 'add':
      return changeAt(value, to, (within, key) => addAt(within, key, operand));
    case 'replace':
      return changeAt(value, to, (within, key) => replaceAt(within, key, operand));
    case 'remove':
      return changeAt(value, to, removeAt);
    case 'test':
      return testAt(value, to, operand);
    case 'copy': {
      const copy = valueAt(value, tokensOf(text('from')));
      return changeAt(value, to, (within, key) => addAt(within, key, copy));
    }
    case 'move': {
      const from = tokensOf(text('from'));
      const moving = valueAt(value, from);
      return changeAt(changeAt(value, from, removeAt), to, (within, key) => addAt(within, key, moving));
    }
    default:
      throw rejected();
  }
}

/** Splits a JSON pointer. A pointer to the whole document is rejected. */
function tokensOf(pointer: string): readonly string[] {
  const [start, ...tokens] = pointer.split('/');
  if (start !== '' || tokens.length === 0) throw rejected();
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Applies a change to the innermost container of a path. */
function changeAt(value: Json, [key, ...rest]: readonly string[], change: (within: Json, key: string) => Json): Json {
  if (key === undefined) throw rejected();
  if (rest.length === 0) return change(value, key);
  return replaceAt(value, key, changeAt(valueAt(value, [key]), rest, change));
}

function valueAt(value: Json, tokens: readonly string[]): Json {
  let at: Json | undefined = value;
  for (const token of tokens) {
    if (isList(at)) at = at[indexIn(at, token, at.length - 1)];
    else at = isObject(at) ? lookUp(at, token) : undefined;
    if (at === undefined) throw rejected();
  }
  return at;
}

function addAt(within: Json, key: string, value: Json): Json {
  if (!isList(within)) return replaceAt(within, key, value);
  return within.toSpliced(key === '-' ? within.length : indexIn(within, key, within.length), 0, value);
}

function replaceAt(within: Json, key: string, value: Json): Json {
  if (isList(within)) return within.with(indexIn(within, key, within.length - 1), value);
  if (!isObject(within)) throw rejected();
  return objectOf([...Object.entries(within).filter(([name]) => name !== key), [key, value]]);
}

function removeAt(within: Json, key: string): Json {
  if (isList(within)) return within.toSpliced(indexIn(within, key, within.length - 1), 1);
  if (!isObject(within) || !Object.hasOwn(within, key)) throw rejected();
  return objectOf(Object.entries(within).filter(([name]) => name !== key));
}

/** A missing field equals null. */
function testAt(value: Json, tokens: readonly string[], expected: Json): Json {
  const [last = ''] = tokens.slice(-1);
  const within = valueAt(value, tokens.slice(0, -1));
  const found = isObject(within) ? (lookUp(within, last) ?? null) : valueAt(within, [last]);
  if (!isJsonEqual(found, expected)) throw rejected();
  return value;
}

function indexIn(list: JsonList, token: string, most: number): number {
  const index = /^-?\d+$/.test(token) ? Number(token) : Number.NaN;
  const counted = index < 0 ? index + list.length : index;
  if (!(counted >= 0 && counted <= most)) throw rejected();
  return counted;
}
