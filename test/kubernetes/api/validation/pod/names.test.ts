import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { aPod, problemsIn } from '../../../fixtures.ts';

const problemsOf = (spec: Partial<PodSpec>) => problemsIn(aPod(spec)).map(({ path, message }) => `${path}: ${message}`);
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const withUnderscore =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const names = (count: number, length: number) => Array.from({ length: count }, () => 'x'.repeat(length));

describe('C18, C19, C20: valid names', () => {
  test.each<[string, Partial<PodSpec>]>([
    ['a resolver of its own', { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1', 'fd00::1'] } }],
    ['domains to search', { dnsConfig: { searches: ['.', 'a.example.', '_tcp.example', 'x'.repeat(63)] } }],
    ['hosts', { hostAliases: [{ ip: '::1', hostnames: ['a', 'b.example'] }] }],
    ['a name of its own', { hostnameOverride: 'front.example.com' }],
  ])('%s', (_what, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });
});

test.each<[string, Partial<PodSpec>, string[]]>([
  [
    'C20: None without a server',
    { dnsPolicy: 'None', dnsConfig: {} },
    ['nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None'],
  ],
  [
    'C20: a server by its name',
    { dnsConfig: { nameservers: ['dns.example'] } },
    ['nameservers[0]: Invalid value: "dns.example": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'C20: four servers',
    { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
    ['nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers'],
  ],
  [
    'C20: a search that is no domain',
    { dnsConfig: { searches: ['a b'] } },
    [`searches[0]: Invalid value: "a b": ${withUnderscore}`],
  ],
  [
    'C20: an option without a name',
    { dnsConfig: { options: [{ value: '1' }] } },
    ['options[0]: Required value: must not be empty'],
  ],
])('%s', (_what, spec, problems) => {
  expect(problemsOf(spec)).toEqual(problems.map((problem) => `spec.dnsConfig.${problem}`));
});

test('C20: search domains are limited to what the C library supports', () => {
  const rule = (searches: string[]) =>
    problemsOf({ dnsConfig: { searches } }).map((problem) => problem.split(': ').at(-1));
  expect(rule(names(33, 3))).toEqual(['must not have more than 32 search paths']);
  expect(rule(names(32, 64))).toEqual([
    'must not have more than 2048 characters (including spaces) in the search list',
  ]);
});

test('C18: the address and the names of host aliases are validated', () => {
  expect(problemsOf({ hostAliases: [{ ip: 'host', hostnames: ['A'] }] })).toEqual([
    'spec.hostAliases[0].ip: Invalid value: "host": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ${subdomain}`,
  ]);
});

test('C19: a hostname override is limited to the length that the kernel supports, and excludes other hostname settings', () => {
  const hostnameOverride = 'a'.repeat(63);
  const at = 'spec.hostnameOverride: Forbidden: may not be specified when';
  expect(problemsOf({ hostnameOverride: `${hostnameOverride}.b` })).toEqual([
    'spec.hostnameOverride: Too long: may not be more than 64 bytes',
  ]);
  expect(problemsOf({ hostnameOverride, hostNetwork: true, setHostnameAsFQDN: true })).toEqual([
    `${at} setHostnameAsFQDN is true`,
    `${at} hostNetwork is true`,
  ]);
});

test.each([0, 2 ** 31])('an activeDeadlineSeconds of %d is rejected', (activeDeadlineSeconds) => {
  const message = `Invalid value: ${activeDeadlineSeconds}: must be between 1 and 2147483647, inclusive`;
  expect(problemsIn(aPod({ activeDeadlineSeconds }))).toEqual([{ path: 'spec.activeDeadlineSeconds', message }]);
});
