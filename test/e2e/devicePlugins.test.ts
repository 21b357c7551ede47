import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { type FakeDevice, type FakePluginOptions, startDevicePlugin } from '../fakes/devicePlugin.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, runNode } from './support/node.ts';

const node = await forAllTests(() => runNode());
const directory = join(node.directory, 'device-plugins');
const start = () => node.start({ args: ['--device-plugin-dir', directory] });

let agent: Awaited<ReturnType<typeof start>>;
const processes: ChildProcess[] = [];
const pluginClosers: (() => void)[] = [];
afterAll(() => {
  for (const each of processes) each.kill('SIGKILL');
  for (const close of pluginClosers) close();
});

/** Starts a plugin in a process of its own, which prints its calls as lines. */
function startPlugin(options: FakePluginOptions) {
  const program = join(import.meta.dirname, '..', 'fakes', 'devicePluginProgram.ts');
  const child = spawn(process.execPath, [program, directory, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  processes.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return {
    calls: (method: string) => lines.filter((line) => line.includes(`"method":"${method}"`)),
    registrations: () => lines.filter((line) => line === '"registered"').length,
    list: (devices: readonly FakeDevice[]) => void child.stdin.write(JSON.stringify(devices)),
    end: () => child.kill('SIGKILL'),
  };
}

const RESOURCE = 'example.com/null';

/** Prints the variable and the type of the device file, and then waits. */
const printing = 'echo $DEVICES; stat -c %F /dev/n1; echo printed';
const requesting = (name: string, count: number) =>
  podManifest(name, [shell('main', steadily(printing), { resources: { limits: { [RESOURCE]: String(count) } } })]);

const healthOf = (pod: Parameters<typeof containerOf>[0]) => containerOf(pod).allocatedResourcesStatus;

test('a container gets the device of a plugin, and retains it when agent and plugin restart', async () => {
  await mkdir(directory, { recursive: true });
  agent = await start();
  const devices = [{ id: 'n0' }, { id: 'n1' }];
  const plugin = startPlugin({ resource: RESOURCE, devices, hostPath: '/dev/null', preStart: true, prefers: ['n1'] });
  await eventually('the node reports the devices', async () => {
    return JSON.stringify(await node.ask('/api/v1/nodes')).includes(`"${RESOURCE}":"2"`) || undefined;
  });
  await node.write('a', requesting('a', 1));
  const pod = await node.running('a');
  expect(plugin.calls('Allocate')).toEqual(['{"method":"Allocate","devices":["n1"]}']);
  expect(await node.log(pod, 'main', 'printed')).toEqual(['n1', 'character special file']);
  expect(plugin.calls('PreStartContainer')).toEqual(['{"method":"PreStartContainer","devices":["n1"]}']);
  expect(healthOf(pod)).toEqual([{ name: RESOURCE, resources: [{ resourceID: 'n1', health: 'Healthy' }] }]);

  await node.write('b', requesting('b', 2));
  const refused = await node.until('is refused', 'b', (each) => each.status?.phase === 'Failed' && each);
  expect(refused.status).toMatchObject({
    reason: 'UnexpectedAdmissionError',
    message: expect.stringContaining(
      `Allocate failed due to requested number of devices unavailable for ${RESOURCE}. Requested: 2, Available: 1, which is unexpected`,
    ),
  });

  agent.kill('SIGKILL');
  await agent.ended;
  agent = await start();
  await eventually('the plugin registers again', () => plugin.registrations() === 2 || undefined);
  const again = await node.running('a');
  expect(containerOf(again).containerID).toBe(containerOf(pod).containerID);
  expect(plugin.calls('Allocate')).toHaveLength(1);

  plugin.list([{ id: 'n0' }, { id: 'n1', healthy: false }]);
  await node.until('its device is unhealthy', 'a', (each) =>
    JSON.stringify(healthOf(each) ?? []).includes('"health":"Unhealthy"'),
  );
});

test('a plugin whose socket is in plugins_registry provides devices on a node without a cluster', async () => {
  const registry = join(node.rootDir, 'plugins_registry');
  await eventually('the directory', () => existsSync(registry) || undefined);
  const devices = [{ id: 'z0' }];
  const plugin = await startDevicePlugin(registry, { resource: 'example.com/zero', devices, hostPath: '/dev/zero' });
  pluginClosers.push(plugin.close);
  await eventually('the node reports the devices', async () => {
    return JSON.stringify(await node.ask('/api/v1/nodes')).includes('"example.com/zero":"1"') || undefined;
  });
  const resources = { limits: { 'example.com/zero': '1' } };
  const printing = 'stat -c %F /dev/z0; echo printed';
  await node.write('zero', podManifest('zero', [shell('main', steadily(printing), { resources })]));
  expect(await node.log(await node.running('zero'), 'main', 'printed')).toEqual(['character special file']);
  expect(plugin.calls).toContainEqual({ method: 'Allocate', devices: ['z0'] });
  const states = ['actual_state_of_world', 'desired_state_of_world'].map(
    (state) => `plugin_manager_total_plugins{socket_path="${join(registry, 'plugin.sock')}",state="${state}"} 1`,
  );
  expect((await scrapeMetrics()).split('\n')).toEqual(expect.arrayContaining(states));
});

async function scrapeMetrics(): Promise<string> {
  const port = /served on port (\d+)/.exec(`${agent.out()}${agent.err()}`)?.[1] ?? '';
  const token = await readFile(join(node.rootDir, 'statelet', 'server-token'), 'utf8');
  const headers = { authorization: `Bearer ${token.trim()}` };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ host: '127.0.0.1', port, path: '/metrics', headers, rejectUnauthorized: false }, (response) =>
    text(response).then(resolve, reject),
  )
    .on('error', reject)
    .end();
  return promise;
}

test('a container whose devices are missing from the checkpoint gets devices again when it restarts', async () => {
  const plugin = startPlugin({ resource: 'example.com/full', devices: [{ id: 'f0' }], hostPath: '/dev/full' });
  await eventually('the node reports the devices', async () => {
    return JSON.stringify(await node.ask('/api/v1/nodes')).includes('"example.com/full":"1"') || undefined;
  });
  const script = 'stat -c %F /dev/f0; echo printed; until [ -e /host/exit ]; do sleep 0.1; done; rm /host/exit';
  const resources = { limits: { 'example.com/full': '1' } };
  const volumeMounts = [{ name: 'host', mountPath: '/host' }];
  const volumes = [{ name: 'host', hostPath: { path: directory } }];
  await node.write('full', podManifest('full', [shell('main', script, { resources, volumeMounts })], { volumes }));
  const pod = await node.running('full');
  agent.kill('SIGKILL');
  await agent.ended;
  await rm(join(directory, 'kubelet_internal_checkpoint'));
  agent = await start();
  await eventually('the plugin registers again', () => plugin.registrations() === 2 || undefined);
  await node.running('full');
  expect(plugin.calls('Allocate')).toHaveLength(1);
  await writeFile(join(directory, 'exit'), '');
  expect(await node.log(pod, 'main', 'printed', 1)).toEqual(['character special file']);
  expect(plugin.calls('Allocate')).toHaveLength(2);
});
