import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { root } from '../support/root.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { containerOf, upNode } from './support/node.ts';
import { installedCommand, statelet } from './support/statelet.ts';
import { marksOf, traces } from './support/traces.ts';

const examples = join(root, 'examples', 'pods');
/** A directory that the hostPath example intentionally leaves on the host. */
const left = '/var/tmp/statelet-example';

const wasThere = existsSync(left);
const node = await nodeForAllTests(upNode, {
  args: ['--pod-manifest-path', examples],
  by: await installedCommand(),
});
afterAll(async () => {
  if (!wasThere) await rm(left, { recursive: true, force: true });
});
const up = node.agent;

const get = async (...args: string[]) => (await statelet('get', 'pods', '--state-dir', node.directory, ...args)).out;

async function podOf(name: string): Promise<Pod> {
  const found = (await node.pods()).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
}

describe('the command `statelet up` over the examples', () => {
  test('becomes ready, and counts the completed and the failing pod as such', async () => {
    await up.says('node ready');
    const counts =
      /node ready: (?:3\/4 pods running|2\/4 pods running, 1 completed), 1 (?:in CrashLoopBackOff|failing) /;
    expect(up.out()).toMatch(counts);
  });

  test('runs a web server that is reachable over the pod network and serves what the other container writes', async () => {
    const { podIP } = (await podOf('web-node')).status ?? {};
    const page = () => fetch(`http://${podIP}:8080`).then((answer) => answer.text());
    const first = await eventually('a page', async () => {
      const text = await page();
      return text.includes('written by web-node') && text;
    });
    expect(await eventually('another page', async () => (await page()) !== first)).toBe(true);
  });

  test('exposes what a pod writes into its hostPath, with its limits', async () => {
    await eventually('a heartbeat', async () => existsSync(join(left, 'heartbeat')));
    const lines = (await readFile(join(left, 'heartbeat'), 'utf8')).trim().split('\n');
    expect(lines).toEqual([expect.stringContaining('UTC'), '33554432', expect.stringMatching(/^20000( 100000)?$/)]);
  });

  test('lists the pods with get pods like kubectl', async () => {
    await node.until('has succeeded', 'once', ({ status }) => status?.phase === 'Succeeded');
    await node.until('is in back-off', 'crash', (pod) => containerOf(pod, 'failing').state?.waiting !== undefined);
    const rows = (await get('-o', 'wide')).split('\n').map((line) => line.split(/ {3,}/));
    expect(rows[0]?.slice(0, 7)).toEqual(['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE']);
    const shown = Object.fromEntries(rows.slice(1).map(([name = '', ready, state]) => [name, [ready, state]]));
    expect(shown).toMatchObject({
      'crash-node': ['1/2', 'CrashLoopBackOff'],
      'host-node': ['1/1', 'Running'],
      'once-node': ['0/1', 'Completed'],
      'web-node': ['2/2', 'Running'],
    });
    expect(await get()).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\ncrash-node +1\/2 +CrashLoopBackOff +\d+ \(/);
  });

  test('returns a PodList with full status for get pods -o json', async () => {
    const list: { kind: string; items: Pod[] } = JSON.parse(await get('-o', 'json'));
    expect(list.kind).toBe('PodList');
    const web = list.items.find(({ metadata }) => metadata.name === 'web-node');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const holds = (type: string) => ({ type, status: 'True', lastTransitionTime: time });
    expect(web?.metadata.uid).toMatch(/^[0-9a-f]{32}$/);
    expect(web?.status).toMatchObject({
      phase: 'Running',
      qosClass: 'BestEffort',
      startTime: time,
      hostIP: expect.any(String),
      podIPs: [{ ip: web?.status?.podIP }],
    });
    const types = ['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'];
    expect(web?.status?.conditions).toHaveLength(5);
    for (const type of types) expect(web?.status?.conditions).toContainEqual(expect.objectContaining(holds(type)));
    expect(web && containerOf(web, 'server')).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      image: 'statelet.local/busybox:1',
      imageID: expect.stringContaining('sha256:'),
      containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/),
      state: { running: { startedAt: time } },
    });
    const host = list.items.find(({ metadata }) => metadata.name === 'host-node');
    expect(host?.status?.qosClass).toBe('Burstable');
  });

  test('shows the exit of the last run for a crashing container', async () => {
    const failing = containerOf(await podOf('crash-node'), 'failing');
    expect(failing).toMatchObject({
      ready: false,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error', containerID: failing.containerID } },
    });
    expect(failing.restartCount).toBeGreaterThan(0);
  });

  test('explains why a crashing container does not run', async () => {
    const out = await eventually('an explanation of the wait for its next run', async () => {
      const explanation = await statelet('explain', 'pod/crash', '--state-dir', node.directory);
      expect(explanation.code).toBe(0);
      return explanation.out.includes('container failing keeps failing: exit code 3 after') && explanation.out;
    });
    expect(out).toContain('container steady   running');
  });

  test('C23: stores container logs below the state directory', async () => {
    const { uid } = (await podOf('once-node')).metadata;
    const log = await readFile(join(node.podLogs, `default_once-node_${uid}`, 'adder', '0.log'), 'utf8');
    expect(log).toMatch(/ stdout F the numbers from 1 to 1000 add up to 500500\n$/);
  });

  test('terminates the pods, then containerd and then itself on SIGTERM, and leaves nothing on the host', async () => {
    const marks = await marksOf(node.containerdDirectory);
    const during = await traces(marks);
    for (const kind of [
      /of a pod/,
      /^process \d+: containerd /,
      / overlay /,
      /nsfs/,
      /^cgroup /,
      /^link /,
      /MASQUERADE/,
    ]) {
      expect(during).toContainEqual(expect.stringMatching(kind));
    }
    up.kill('SIGTERM');
    expect(await up.ended).toBe(0);
    expect(up.out().trimEnd().split('\n').at(-1)).toContain('"statelet has stopped, and so has its containerd"');
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
    expect(await readdir(join(node.rootDir, 'pods'))).toEqual([]);
    expect(await readdir(node.podLogs)).toEqual([]);
    expect(await readdir(join(node.podLogs, '..', 'containers'))).toEqual([]);
  });
});
