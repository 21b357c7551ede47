import { BlockList, isIP, SocketAddress } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  canonicalIp,
  ipFamily,
  isIpInSubnet,
  isLinkLocalIp,
  isLoopbackIp,
  isMulticastIp,
  isSameIp,
  isUnspecifiedIp,
  orderedPodIps,
} from '../../base/ipAddress.ts';

test.each([
  ['FD00:0:0:0:0:0:0:1', 'fd00::1'],
  ['fd00:0000::0001', 'fd00::1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
  ['::192.0.2.1', '::c000:201'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['0::0', '::'],
  ['1::', '1::'],
  ['192.000.002.010', '192.0.2.10'],
])('the address %s is formatted as %s', (text, canonical) => {
  expect(canonicalIp(text)).toBe(canonical);
  expect(isSameIp(text, canonical)).toBe(true);
});

test.each([
  '',
  'node',
  '192.0.2',
  '192.0.2.256',
  '192.0.2.1.1',
  '192.0.2.',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4::5:6:7:8',
  '1::2::3',
  ':::',
  '1:',
  ':1',
  '12345::',
  'fe80::1%eth0',
  '1.2.3.4::',
  '::1.2.3',
  '[::1]',
])('"%s" is rejected as an address', (text) => {
  expect(canonicalIp(text)).toBeUndefined();
  expect(ipFamily(text)).toBeUndefined();
});

/** Spellings of one IPv6 address: with or without leading zeros, in upper or lower case, with `::` for zeros. */
const spelling = fc.record({ pads: fc.boolean(), isUpper: fc.boolean(), isShort: fc.boolean() });
const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 });
const notMapped = (words: readonly number[]) => words.slice(0, 5).some((word) => word !== 0) || words[5] !== 0xffff;

test('treats every spelling of an IPv6 address as the same address, printed like the host does', () => {
  fc.assert(
    fc.property(groups.filter(notMapped), spelling, (words, { pads, isUpper, isShort }) => {
      const plain = words.map((word) => word.toString(16).padStart(pads ? 4 : 1, '0')).join(':');
      const cased = isUpper ? plain.toUpperCase() : plain;
      const text = isShort ? cased.replace(/(?:^|:)0+(?::0+)+(?=:|$)(?::|$)?/, '::') : cased;
      fc.pre(isIP(text) === 6);
      const { hostname } = new URL(`http://[${plain}]`);
      expect(`[${canonicalIp(text)}]`).toBe(hostname);
      expect(isSameIp(text, new SocketAddress({ address: plain, family: 'ipv6' }).address)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('matches subnets like the kernel', () => {
  const octets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(octets, octets, fc.integer({ min: 0, max: 32 }), (one, other, bits) => {
      const list = new BlockList();
      const network = [...one.slice(0, bits >> 3), ...other.slice(bits >> 3)].join('.');
      list.addSubnet(network, bits, 'ipv4');
      expect(isIpInSubnet(one.join('.'), `${network}/${bits}`)).toBe(list.check(one.join('.'), 'ipv4'));
    }),
  );
  fc.assert(
    fc.property(groups.filter(notMapped), groups, fc.integer({ min: 1, max: 128 }), (one, other, bits) => {
      const text = (words: readonly number[]) => words.map((word) => word.toString(16)).join(':');
      const network = text([...one.slice(0, bits >> 4), ...other.slice(bits >> 4)]);
      fc.pre(canonicalIp(network)?.includes(':') === true);
      const list = new BlockList();
      list.addSubnet(network, bits, 'ipv6');
      expect(isIpInSubnet(text(one), `${network}/${bits}`)).toBe(list.check(text(one), 'ipv6'));
    }),
  );
});

test.each(['192.0.2.1/24/1', '192.0.2.1', '192.0.2.1/', '192.0.2.1/33', '::/129', 'a/8', '192.0.2.0/-1'])(
  'the invalid subnet "%s" matches no address',
  (subnet) => {
    expect(isIpInSubnet('192.0.2.1', subnet)).toBe(false);
    expect(isIpInSubnet('2001:db8::1', subnet)).toBe(false);
  },
);

test('matches IPv4 addresses in an IPv4 subnet in IPv6 notation', () => {
  expect(isIpInSubnet('192.0.2.7', '::ffff:192.0.2.0/120')).toBe(true);
  expect(isIpInSubnet('192.0.3.7', '::ffff:192.0.2.0/120')).toBe(false);
});

describe('types of addresses', () => {
  const texts = ['127.0.0.1', '127.255.0.1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '128.0.0.1', '::2', 'localhost'];
  test('loopback', () => expect(texts.filter(isLoopbackIp)).toEqual(texts.slice(0, 4)));

  const groupsOf = ['224.0.0.1', '239.255.255.255', 'FF02::1', '240.0.0.1', 'ff::1', 'fe80::1'];
  test('multicast', () => expect(groupsOf.filter(isMulticastIp)).toEqual(groupsOf.slice(0, 3)));

  const links = ['169.254.1.1', 'FE80::1', 'febf::1', 'fe8::1', 'fec0::1', '169.255.0.1'];
  test('link-local', () => expect(links.filter(isLinkLocalIp)).toEqual(links.slice(0, 3)));

  const zeros = ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '::0.0.0.0', '0.0.0.1', '::1', '1::', '100::', '0', ''];
  test('unspecified', () => expect(zeros.filter(isUnspecifiedIp)).toEqual(zeros.slice(0, 4)));
});

test('C27: orders the addresses of a pod by the families of the node, with one of each', () => {
  const ips = ['10.0.0.5', '10.0.0.6', 'FD00:0::5', 'fd00::6'];
  expect(orderedPodIps(ips, ['192.0.2.1', 'fd01::1'])).toEqual(['10.0.0.5', 'fd00::5']);
  expect(orderedPodIps(ips, ['FD01:0::1', '192.0.2.1'])).toEqual(['fd00::5', '10.0.0.5']);
  expect(orderedPodIps(ips.toReversed(), [])).toEqual(['10.0.0.6', 'fd00::6']);
  expect(orderedPodIps(['10.0.0.5', 'none'], ['fd01::1'])).toEqual(['10.0.0.5']);
});
