import { expect, test } from '@jest/globals';
import { covers, namesOf } from '../../../kubernetes/node/alternativeNames.ts';

test('a node is asked by the names and addresses of its Node, each once and in order', () => {
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
  expect(namesOf(addresses)).toEqual({
    dnsNames: ['node-1', 'node-1.internal'],
    ips: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1'],
  });
});

test('an address of a Node is known by its canonical form, once', () => {
  const addresses = ['FD00:0:0:0:0:0:0:1', 'fd00::1', '::ffff:192.0.2.1'];
  const named = namesOf(addresses.map((address) => ({ type: 'InternalIP', address })));
  expect(named).toEqual({ dnsNames: [], ips: ['192.0.2.1', 'fd00::1'] });
});

test('a certificate covers an address that it writes differently', () => {
  const names = { dnsNames: [], ips: ['FD00:0:0:0:0:0:0:1', '192.0.2.1'] };
  expect(covers(names, { dnsNames: [], ips: ['fd00::1'] })).toBe(true);
  expect(covers({ dnsNames: [], ips: ['fd00::1'] }, names)).toBe(false);
  expect(covers(names, { dnsNames: [], ips: ['fd00::1', '::ffff:192.0.2.1'] })).toBe(true);
  expect(covers(names, { dnsNames: [], ips: ['fd00::2'] })).toBe(false);
});

test('names cover those that are among them', () => {
  const names = { dnsNames: ['a', 'b'], ips: ['192.0.2.1'] };
  expect(covers(names, { dnsNames: ['b'], ips: [] })).toBe(true);
  expect(covers(names, { dnsNames: ['c'], ips: [] })).toBe(false);
  expect(covers(names, { dnsNames: [], ips: ['192.0.2.2'] })).toBe(false);
});
