import { expect, test } from '@jest/globals';
import { alternativeNamesOf, coversNames } from '../../../kubernetes/node/alternativeNames.ts';

test('a certificate includes the names and addresses of the Node, sorted and without duplicates', () => {
  const addresses = [
    { type: 'InternalIP', address: '192.0.2.2' },
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'InternalIP', address: '2001:db8::1' },
    { type: 'Hostname', address: 'node-1' },
    { type: 'InternalDNS', address: 'node-1.internal' },
    { type: 'ExternalDNS', address: 'node-1' },
    { type: 'Hostname', address: '192.0.2.3' },
    { type: 'InternalIP', address: 'no address' },
    { type: 'InternalIP', address: '' },
    { type: 'Other', address: '192.0.2.9' },
  ];
  expect(alternativeNamesOf(addresses)).toEqual({
    dnsNames: ['node-1', 'node-1.internal'],
    ips: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1'],
  });
});

test('a certificate includes an address once, in canonical form', () => {
  const addresses = ['FD00:0:0:0:0:0:0:1', 'fd00::1', '::ffff:192.0.2.1'];
  const named = alternativeNamesOf(addresses.map((address) => ({ type: 'InternalIP', address })));
  expect(named).toEqual({ dnsNames: [], ips: ['192.0.2.1', 'fd00::1'] });
});

test('a certificate that formats an address differently is accepted', () => {
  const names = { dnsNames: [], ips: ['FD00:0:0:0:0:0:0:1', '192.0.2.1'] };
  expect(coversNames(names, { dnsNames: [], ips: ['fd00::1'] })).toBe(true);
  expect(coversNames({ dnsNames: [], ips: ['fd00::1'] }, names)).toBe(false);
  expect(coversNames(names, { dnsNames: [], ips: ['fd00::1', '::ffff:192.0.2.1'] })).toBe(true);
  expect(coversNames(names, { dnsNames: [], ips: ['fd00::2'] })).toBe(false);
});

test('a certificate covers a subset of its names', () => {
  const names = { dnsNames: ['a', 'b'], ips: ['192.0.2.1'] };
  expect(coversNames(names, { dnsNames: ['b'], ips: [] })).toBe(true);
  expect(coversNames(names, { dnsNames: ['c'], ips: [] })).toBe(false);
  expect(coversNames(names, { dnsNames: [], ips: ['192.0.2.2'] })).toBe(false);
});
