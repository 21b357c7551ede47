import { expect, test } from '@jest/globals';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from '../../../../../kubernetes/api/validation/metadata/nameRules.ts';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

test('subdomains are validated', () => {
  expect(dnsSubdomainProblems('a.b-c')).toEqual([]);
  expect(dnsSubdomainProblems('Bad_Name')).toEqual([SUBDOMAIN]);
  expect(dnsSubdomainProblems('x\ny')).toEqual([SUBDOMAIN]);
  expect(dnsSubdomainProblems('x'.repeat(254))).toEqual(['must be no more than 253 characters']);
});

test('DNS labels are validated', () => {
  expect(dnsLabelProblems('a-b')).toEqual([]);
  expect(dnsLabelProblems('a.b')).toEqual(['must not contain dots']);
  expect(dnsLabelProblems('x'.repeat(64))).toEqual(['must be no more than 63 characters']);
  expect(dnsLabelProblems('C')[0]).toBe(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
      "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  );
});

test('label keys are validated', () => {
  expect(['constructor', 'example.com/My_Name', '__proto__x'.slice(2)].flatMap(labelKeyProblems)).toEqual([]);
  expect(labelKeyProblems('l'.repeat(64))).toEqual(['name part must be no more than 63 bytes']);
  expect(labelKeyProblems('/x')).toEqual(['prefix part must be non-empty']);
  expect(labelKeyProblems('a/')[0]).toBe('name part must be non-empty');
  expect(labelKeyProblems('A/x')).toEqual([`prefix part ${SUBDOMAIN}`]);
  expect(labelKeyProblems('-x')[0]).toMatch(
    /^name part must consist of alphanumeric characters, '-', '_' or '\.', and must/,
  );
  expect(labelKeyProblems('a/b/c')[0]).toMatch(
    /^a valid label key must consist of .* \(e\.g\. 'example\.com\/MyName'\)$/,
  );
});

test('label values are validated', () => {
  expect(['', 'a_b', '9'].flatMap(labelValueProblems)).toEqual([]);
  expect(labelValueProblems('v'.repeat(64))).toEqual(['must be no more than 63 bytes']);
  expect(labelValueProblems('-')[0]).toMatch(
    /^a valid label must be an empty string or consist of alphanumeric characters/,
  );
});
