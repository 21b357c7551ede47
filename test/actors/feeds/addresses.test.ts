import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createReplay } from '../../../actors/replay/replay.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { SimulatedNetwork } from '../../../actors/simulated/simulatedNetwork.ts';
import { createResolvConfReader } from '../../../cri/config/resolvConf.ts';
import type * as wire from '../../../cri/generated/runtime.ts';
import { openGate } from '../../../host/simulated/gate.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

test('C20: the resolv.conf of the host is read for each pod, and while it is unreadable the pod waits with the reason', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-resolver-'));
  const file = join(directory, 'resolv.conf');
  const node = await simulatedNode({ pods: [podWith('a')], config: { readResolvConf: createResolvConfReader(file) } });
  await node.advance('5s');
  expect(node.pod('a').phase).toBe('Pending');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(node.agent.explain('a')?.pod).toMatchObject({
    waitingFor: 'another attempt to create its sandbox',
    lastFailure: {
      reason: 'FailedCreatePodSandBox',
      message: expect.stringMatching(/^Failed to create pod sandbox: ENOENT: .*resolv\.conf/),
    },
  });
  await writeFile(file, 'nameserver 192.0.2.53\n');
  await node.advance('10s');
  expect(node.pod('a').phase).toBe('Running');
  await writeFile(file, 'nameserver 192.0.2.54\n');
  node.apply(podWith('b'));
  await node.advance('5s');
  expect(node.pod('b').phase).toBe('Running');
  const servers = node
    .calls('runPodSandbox')
    .map(({ request }) => (request as wire.RunPodSandboxRequest).config?.dnsConfig?.servers);
  expect(servers).toEqual([['192.0.2.53'], ['192.0.2.54']]);
  await rm(directory, { recursive: true });
});

test('C27: new host addresses are reported for every pod, and used by containers created afterwards', async () => {
  let addresses = ['192.0.2.1'];
  const env = [{ name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }];
  const withHost = (name: string) => podWith(name, { containers: [containerWith('main', { env })] });
  const node = await simulatedNode({ pods: [withHost('a')], config: { hostIps: () => addresses } });
  await node.advance('5s');
  expect(node.pod('a')).toMatchObject({ phase: 'Running', hostIP: '192.0.2.1' });
  addresses = ['198.51.100.7'];
  await node.advance('10s');
  node.apply(withHost('b'));
  await node.advance('5s');
  expect(node.pod('a')).toMatchObject({ hostIP: '198.51.100.7', hostIPs: [{ ip: '198.51.100.7' }] });
  const received = node
    .calls('createContainer')
    .map(({ request }) => (request as wire.CreateContainerRequest).config?.envs)
    .map((envs) => String(envs?.find(({ key }) => key === 'HOST')?.value));
  expect(received).toEqual(['192.0.2.1', '198.51.100.7']);
});

/** Returns a pod that uses facts of the node in its variables, volume and probe, and one whose hook connects to the node. */
function podsWithNodeFacts() {
  const limit = (resource: string) => ({ resourceFieldRef: { containerName: 'main', resource } });
  const env = [
    { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    { name: 'CPUS', valueFrom: limit('limits.cpu') },
  ];
  const volumes = [{ name: 'info', downwardAPI: { items: [{ path: 'memory', ...limit('limits.memory') }] } }];
  const readinessProbe = { tcpSocket: { port: 9 } };
  const lifecycle = { postStart: { httpGet: { port: 9 } } };
  return [
    podWith('asks', { containers: [containerWith('main', { env, readinessProbe })], volumes, hostNetwork: true }),
    podWith('hooked', { containers: [containerWith('main', { lifecycle })], hostNetwork: true }),
  ];
}

test('C27: changed node facts reach containers, volumes, hooks and probes from then on', async () => {
  const capacity = { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 5 };
  const node = await simulatedNode({ config: { capacity } });
  await node.advance('5s');
  const allocatable = { ...capacity, cpuMillis: 7_000, memoryBytes: 4_096 };
  node.agent.send({ type: 'node.factsChanged', hostIps: ['127.0.0.9'], allocatable, at: node.clock.now() });
  node.apply(...podsWithNodeFacts());
  await node.advance('15s');
  const created = node.calls('createContainer').map(({ request }) => request as wire.CreateContainerRequest);
  const received = created.flatMap(({ config }) => config?.envs ?? []).map(({ key, value }) => `${key}=${value}`);
  expect(received).toEqual(['HOST=127.0.0.9', 'CPUS=7']);
  const info = node.path('root', 'pods', 'asks-uid', 'volumes', 'kubernetes.io~downward-api', 'info', 'memory');
  expect(await readFile(info, 'utf8')).toBe('4096');
  for (const name of ['asks', 'hooked']) {
    expect(JSON.stringify(node.agent.explain(name))).toContain('dial tcp 127.0.0.9:9: connect: connection refused');
  }
  node.remove('asks', 'hooked');
  await node.advance('60s');
});

test('reported capacity and conditions become facts of the node, and do so in a replay', async () => {
  const node = await simulatedNode();
  await node.advance('5s');
  const before = node.agent.facts();
  const capacity = { ...before.capacity, cpuMillis: 9_000 };
  const at = '2026-01-01T00:00:00Z';
  const pressure = { type: 'PIDPressure', status: 'True', reason: 'Told', message: '' } as const;
  const conditions = [{ ...pressure, lastHeartbeatTime: at, lastTransitionTime: at }];
  node.agent.send({ type: 'node.factsChanged', capacity, conditions, at: node.clock.now() });
  await node.advance('1s');
  expect(node.agent.facts()).toEqual({ ...before, capacity, conditions });
  expect(await replayed(node)).toMatchObject({ facts: node.agent.facts() });
});

/** Replays all inputs of the agent, and returns the result. */
async function replayed({ agent: live, entries }: SimulatedNode) {
  const { agent, playEntries } = createReplay(live.input, JSON.parse(JSON.stringify(entries)));
  expect(await playEntries()).toEqual([]);
  const shown = { pods: agent.pods(), facts: agent.facts() };
  agent.stop();
  return shown;
}

test('C27: new addresses reach the statuses of all pods and the podIPs of host-network pods, and do so in a replay', async () => {
  let addresses = ['192.0.2.1'];
  const pods = [podWith('own'), podWith('host', { hostNetwork: true })];
  const node = await simulatedNode({ pods, config: { hostIps: () => addresses } });
  await node.advance('5s');
  expect(node.pod('host')).toMatchObject({ hostIP: '192.0.2.1', podIP: '192.0.2.1' });
  addresses = ['198.51.100.7', '2001:db8::7'];
  await node.advance('11s');
  expect(node.pod('own')).toMatchObject({ hostIPs: [{ ip: '198.51.100.7' }, { ip: '2001:db8::7' }] });
  // The first address of a pod does not change, as with the kubelet. The address of the second family is new.
  expect(node.pod('host')).toMatchObject({
    hostIP: '198.51.100.7',
    podIPs: [{ ip: '192.0.2.1' }, { ip: '2001:db8::7' }],
  });
  expect(node.agent.facts().hostIps).toEqual(addresses);
  addresses = ['203.0.113.1'];
  expect(await replayed(node)).toEqual({ pods: node.agent.pods(), facts: node.agent.facts() });
});

test('C27: a primary IPv6 address of the node comes first in the status, the variables and the hosts file', async () => {
  const env = ['status.podIP', 'status.podIPs'].map((fieldPath) => ({
    name: fieldPath,
    valueFrom: { fieldRef: { fieldPath } },
  }));
  const readinessProbe = { tcpSocket: { port: 8 } };
  const lifecycle = { postStart: { httpGet: { port: 9 } } };
  const dialed = new Set<string>();
  const network = new SimulatedNetwork({
    clock: new SimulatedClock(),
    findServer: (host, port) => {
      dialed.add(`${host} ${port}`);
      return undefined;
    },
    gate: openGate,
  });
  const node = await simulatedNode({
    pods: [
      podWith('a', { containers: [containerWith('main', { env, readinessProbe })] }),
      podWith('hooked', { containers: [containerWith('main', { lifecycle })] }),
    ],
    config: { hostIps: ['FD01:0::1', '192.0.2.1'] },
    parts: { network },
    runtime: { additionalIps: (ip) => [`FD00:0:0:0:0:0:0:${ip.split('.').at(-1)}`] },
  });
  await node.advance('5s');
  const [, last = ''] = /^10\.88\.0\.(\d+)$/.exec(node.pod('a').podIPs?.[1]?.ip ?? '') ?? [];
  const ips = [`fd00::${last}`, `10.88.0.${last}`];
  expect(node.pod('a')).toMatchObject({ podIP: ips[0], podIPs: ips.map((ip) => ({ ip })), hostIP: 'fd01::1' });
  const created = node.calls('createContainer').map(({ request }) => request as wire.CreateContainerRequest);
  const received = created.flatMap(({ config }) => config?.envs ?? []).map(({ key, value }) => `${key}=${value}`);
  expect(received).toEqual([`status.podIP=${ips[0]}`, `status.podIPs=${ips.join()}`]);
  const hosts = await readFile(node.path('root', 'pods', 'a-uid', 'etc-hosts'), 'utf8');
  expect(hosts.split('\n').filter((line) => line.endsWith('\ta'))).toEqual(ips.map((ip) => `${ip}\ta`));
  expect([...dialed].sort()).toEqual([`${ips[0]} 8`, `${node.pod('hooked').podIP} 9`].sort());
  expect(node.pod('hooked').podIP).toMatch(/^fd00::/);
});

test('an address in a different notation is not a change', async () => {
  let address = 'fd00::1';
  const node = await simulatedNode({ config: { hostIps: () => [address] } });
  await node.advance('15s');
  address = 'FD00:0:0:0:0:0:0:1';
  await node.advance('60s');
  expect(node.entries.filter(({ source }) => source === 'addresses')).toEqual([]);
  expect(node.agent.facts().hostIps).toEqual(['fd00::1']);
});

test('unchanged addresses are reported once', async () => {
  let address = '192.0.2.1';
  const node = await simulatedNode({ config: { hostIps: () => [address] } });
  const reported = () => node.entries.filter(({ source }) => source === 'addresses').map(({ value }) => value);
  await node.advance('60s');
  expect(reported()).toEqual([]);
  address = '198.51.100.7';
  await node.advance('60s');
  expect(reported()).toEqual([expect.objectContaining({ type: 'node.factsChanged', hostIps: [address] })]);
});

test('C24: new node labels admit the next pod that selects them, and a rejected pod stays Failed', async () => {
  const there = (name: string) => podWith(name, { nodeSelector: { zone: 'b' } });
  const node = await simulatedNode({ pods: [there('early')], config: { admissionNode: { labels: { zone: 'a' } } } });
  await node.advance('5s');
  expect(node.pod('early')).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
  node.agent.send({ type: 'node.factsChanged', admissionNode: { labels: { zone: 'b' } }, at: node.clock.now() });
  node.apply(there('next'));
  await node.advance('15s');
  expect(node.pod('next').phase).toBe('Running');
  expect(node.pod('early').phase).toBe('Failed');
  expect(await replayed(node)).toEqual({ pods: node.agent.pods(), facts: node.agent.facts() });
});

test('C25: a deferred resize is admitted once the node has grown', async () => {
  const sized = (cpu: string) =>
    podWith('web', { containers: [containerWith('main', { resources: { requests: { cpu }, limits: { cpu } } })] });
  const capacity = { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 5 };
  const node = await simulatedNode({ pods: [sized('1')], config: { capacity } });
  await node.advance('5s');
  node.apply(sized('3'));
  await node.advance('5s');
  const pending = () => node.pod('web').conditions?.find(({ type }) => type === 'PodResizePending')?.reason;
  expect([pending(), node.container('web').allocatedResources]).toEqual(['Deferred', { cpu: '1' }]);
  node.agent.send({ type: 'node.factsChanged', allocatable: { ...capacity, cpuMillis: 4_000 }, at: node.clock.now() });
  await node.advance('5s');
  expect([pending(), node.container('web').allocatedResources]).toEqual([undefined, { cpu: '3' }]);
  expect(node.container('web').restartCount).toBe(0);
  expect(await replayed(node)).toEqual({ pods: node.agent.pods(), facts: node.agent.facts() });
});
