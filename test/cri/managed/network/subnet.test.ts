import { expect, test } from '@jest/globals';
import { blocksOverlap, generateSubnets, parseRoutes, parseSubnet } from '../../../../cri/managed/network/subnet.ts';

const table = [
  'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
  'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
  'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
  'tun0\t0000000A\t00000000\t0001\t0\t0\t0\t000080FF\t0\t0\t0',
  '',
].join('\n');

test('parses the routes of a host without the default route', () => {
  expect(parseRoutes(table)).toEqual([parseSubnet('192.0.2.0/24'), parseSubnet('10.0.0.0/9')]);
});

test('two blocks overlap if one contains the other', () => {
  expect(blocksOverlap(parseSubnet('10.1.2.0/24'), parseSubnet('10.0.0.0/8'))).toBe(true);
  expect(blocksOverlap(parseSubnet('10.1.2.0/24'), parseSubnet('10.1.2.7/32'))).toBe(true);
  expect(blocksOverlap(parseSubnet('10.1.2.0/24'), parseSubnet('10.1.3.0/24'))).toBe(false);
});

test('candidate subnets avoid the routes and start at a different position for each directory', () => {
  const candidates = [...generateSubnets('/var/lib/one', parseRoutes(table))];
  expect(candidates).toHaveLength(128 * 256);
  expect(new Set(candidates).size).toBe(candidates.length);
  for (const subnet of candidates) expect(Number(subnet.split('.')[1])).toBeGreaterThanOrEqual(128);
  expect(generateSubnets('/var/lib/two', []).next().value).not.toBe(generateSubnets('/var/lib/one', []).next().value);
});

test('a host whose routes cover 10.0.0.0/8 has no candidate', () => {
  expect([...generateSubnets('/var/lib/one', [parseSubnet('10.0.0.0/8')])]).toEqual([]);
});
