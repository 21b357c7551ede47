import { expect, test } from '@jest/globals';
import {
  bits,
  booleanTrue,
  explicit,
  implicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  utcTime,
  utf8,
} from '../../../../testing/apiserver/serving/der.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const ofLength = (length: number) => hex(octets(Buffer.alloc(length))).replace(/(00)*$/, '');

test('a value starts with its tag and its length', () => {
  expect(hex(octets(Buffer.from([7, 8])))).toBe('04020708');
  expect(hex(utf8('né'))).toBe('0c036ec3a9');
  expect(hex(utcTime('491231235959Z'))).toMatch(/^170d3439/);
  expect(hex(booleanTrue())).toBe('0101ff');
});

test('a length of 128 or more is preceded by the number of its bytes', () => {
  expect([127, 128, 255].map(ofLength)).toEqual(['047f', '048180', '0481ff']);
  expect([256, 4_096].map((length) => hex(octets(Buffer.alloc(length))).slice(0, 8))).toEqual(['04820100', '04821000']);
});

test('a positive integer is never encoded as a negative one', () => {
  expect(hex(integer(Buffer.from([2])))).toBe('020102');
  expect(hex(integer(Buffer.from([0x80])))).toBe('02020080');
});

test('a component of an object ID that exceeds seven bits continues in the next byte', () => {
  expect(hex(objectId('2.5.29.17'))).toBe('0603551d11');
  expect(hex(objectId('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
});

test('values can be nested in sequences, sets and tagged types', () => {
  const one = integer(Buffer.from([1]));
  expect(hex(sequence(one, one))).toBe('3006020101020101');
  expect(hex(set(one))).toBe('3103020101');
  expect(hex(explicit(3, one))).toBe('a303020101');
  expect(hex(implicit(7, Buffer.from([127, 0, 0, 1])))).toBe('87047f000001');
});

test('a bit string states the number of unused bits in its last byte', () => {
  expect([hex(bits(Buffer.from([9]))), hex(bits(Buffer.from([6]), 1))]).toEqual(['03020009', '03020106']);
});
