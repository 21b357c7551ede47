import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Probe } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);
let { agent } = node;

const every = (probe: Probe, more: Probe = {}): Probe => ({ periodSeconds: 1, failureThreshold: 1, ...probe, ...more });
const cat = (file: string): Probe => every({ exec: { command: ['cat', `/shared/${file}`] } });
const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
const volumes = () => [{ name: 'shared', hostPath: { path: node.shared } }];
const touch = (file: string) => writeFile(join(node.shared, file), '');
const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type)?.status;
const readyOf = (pod: Pod) =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(
    ({ name, started, ready }) => `${name}: ${started ? 'started' : 'not started'}, ${ready ? 'ready' : 'not ready'}`,
  );

test('C15: the readiness of a pod follows its exec, HTTP (by a named port) and TCP probes', async () => {
  const server = 'mkdir -p /www && ln -s /shared/page /www/page && httpd -p 8080 -h /www';
  const ports = [{ name: 'web', containerPort: 8080 }];
  const main = (name: string, script: string, readinessProbe: Probe) =>
    shell(name, steadily(script), { volumeMounts, readinessProbe, ...(script === server ? { ports } : {}) });
  const containers = [
    main('http', server, every({ httpGet: { path: '/page', port: 'web' } })),
    main('exec', ':', cat('fine')),
    main('tcp', ':', every({ tcpSocket: { port: 8080 } })),
  ];
  await node.write('probed', podManifest('probed', containers, { volumes: volumes() }));
  const waiting = await node.until('has started, and nothing but TCP is ready', 'probed', (pod) => {
    const all = readyOf(pod);
    return all.includes('tcp: started, ready') && all.every((each) => each.includes(': started')) && pod;
  });
  expect(readyOf(waiting).filter((each) => !each.startsWith('tcp'))).toEqual([
    'exec: started, not ready',
    'http: started, not ready',
  ]);
  expect(conditionOf(waiting, 'Ready')).toBe('False');
  await Promise.all(['page', 'fine'].map(touch));
  await node.until('is ready', 'probed', (pod) => conditionOf(pod, 'Ready') === 'True');
  await rm(join(node.shared, 'fine'));
  const ended = await node.until(
    'is not ready any more',
    'probed',
    (pod) => conditionOf(pod, 'Ready') === 'False' && pod,
  );
  expect(readyOf(ended)).toContain('exec: started, not ready');
  expect((ended.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)).toEqual([0, 0, 0]);
  await node.remove('probed');
});

test('a failed liveness probe terminates the container gracefully and restarts it', async () => {
  await touch('alive');
  // On SIGTERM, the container records the signal and makes its liveness probe succeed again.
  const script = steadily(':', 'touch /shared/asked /shared/alive');
  const main = shell('main', script, { volumeMounts, livenessProbe: cat('alive') });
  await node.write('lively', podManifest('lively', [main], { volumes: volumes() }));
  const before = await node.running('lively');
  await rm(join(node.shared, 'alive'));
  const after = await node.until('runs again', 'lively', (pod) => {
    const { restartCount, state } = containerOf(pod);
    return restartCount === 1 && state?.running !== undefined && pod;
  });
  expect(containerOf(after).containerID).not.toBe(containerOf(before).containerID);
  expect(containerOf(after).lastState?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
  await node.remove('lively');
});

test('C4: containers after a sidecar wait for its startup probe', async () => {
  const proxy = shell('proxy', steadily(), {
    restartPolicy: 'Always',
    volumeMounts,
    startupProbe: { ...cat('up'), failureThreshold: 100 },
  });
  const spec = { initContainers: [proxy], volumes: volumes() };
  await node.write('gated', podManifest('gated', [shell('main', steadily())], spec));
  const podWaiting = await node.until('has a sidecar that runs', 'gated', (pod) => {
    return pod.status?.initContainerStatuses?.[0]?.state?.running !== undefined && pod;
  });
  expect(readyOf(podWaiting)).toEqual(['proxy: not started, not ready', 'main: not started, not ready']);
  expect(containerOf(podWaiting).state?.waiting?.reason).toBe('PodInitializing');
  await touch('up');
  const whole = await node.until('is ready', 'gated', (pod) => conditionOf(pod, 'Ready') === 'True' && pod);
  expect(readyOf(whole)).toEqual(['proxy: started, ready', 'main: started, ready']);
});

test('an HTTP probe sends the Host from its headers, or else the address of the pod', async () => {
  const page = [
    '#!/bin/sh',
    'echo "$HTTP_HOST" >> /shared/hosts',
    '[ "$HTTP_HOST" = web.example ] && answer="200 OK" || answer="404 Not Found"',
    'printf "HTTP/1.0 $answer\\r\\n\\r\\n"',
  ];
  await writeFile(join(node.shared, 'page.cgi'), `${page.join('\n')}\n`);
  await chmod(join(node.shared, 'page.cgi'), 0o755);
  const server = 'mkdir -p /www/cgi-bin && ln -s /shared/page.cgi /www/cgi-bin/page && httpd -p 8080 -h /www';
  const asking = (name: string, script: string, httpHeaders: { name: string; value: string }[]) =>
    shell(name, steadily(script), {
      volumeMounts,
      readinessProbe: every({ httpGet: { path: '/cgi-bin/page', port: 8080, httpHeaders } }),
    });
  const containers = [asking('named', server, [{ name: 'Host', value: 'web.example' }]), asking('plain', ':', [])];
  await node.write('hosts', podManifest('hosts', containers, { volumes: volumes() }));
  const pod = await node.until('is ready by its name', 'hosts', (each) => {
    return readyOf(each).includes('named: started, ready') && each;
  });
  const hosts = await eventually('both have asked', async () => {
    const seen = new Set((await readFile(join(node.shared, 'hosts'), 'utf8')).trim().split('\n'));
    return seen.size > 1 && [...seen].sort();
  });
  expect(hosts).toEqual([`${pod.status?.podIP}:8080`, 'web.example']);
  await node.until('is not ready by its address', 'hosts', (each) => {
    return readyOf(each).includes('plain: started, not ready');
  });
  await node.remove('hosts');
});

test('the grace period of a liveness probe takes precedence over that of its pod', async () => {
  const trap = "trap 'test -e /shared/stubborn || exit 0' TERM";
  const script = `rm -f /shared/upset; ${trap}; touch /shared/hears; while :; do sleep 0.1; done`;
  const livenessProbe = every(
    { exec: { command: ['test', '!', '-e', '/shared/upset'] } },
    { terminationGracePeriodSeconds: 1 },
  );
  const main = shell('main', script, { volumeMounts, livenessProbe });
  const hears = () => eventually('it hears', () => existsSync(join(node.shared, 'hears')));
  await touch('stubborn');
  const spec = { volumes: volumes(), terminationGracePeriodSeconds: 100 };
  await node.write('impatient', podManifest('impatient', [main], spec));
  await hears();
  await rm(join(node.shared, 'hears'));
  await touch('upset');
  const after = await node.until('runs again', 'impatient', (pod) => {
    const { restartCount, state } = containerOf(pod);
    return restartCount > 0 && state?.running !== undefined && pod;
  });
  expect(containerOf(after).lastState?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
  await hears();
  await rm(join(node.shared, 'stubborn'));
  await node.remove('impatient');
  await node.gone('impatient');
});

test('C29: started and ready are preserved under the next agent, even after SIGKILL, whatever the first probes return', async () => {
  const command = ['sh', '-c', 'test -e /shared/well || { touch /shared/tried; exit 1; }'];
  const patient = every({ exec: { command } }, { failureThreshold: 1_000 });
  const main = shell('main', steadily(), { volumeMounts, startupProbe: patient, readinessProbe: patient });
  await touch('well');
  await node.write('kept', podManifest('kept', [main], { volumes: volumes() }));
  const before = await node.until('is ready', 'kept', (pod) => conditionOf(pod, 'Ready') === 'True' && pod);
  agent.kill('SIGKILL');
  await agent.ended;
  await rm(join(node.shared, 'well'));
  await rm(join(node.shared, 'tried'), { force: true });
  agent = await node.start();
  const after = await node.running('kept');
  expect([readyOf(after), conditionOf(after, 'Ready')]).toEqual([['main: started, ready'], 'True']);
  await eventually('a probe was tried', () => existsSync(join(node.shared, 'tried')));
  const tried = await node.running('kept');
  expect([readyOf(tried), containerOf(tried).containerID]).toEqual([
    ['main: started, ready'],
    containerOf(before).containerID,
  ]);
});
