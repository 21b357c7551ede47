import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { decodeValue } from '../../../../kubernetes/api/decode/decodeValue.ts';
import type { GoType } from '../../../../kubernetes/api/decode/goType.ts';
import { goTypeOf } from '../../../../kubernetes/api/decode/schemaType.ts';
import { intOrStringSchema, quantitySchema, timeSchema } from '../../../../kubernetes/api/schema/scalars.ts';

const schema = z.strictObject({
  kind: z.literal('Example'),
  name: z.string(),
  isOn: z.exactOptional(z.boolean()),
  port: z.exactOptional(intOrStringSchema),
  count: z.exactOptional(z.int32()),
  size: z.exactOptional(z.int()),
  amounts: z.exactOptional(z.record(z.string(), quantitySchema)),
  at: z.exactOptional(timeSchema),
  parts: z.exactOptional(z.array(z.strictObject({ weight: z.int32(), tags: z.exactOptional(z.array(z.string())) }))),
  inner: z.strictObject({ mode: z.int32(), labels: z.record(z.string(), z.string()), list: z.array(z.string()) }),
  extra: z.exactOptional(z.unknown()),
});

const decode = (value: object, options?: { retainsUnknownFields: boolean }) =>
  decodeValue({ kind: 'Example', ...value }, goTypeOf(schema), options);

const EMPTY = { kind: 'Example', name: '', inner: { mode: 0, labels: {}, list: [] } };

describe('Go zero values', () => {
  test('replace missing and null required fields, and optional fields that are null are removed', () => {
    expect(decode({}).value).toEqual(EMPTY);
    expect(decode({ name: null, isOn: null, inner: null, extra: null }).value).toEqual(EMPTY);
  });

  test('replace null entries of lists and maps', () => {
    const given = { parts: [null, { weight: null, tags: [null] }], amounts: { a: null } };
    expect(decode(given)).toMatchObject({
      value: { parts: [{ weight: 0 }, { weight: 0, tags: [''] }], amounts: { a: '0' } },
      mismatches: [],
    });
  });

  test('do not exist for a field with few supported values', () => {
    for (const kind of [null, undefined])
      expect(decode({ kind }).mismatches).toMatchObject([{ path: ['kind'], value: undefined, reason: 'missing' }]);
    for (const kind of ['Other', 7])
      expect(decode({ kind }).mismatches).toMatchObject([{ path: ['kind'], reason: 'unsupported' }]);
  });
});

test.each<[string, unknown, string]>([
  ['name', 7, 'kind'],
  ['isOn', 'true', 'kind'],
  ['port', true, 'kind'],
  ['port', 1.5, 'fraction'],
  ['port', 2 ** 31, 'range'],
  ['count', '1', 'kind'],
  ['count', 0.5, 'fraction'],
  ['count', 2 ** 31, 'range'],
  ['count', -(2 ** 31) - 1, 'range'],
  ['size', 2 ** 53, 'range'],
  ['size', 2n ** 62n, 'range'],
  ['at', 7, 'kind'],
  ['at', '2026-02-30T00:00:00Z', 'format'],
  ['parts', {}, 'kind'],
  ['inner', [], 'kind'],
  ['amounts', [], 'kind'],
])('a field %s of %p is a mismatch of the %s', (name, value, reason) => {
  const decoded = decode({ [name]: value });
  expect(decoded.mismatches).toMatchObject([{ path: [name], value, reason }]);
  // A schema can report the value itself.
  expect(decoded.value).toHaveProperty(name, value);
});

test('a mismatch in an entry has the path of the entry', () => {
  const { mismatches } = decode({ parts: [{ weight: 1, tags: ['a', 7] }], amounts: { 'a.b': 'lots' } });
  expect(mismatches.map(({ path }) => path)).toEqual([
    ['parts', 0, 'tags', 1],
    ['amounts', 'a.b'],
  ]);
});

test.each([
  [' 1Gi ', '1Gi'],
  [1.5, '1.5'],
  [2n ** 60n, '1152921504606846976'],
])('the quantity %p is read as %s', (quantity, text) => {
  expect(decode({ amounts: { a: quantity } }).value).toMatchObject({ amounts: { a: text } });
});

test('unknown fields are reported with their owner, and removed unless a schema should report them', () => {
  const part = { weight: 1, wieght: 2 };
  const decoded = decode({ parts: [part], constructor: 1 });
  expect(decoded.unknownFields).toMatchObject([
    { path: ['parts', 0], name: 'wieght', owner: part, struct: { fields: ['weight', 'tags'] } },
    { path: [], name: 'constructor' },
  ]);
  expect(decoded.value).toEqual({ ...EMPTY, parts: [{ weight: 1 }] });
  expect(decode({ parts: [part] }, { retainsUnknownFields: true }).value).toEqual({ ...EMPTY, parts: [part] });
});

test('a map may have a key __proto__', () => {
  const amounts: unknown = JSON.parse('{"__proto__": "1"}');
  expect(JSON.stringify(decode({ amounts }).value)).toContain('"amounts":{"__proto__":"1"}');
});

test.each<[GoType, unknown, unknown]>([
  [{ kind: 'bytes' }, null, ''],
  [{ kind: 'time' }, null, null],
  [{ kind: 'any' }, { a: [null] }, { a: [null] }],
  [{ kind: 'list', items: { kind: 'map', values: { kind: 'boolean' } } }, [null, { a: null }], [{}, { a: false }]],
])('a value of type %j', (type, value, expected) => {
  expect(decodeValue(value, type)).toEqual({ value: expected, mismatches: [], unknownFields: [] });
});
