import { expect, test } from '@jest/globals';
import { describeContents, parsePemBlocks } from '../../kubeclient/pemBlocks.ts';
import { cpuTimeOf } from '../support/cpuTime.ts';

const block = (label: string, body = 'MA==') => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
const labels = (text: string) => parsePemBlocks(text).map(({ label }) => label);

test('finds the blocks between any other text, with any line endings', () => {
  const text = `Subject: /CN=a\n${block('CERTIFICATE')}\n# the key\n${block('EC PRIVATE KEY')}`;
  expect(labels(text)).toEqual(['CERTIFICATE', 'EC PRIVATE KEY']);
  expect(parsePemBlocks(text.replaceAll('\n', '\r\n'))).toEqual(parsePemBlocks(text));
  expect(parsePemBlocks(text.trimEnd())[1]?.pem).toBe(block('EC PRIVATE KEY'));
});

test('ignores a block without a matching end', () => {
  expect(labels(`-----BEGIN CERTIFICATE-----\nMA==\n${block('PRIVATE KEY')}`)).toEqual(['PRIVATE KEY']);
  expect(labels('-----BEGIN CERTIFICATE-----\nMA==\n-----END PRIVATE KEY-----\n')).toEqual([]);
});

test('parses a text of many BEGIN lines quickly', () => {
  const text = '-----BEGIN A-----\n'.repeat(60_000);
  expect(cpuTimeOf(() => expect(parsePemBlocks(text)).toEqual([]))).toBeLessThan(2_000);
});

test.each([
  ['', 'nothing'],
  ['\r\n \n', 'nothing'],
  ['SECRET', 'text without a PEM block'],
  [Buffer.from([0x30, 0x82, 1, 0x0a]).toString(), 'binary data (DER has to be converted to PEM)'],
  ['\0\0\0', 'binary data (DER has to be converted to PEM)'],
  ['-----BEGIN PRIVATE KEY-----\nSECRET', 'a PEM block that is cut off'],
  [block('CERTIFICATE', 'SECRET') + block('PRIVATE KEY', 'SECRET'), 'PEM of CERTIFICATE, PRIVATE KEY'],
  [block('\x1b[2JSECRET'), 'PEM of an odd label'],
])('the type of a text is described without its content: %j', (text, kind) => {
  expect(describeContents(text)).toBe(kind);
});
