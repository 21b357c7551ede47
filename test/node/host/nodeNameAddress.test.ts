import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from '@jest/globals';
import { trackNodeNameAddress } from '../../../node/host/nodeNameAddress.ts';

const info = (address: string): NetworkInterfaceInfo => {
  const common = { address, netmask: '', mac: '', internal: false, cidr: null };
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 0 } : { ...common, family: 'IPv4' };
};
const interfaces = () => ({ eth0: [info('192.168.0.7'), info('fd00::7')], eth1: [info('10.0.0.7')] });
const named = (name: string, answer: readonly string[], prefersIpv6 = false) =>
  trackNodeNameAddress({ nodeName: name, prefersIpv6 }, { resolve: async () => answer, interfaces });
const turn = () => new Promise((done) => setImmediate(done));

test('C33: a node name that is an IP address is used as the address, whoever owns it', async () => {
  expect((await named('203.0.113.5', []))()).toBe('203.0.113.5');
});

test('C33: the first resolved address of the preferred family that belongs to the host is used', async () => {
  expect((await named('node-1', ['203.0.113.5', '127.0.1.1', 'fd00::7', '10.0.0.7', '192.168.0.7']))()).toBe(
    '10.0.0.7',
  );
  expect((await named('node-1', ['10.0.0.7', 'fd00:0::7'], true))()).toBe('fd00:0::7');
  expect((await named('node-1', ['fd00::7']))()).toBe('fd00::7');
  expect((await named('node-1', ['203.0.113.5', '127.0.1.1']))()).toBeUndefined();
});

test('C33: a name may resolve to a new address, which is retained while the resolver fails', async () => {
  let answer = async (): Promise<readonly string[]> => ['10.0.0.7'];
  const look = await trackNodeNameAddress(
    { nodeName: 'node-1', prefersIpv6: false },
    { resolve: () => answer(), interfaces },
  );
  const lookAgain = async () => {
    // The lookup returns the previous result and starts a new one.
    await turn();
    look();
    await turn();
    return look();
  };
  answer = async () => ['192.168.0.7'];
  expect(await lookAgain()).toBe('192.168.0.7');
  answer = async () => {
    throw Object.assign(new Error('getaddrinfo EAI_AGAIN node-1'), { code: 'EAI_AGAIN' });
  };
  expect(await lookAgain()).toBe('192.168.0.7');
  answer = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND node-1'), { code: 'ENOTFOUND' });
  };
  expect(await lookAgain()).toBeUndefined();
});

test('C33: a hanging resolver is queried once at a time, and delays the node by two seconds', async () => {
  let asked = 0;
  const resolve = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  const begun = performance.now();
  const look = await trackNodeNameAddress({ nodeName: 'node-1', prefersIpv6: false }, { resolve, interfaces });
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect([look(), look()]).toEqual([undefined, undefined]);
  expect(asked).toBe(1);
});
