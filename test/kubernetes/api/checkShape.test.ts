import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { checkShape } from '../../../kubernetes/api/checkShape.ts';

const circular: object = {};
Object.assign(circular, { self: circular });

const schema = z.strictObject({
  ms: z.optional(z.number()),
  name: z.optional(z.string().check(z.minLength(1))),
  list: z.optional(z.array(z.string()).check(z.minLength(1))),
  own: z.optional(z.custom<unknown>(() => false, { error: 'expected something else' })),
});

test.each([
  ['ms: expected number, got NaN', { ms: Number.NaN }],
  ['ms: expected number, got bigint', { ms: 5n }],
  ['name: expected it not to be empty', { name: '' }],
  ['list: expected it not to be empty', { list: [] }],
  ['name: expected string, got Infinity', { name: Number.POSITIVE_INFINITY }],
  ['list[0]: expected string, got number', { list: [5] }],
  ['own: Invalid value: 5: expected something else', { own: 5n }],
  ['own: Invalid value: object: expected something else', { own: circular }],
  ['own: Invalid value: function: expected something else', { own: () => {} }],
  ['more: unknown field', { more: 5 }],
  ['mo^[re: unknown field', { 'mo\x1bre': 5 }],
  ['all of it: expected object, got null', null],
])('a problem is reported: %s', (message, value) => {
  expect(() => checkShape(schema, value, 'taker', 'all of it')).toThrow(new TypeError(`taker: ${message}`));
});

test('a valid value is accepted', () => {
  expect(() => checkShape(schema, { ms: 5, name: 'x', list: ['y'] }, 'taker')).not.toThrow();
});
