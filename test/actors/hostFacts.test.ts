import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type * as wire from '../../cri/generated/runtime.ts';
import { readResolvConf } from '../../cri/resolvConf.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

test('C20: the host’s resolv.conf is read for each pod; while it cannot be, the pod waits and says why', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-resolver-'));
  const file = join(directory, 'resolv.conf');
  const node = await simulatedNode({ pods: [podWith('a')], facts: { readResolvConf: () => readResolvConf(file) } });
  await node.advance('5s');
  expect(node.pod('a').phase).toBe('Pending');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(node.agent.explain('a')?.pod).toMatchObject({
    waitingFor: 'another try to make its sandbox',
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

test('C27: new addresses of the host are told of every pod, and given to containers that are made from then on', async () => {
  let addresses = ['192.0.2.1'];
  const env = [{ name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }];
  const withHost = (name: string) => podWith(name, { containers: [containerWith('main', { env })] });
  const node = await simulatedNode({ pods: [withHost('a')], facts: { hostIps: () => addresses } });
  await node.advance('5s');
  expect(node.pod('a')).toMatchObject({ phase: 'Running', hostIP: '192.0.2.1' });
  addresses = ['198.51.100.7'];
  node.apply(withHost('b'));
  await node.advance('10s');
  expect(node.pod('a')).toMatchObject({ hostIP: '198.51.100.7', hostIPs: [{ ip: '198.51.100.7' }] });
  const given = node
    .calls('createContainer')
    .map(({ request }) => (request as wire.CreateContainerRequest).config?.envs)
    .map((envs) => String(envs?.find(({ key }) => key === 'HOST')?.value));
  expect(given).toEqual(['192.0.2.1', '198.51.100.7']);
});
