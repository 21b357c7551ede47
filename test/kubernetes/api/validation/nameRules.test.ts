import { expect, test } from '@jest/globals';
import { dnsLabel, dnsSubdomain, labelKey, labelValue } from '../../../../kubernetes/api/validation/nameRules.ts';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test('validates subdomains', () => {
  expect(dnsSubdomain('a.b-c')).toEqual([]);
  expect(dnsSubdomain('Bad_Name')).toEqual([SUBDOMAIN]);
  expect(dnsSubdomain('x\ny')).toEqual([SUBDOMAIN]);
  expect(dnsSubdomain('x'.repeat(254))).toEqual(['must be no more than 253 characters']);
});

test('validates labels', () => {
  expect(dnsLabel('a-b')).toEqual([]);
  expect(dnsLabel('a.b')).toEqual(['must not contain dots']);
  expect(dnsLabel('x'.repeat(64))).toEqual(['must be no more than 63 characters']);
  expect(dnsLabel('C')[0]).toBe(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
      "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  );
});

test('validates label keys', () => {
  expect(['constructor', 'example.com/My_Name', '__proto__x'.slice(2)].flatMap(labelKey)).toEqual([]);
  expect(labelKey('l'.repeat(64))).toEqual(['name part must be no more than 63 bytes']);
  expect(labelKey('/x')).toEqual(['prefix part must be non-empty']);
  expect(labelKey('a/')[0]).toBe('name part must be non-empty');
  expect(labelKey('A/x')).toEqual([`prefix part ${SUBDOMAIN}`]);
  expect(labelKey('-x')[0]).toMatch(/^name part must consist of alphanumeric characters, '-', '_' or '\.', and must/);
  expect(labelKey('a/b/c')[0]).toMatch(/^a valid label key must consist of .* \(e\.g\. 'example\.com\/MyName'\)$/);
});

test('validates label values', () => {
  expect(['', 'a_b', '9'].flatMap(labelValue)).toEqual([]);
  expect(labelValue('v'.repeat(64))).toEqual(['must be no more than 63 bytes']);
  expect(labelValue('-')[0]).toMatch(/^a valid label must be an empty string or consist of alphanumeric characters/);
});
