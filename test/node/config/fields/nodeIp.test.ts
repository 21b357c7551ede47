import { expect, test } from '@jest/globals';
import { readFlags } from '../../../../node/config/flags.ts';
import { compileConfig } from '../../../../node/config/nodeConfig.ts';

const HOST = ['192.0.2.1', '2001:db8::1'];
const ROOTS = { rootDirectory: '/var/lib/x', podLogsDirectory: '/var/log/pods' };

function compiled(nodeIp?: string) {
  const flags = readFlags({ '--node-ip': nodeIp });
  const defaults = { hostname: 'node', addresses: HOST, ...ROOTS };
  const { nodeIps, followsHostAddresses, prefersIpv6 } = compileConfig({ flags, defaults });
  return { nodeIps, followsHostAddresses, prefersIpv6 };
}

const followed = { nodeIps: HOST, followsHostAddresses: true, prefersIpv6: false };

test.each([undefined, '', ' ', '0.0.0.0'])('C27: --node-ip %j uses the addresses of the host, IPv4 first', (nodeIp) => {
  expect(compiled(nodeIp)).toEqual(followed);
});

test.each(['::', '0:0:0:0:0:0:0:0', ' :: '])(
  'C27: --node-ip %j uses the addresses of the host, IPv6 first',
  (nodeIp) => {
    expect(compiled(nodeIp)).toEqual({ ...followed, nodeIps: HOST.toReversed(), prefersIpv6: true });
  },
);

test('a node IP is one address, or one of each family in the given order', () => {
  const told = { followsHostAddresses: false, prefersIpv6: false };
  expect(compiled(' 10.0.0.1')).toEqual({ ...told, nodeIps: ['10.0.0.1'] });
  expect(compiled('fd00::1, 10.0.0.1')).toEqual({ ...told, nodeIps: ['fd00::1', '10.0.0.1'] });
});

test.each(['0.0.0.0,::', '10.0.0.1,::', '10.0.0.1,10.0.0.2', '10.0.0.1,fd00::1,fd00::2', 'node', '10.0.0.1,'])(
  '--node-ip %j is rejected',
  (nodeIp) => {
    expect(() => compiled(nodeIp)).toThrow('--node-ip: expected an IP address');
  },
);

test('C27: an address is used in its canonical form, however the flag writes it', () => {
  expect(compiled('FD00:0:0:0:0:0:0:1,010.0.0.1').nodeIps).toEqual(['fd00::1', '10.0.0.1']);
  expect(() => compiled('10.0.0.1,::ffff:10.0.0.2')).toThrow('--node-ip: expected an IP address');
  expect(() => compiled('fe80::1%eth0')).toThrow('--node-ip: expected an IP address');
});
