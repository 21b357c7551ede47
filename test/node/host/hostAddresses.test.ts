import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from '@jest/globals';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import {
  defaultRouteAddresses,
  hostAddresses,
  nodeAddresses,
  nodeIpWarnings,
  trackHostAddresses,
} from '../../../node/host/hostAddresses.ts';

const info = (address: string, internal = false): NetworkInterfaceInfo => {
  const common = { address, netmask: '', mac: '', internal, cidr: null };
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' };
};

const routes = 'Iface\tDestination\tGateway\neth1\t00000000\t0100A8C0\neth0\t0000A8C0\t00000000\n';

test('the addresses of the interface with the default route come first, one of each family', () => {
  const interfaces = {
    lo: [info('127.0.0.1', true), info('::1', true)],
    eth0: [info('10.0.0.1'), info('fd00::1')],
    eth1: [info('fe80::5'), info('192.168.0.7'), info('192.168.0.8')],
  };
  expect(hostAddresses(interfaces, routes)).toEqual(['192.168.0.7', 'fd00::1']);
  expect(hostAddresses(interfaces, '')).toEqual(['10.0.0.1', 'fd00::1']);
});

test('a host without a network has its loopback address', () => {
  expect(hostAddresses({ lo: [info('127.0.0.1', true)] }, '')).toEqual(['127.0.0.1']);
});

test('changed addresses are noticed at the next check, and a host without a network retains its last addresses', () => {
  let now: string[] | undefined = ['10.0.0.1'];
  const addresses = trackHostAddresses(now, () => now && [...now]);
  expect(addresses()).toEqual(['10.0.0.1']);
  now = ['10.0.0.2'];
  expect(addresses()).toEqual(['10.0.0.2']);
  now = undefined;
  expect(addresses()).toEqual(['10.0.0.2']);
});

test('a pod bridge is never the outgoing interface, and without a default route the addresses are unknown', () => {
  const interfaces = { lo: [info('127.0.0.1', true)], cni0: [info('10.88.0.1')], statelet0: [info('10.88.3.1')] };
  expect(defaultRouteAddresses(interfaces, 'Iface\tDestination\tGateway\n')).toBeUndefined();
  expect(defaultRouteAddresses({ ...interfaces, eth1: [info('fe80::5')] }, routes)).toBeUndefined();
  expect(defaultRouteAddresses({ ...interfaces, eth1: [info('192.168.0.7')] }, routes)).toEqual(['192.168.0.7']);
  expect(hostAddresses({ ...interfaces, eth0: [info('192.168.0.7')] }, '')).toEqual(['192.168.0.7']);
});

test('C27: a node of a cluster has one address, unless two are configured', () => {
  const both = ['192.168.0.7', 'fd00::1'];
  const trackHost = () => () => both;
  // The settings of the cluster are not read.
  const cluster = {} as NonNullable<NodeConfig['cluster']>;
  const addressesOf = (config: Omit<Parameters<typeof nodeAddresses>[0], 'prefersIpv6'>, prefersIpv6 = false) => {
    const addresses = nodeAddresses({ ...config, prefersIpv6 }, { trackHost });
    return typeof addresses === 'function' ? addresses() : addresses;
  };
  expect(addressesOf({ nodeIps: both, followsHostAddresses: true, cluster })).toEqual(['192.168.0.7']);
  expect(addressesOf({ nodeIps: both, followsHostAddresses: false, cluster })).toEqual(both);
  expect(addressesOf({ nodeIps: both, followsHostAddresses: true })).toEqual(both);
  expect(addressesOf({ nodeIps: both, followsHostAddresses: true, cluster }, true)).toEqual(['fd00::1']);
  expect(addressesOf({ nodeIps: both, followsHostAddresses: true }, true)).toEqual(both.toReversed());
});

test('C33: a node of a cluster has the address that its name resolves to, if any', () => {
  let nodeNameAddress: string | undefined = '10.0.0.9';
  const cluster = {} as NonNullable<NodeConfig['cluster']>;
  const config = { nodeIps: ['192.168.0.7'], followsHostAddresses: true, prefersIpv6: false };
  const sources = { trackHost: () => () => ['192.168.0.7'], nameAddress: () => nodeNameAddress };
  const now = (more: object) =>
    [nodeAddresses({ ...config, ...more }, sources)].map((each) => each instanceof Function && each());
  expect(now({ cluster })).toEqual([['10.0.0.9']]);
  expect(now({})).toEqual([['192.168.0.7']]);
  nodeNameAddress = undefined;
  expect(now({ cluster })).toEqual([['192.168.0.7']]);
  expect(nodeAddresses({ ...config, followsHostAddresses: false, cluster }, sources)).toEqual(['192.168.0.7']);
});

test('an address that a kubelet would not report to its cluster causes a warning in the wording of the kubelet', () => {
  const has = { eth0: [info('192.168.0.7'), info('fd00::1')] };
  const warned = (...nodeIps: string[]) => nodeIpWarnings({ nodeIps, followsHostAddresses: false }, has);
  expect(warned('192.168.0.7', 'fd00:0::1')).toEqual([]);
  expect(warned('192.0.2.1')).toEqual([
    '--node-ip: node IP: "192.0.2.1" not found in the host\'s network interfaces; it is used anyway',
  ]);
  const kinds = [
    ['loopback', '127.0.0.1', '::1'],
    ['multicast', '224.0.0.1', '239.0.0.1', 'ff02::1'],
    ['link-local', '169.254.0.1', 'fe80::1'],
  ] as const;
  for (const [kind, ...addresses] of kinds) {
    for (const address of addresses) expect(warned(address)).toEqual([expect.stringContaining(kind)]);
  }
  expect(nodeIpWarnings({ nodeIps: ['192.0.2.1'], followsHostAddresses: true }, has)).toEqual([]);
});
