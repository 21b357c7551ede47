import { expect, test } from '@jest/globals';
import { parseMountPointsBelow } from '../../../../cri/managed/mounts.ts';
import { formatRuleRemoval } from '../../../../cri/managed/network/network.ts';

const comment = (network: string, id: string) => `-m comment --comment "name: \\"${network}\\" id: \\"${id}\\""`;
const dnat = (network: string, chain: string) =>
  `-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"${network}\\" id: \\"c1\\"" -j ${chain}`;

const common = [
  ':CNI-HOSTPORT-DNAT - [0:0]',
  ':CNI-HOSTPORT-MASQ - [0:0]',
  '-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
  '-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
  '-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE',
];
const ours = [
  ':CNI-aaa - [0:0]',
  ':CNI-DN-aaa - [0:0]',
  `-A POSTROUTING -s 10.1.2.3/32 ${comment('statelet-1', 'c1')} -j CNI-aaa`,
  `-A CNI-aaa -d 10.1.2.0/24 ${comment('statelet-1', 'c1')} -j ACCEPT`,
  `-A CNI-aaa ! -d 224.0.0.0/4 ${comment('statelet-1', 'c1')} -j MASQUERADE`,
  dnat('statelet-1', 'CNI-DN-aaa'),
  '-A CNI-DN-aaa -s 10.1.2.0/24 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK',
];
const saved = (...lines: string[]) => ['*nat', ':POSTROUTING ACCEPT [0:0]', ...lines, 'COMMIT'].join('\n');

test('removing a network without rules removes none, and removing the last network removes the shared chains', () => {
  expect(formatRuleRemoval(saved(), 'statelet-1')).toBeUndefined();
  const removal = formatRuleRemoval(saved(...common), 'statelet-1');
  expect(removal).toContain('-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT\n');
  expect(removal).toContain('-X CNI-HOSTPORT-DNAT\n');
});

test('removes the masquerade rule even if there is nothing else', () => {
  const rule = (network: string) =>
    `-A POSTROUTING -s 10.1.2.0/24 ! -d 10.1.2.0/24 -m comment --comment "name: \\"${network}\\"" -j MASQUERADE`;
  const removal = formatRuleRemoval(saved(rule('statelet-1'), rule('statelet-2')), 'statelet-1');
  expect(removal).toBe(`*nat\n${rule('statelet-1').replace('-A', '-D')}\nCOMMIT\n`);
});

test('removes its own chains with the jumps to them, and unused shared chains', () => {
  const removal = formatRuleRemoval(saved(...common, ...ours), 'statelet-1')?.split('\n');
  expect(removal).toEqual([
    '*nat',
    `-D POSTROUTING -s 10.1.2.3/32 ${comment('statelet-1', 'c1')} -j CNI-aaa`,
    dnat('statelet-1', 'CNI-DN-aaa').replace('-A', '-D'),
    '-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
    '-D POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
    // CNI-HOSTPORT-DNAT itself is not flushed. If somebody else has added a rule to it meanwhile, deleting the chain
    // fails, and with it the whole restore.
    ...['CNI-aaa', 'CNI-DN-aaa', 'CNI-HOSTPORT-MASQ'].map((name) => `-F ${name}`),
    ...['CNI-aaa', 'CNI-DN-aaa', 'CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-MASQ'].map((name) => `-X ${name}`),
    'COMMIT',
    '',
  ]);
});

test('preserves the rules of other networks, and the shared chains while they have a host port', () => {
  const others = [
    ':CNI-bbb - [0:0]',
    `-A POSTROUTING -s 10.9.9.9/32 ${comment('statelet-2', 'c2')} -j CNI-bbb`,
    dnat('statelet-2', 'CNI-DN-bbb'),
  ];
  const removal = formatRuleRemoval(saved(...common, ...ours, ...others), 'statelet-1');
  expect(removal).toContain('-X CNI-aaa\n');
  expect(removal).not.toContain('bbb');
  expect(removal).not.toContain('-X CNI-HOSTPORT');
  expect(removal).not.toContain('-D PREROUTING');
});

test('lists mounts below a directory, the latest first, without those of a sibling directory', () => {
  const line = (point: string) => `42 27 0:39 / ${point} rw - tmpfs shm rw`;
  const table = [line('/run/a'), line('/run/a/one'), line('/run/a/one/t\\040wo'), line('/run/ab/three'), ''].join('\n');
  expect(parseMountPointsBelow('/run/a', table)).toEqual(['/run/a/one/t wo', '/run/a/one']);
});
