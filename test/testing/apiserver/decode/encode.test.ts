import { expect, test } from '@jest/globals';
import { decode } from '../../../../testing/apiserver/decode/decode.ts';
import { type Json, objectAt } from '../../../../testing/apiserver/json.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();

/** Returns a value as the server stores it in a field. */
function stored(typeName: string, path: readonly string[], value: Json): Json | undefined {
  const wrapped = path.toReversed().reduce<Json>((inner, name) => ({ [name]: inner }), value);
  const { object } = decode({ ...Object(wrapped) }, types.named(typeName));
  const owner = path.slice(0, -1).reduce(objectAt, object);
  return owner[path.at(-1) ?? ''];
}

const quantity = (value: Json) => stored('io.k8s.api.core.v1.PodSpec', ['overhead', 'cpu'], value);
const time = (value: Json) => stored('io.k8s.api.core.v1.Pod', ['metadata', 'creationTimestamp'], value);
const microTime = (value: Json) => stored('io.k8s.api.coordination.v1.Lease', ['spec', 'renewTime'], value);
const bytes = (value: Json) => stored('io.k8s.api.core.v1.Secret', ['data', 'key'], value);

test.each<[Json, string]>([
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['1000', '1k'],
  ['1024', '1024'],
  ['100Ki', '100Ki'],
  ['0.5Ki', '512'],
  ['0.1Ki', '102400m'],
  ['1e3', '1e3'],
  ['-2', '-2'],
  ['0Mi', '0'],
  [2, '2'],
  [null, '0'],
  [' 1 ', '1'],
  ['1500e-3', '1500e-3'],
  ['1n', '1n'],
  // A binary quantity below 1024 is serialized with a decimal suffix.
  ['0.9765625Ki', '1k'],
])('the quantity %j is serialized as %s', (given, expected) => expect(quantity(given)).toBe(expected));

test.each<Json>(['lots', '', true, [1], {}, '1 Gi'])('%j is not a valid quantity', (given) => {
  expect(() => quantity(given)).toThrow('quantities must match the regular expression');
});

test('a time is accepted in the same formats as in a manifest', () => {
  expect(time('2026-01-02T03:04:05,123Z')).toBe('2026-01-02T03:04:05Z');
  expect(microTime('2026-01-02T03:04:05,123000Z')).toBe('2026-01-02T03:04:05.123000Z');
  expect(() => time('2026-02-30T03:04:05Z')).toThrow('parsing time "2026-02-30T03:04:05Z": day out of range');
});

test('a time is converted to UTC in seconds or microseconds', () => {
  expect(time('2026-01-02T03:04:05.678+01:00')).toBe('2026-01-02T02:04:05Z');
  expect(microTime('2026-01-02T03:04:05.123456+01:00')).toBe('2026-01-02T02:04:05.123456Z');
  for (const given of ['yesterday', '2026-13-02T03:04:05Z', '', '2026-01-02'])
    expect(() => time(given)).toThrow(
      `parsing time "${given}" as "2006-01-02T15:04:05Z07:00": cannot parse "${given}" as "2006"`,
    );
  expect(() => time(7)).toThrow(
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  );
});

test.each([
  ['2026-01-02T03:04:05Z', 'cannot parse "Z" as ".000000"'],
  ['2026-01-02T03:04:05.123Z', 'cannot parse ".123Z" as ".000000"'],
  ['2026-01-02T03:04:05.123456789Z', 'cannot parse "789Z" as "Z07:00"'],
])('the time %s with microseconds is rejected, because Go expects six digits', (given, message) => {
  expect(() => microTime(given)).toThrow(`parsing time "${given}" as "2006-01-02T15:04:05.000000Z07:00": ${message}`);
});

test('bytes are stored without line breaks, and malformed ones are rejected', () => {
  expect(bytes('aG\nk=')).toBe('aGk=');
  expect(() => bytes('aGk')).toThrow('illegal base64 data at input byte 3');
});
