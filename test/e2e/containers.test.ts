import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { freePort } from './support/freePort.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const node = await nodeForAllTests(() => upNode('singleProcessOOMKill: true'), {
  args: ['--report-process-oom-kills'],
});

const end = 'that is all';

/** Runs a script in a pod of one container, and returns its output line by line. */
async function outputOf(name: string, script: string, more: Parameters<typeof shell>[2] = {}): Promise<string[]> {
  const main = shell('main', steadily(`{ ${script}; } 2>&1; echo ${end}`), more);
  await node.write(name, podManifest(name, [main]));
  return node.log(await node.running(name), 'main', end);
}

describe('a container process gets from the manifest', () => {
  test('C21: its command, args, and variables that refer to other variables and pod fields', async () => {
    const env = [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
      { name: 'GREETING', value: 'hello from $(NAME)' },
      { name: 'PLAIN', value: '$$(NAME) and $(UNKNOWN)' },
    ];
    const script = `echo "$0, $1"; echo "$IP"; echo "$MEMORY"; echo "$PLAIN"; echo ${end}; ${steadily()}`;
    const main = shell('main', script, {
      args: ['$(GREETING)', 'second'],
      env,
      resources: { limits: { memory: '48Mi' } },
    });
    await node.write('speaking', podManifest('speaking', [main]));
    const pod = await node.running('speaking');
    const lines = await node.log(pod, 'main', end);
    expect(lines).toEqual(['hello from speaking-node, second', pod.status?.podIP, '48', '$(NAME) and $(UNKNOWN)']);
  });

  test('C18, C19: its working directory, hostname and hosts file', async () => {
    const lines = await outputOf('placed', 'pwd; hostname; cat /etc/hosts', { workingDir: '/etc' });
    const { podIP } = (await node.running('placed')).status ?? {};
    expect(lines.slice(0, 2)).toEqual(['/etc', 'placed-node']);
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${podIP}\\s+placed-node$`)));
    expect(lines).toContainEqual(expect.stringMatching(/^127\.0\.0\.1\s+localhost$/));
  });

  test('C25: its resources, as set in the kernel', async () => {
    const resources = { requests: { cpu: '250m' }, limits: { cpu: '500m', memory: '64Mi' } };
    const files = {
      v1: ['cpu/cpu.shares', 'cpu/cpu.cfs_quota_us', 'memory/memory.limit_in_bytes'],
      v2: ['cpu.weight', 'cpu.max', 'memory.max'],
    };
    const [v1, v2] = [files.v1, files.v2].map((names) => names.map((name) => `/sys/fs/cgroup/${name}`).join(' '));
    const lines = await outputOf('sized', `cat ${v1} 2> /dev/null || cat ${v2}`, { resources });
    expect([
      ['256', '50000', String(64 << 20)],
      ['10', '50000 100000', String(64 << 20)],
    ]).toContainEqual(lines);
    expect((await node.running('sized')).status?.qosClass).toBe('Burstable');
  });

  test('its hostPort, reachable on the host', async () => {
    const hostPort = await freePort();
    const server = 'mkdir /www && echo served > /www/index.html && httpd -p 8080 -h /www';
    const main = shell('main', steadily(server), { ports: [{ containerPort: 8080, hostPort }] });
    await node.write('served', podManifest('served', [main]));
    await node.running('served');
    const page = await eventually('a page', () =>
      fetch(`http://127.0.0.1:${hostPort}`).then((answer) => answer.text()),
    );
    expect(page).toBe('served\n');
    const { out } = await statelet('describe', 'pod', 'served', '--state-dir', node.directory);
    expect(out).toMatch(new RegExp(`\n {4}Port: +8080/TCP\n {4}Host Port: +${hostPort}/TCP\n`));
    expect(out).toMatch(/\n {2}Normal +Started +\d+s +kubelet +spec\.containers\{main\}: Container started\n/);
  });
});

describe('volumes', () => {
  test('containers of a pod share an emptyDir, and a read-only mount of it cannot be written', async () => {
    const mount = { name: 'data', mountPath: '/data' };
    const writer = shell('writer', steadily('echo written > /data/file'), { volumeMounts: [mount] });
    const look = `until cat /data/file; do sleep 0.1; done 2> /dev/null; touch /data/other 2>&1; echo ${end}`;
    const reader = shell('reader', steadily(look), { volumeMounts: [{ ...mount, readOnly: true }] });
    await node.write(
      'sharing',
      podManifest('sharing', [writer, reader], { volumes: [{ name: 'data', emptyDir: {} }] }),
    );
    const lines = await node.log(await node.running('sharing'), 'reader', end);
    expect(lines).toEqual(['written', 'touch: /data/other: Read-only file system']);
  });

  test('a hostPath of a type that must exist delays its pod until it exists', async () => {
    const [file, directory] = [join(node.shared, 'a-file'), join(node.shared, 'made', 'on', 'demand')];
    const volumes = [
      { name: 'file', hostPath: { path: file, type: 'File' as const } },
      { name: 'made', hostPath: { path: directory, type: 'DirectoryOrCreate' as const } },
    ];
    const volumeMounts = [
      { name: 'file', mountPath: '/file' },
      { name: 'made', mountPath: '/made' },
    ];
    const main = shell('main', steadily(`cp /file /made/copy; echo ${end}`), { volumeMounts });
    await node.write('mounting', podManifest('mounting', [main], { volumes }));
    const why = await eventually('explain tells of the failed mount', async () => {
      const { out } = await statelet('explain', 'mounting', '--state-dir', node.directory);
      return out.includes('FailedMount') && out;
    });
    expect(why).toContain(file);
    expect((await node.pods()).find(({ metadata }) => metadata.name === 'mounting-node')?.status?.phase).toBe(
      'Pending',
    );
    await writeFile(file, 'from the host\n');
    await node.log(await node.running('mounting'), 'main', end);
    expect(await readFile(join(directory, 'copy'), 'utf8')).toBe('from the host\n');
    await node.remove('mounting');
    await node.gone('mounting');
    expect([existsSync(file), existsSync(directory)]).toEqual([true, true]);
    const { out } = await statelet('get', 'events', '--for', 'pod/mounting', '--state-dir', node.directory);
    const eventLines = out.split('\n').map((line) => line.split(/ {3,}/).slice(2).join(' '));
    expect(eventLines).toContainEqual(
      expect.stringMatching(/^FailedMount pod\/mounting-node MountVolume\.SetUp failed for volume "file" : /),
    );
    const normal = eventLines.filter((line) => !/^(FailedMount|MissingClusterDNS)/.test(line));
    expect(normal.slice(1, -1).map((line) => line.replace('pod/mounting-node ', ''))).toEqual([
      expect.stringMatching(/^Pulled Container image ".*" already present on machine/),
      'Created Container created',
      'Started Container started',
      'Killing Stopping container main',
    ]);
  });
});

describe('container exits', () => {
  test('C1: determine the exit codes, their reasons and the resulting phase', async () => {
    const restartPolicy = 'Never' as const;
    const all = [shell('good', 'exit 0'), shell('bad', 'exit 7')];
    await node.write('failing', podManifest('failing', all, { restartPolicy }));
    await node.write('succeeding', podManifest('succeeding', all.slice(0, 1), { restartPolicy }));
    const failed = await node.until('has failed', 'failing', (pod) => pod.status?.phase === 'Failed' && pod);
    const terminated = (exitCode: number, reason: string) => ({ state: { terminated: { exitCode, reason } } });
    expect(containerOf(failed, 'good')).toMatchObject(terminated(0, 'Completed'));
    expect(containerOf(failed, 'bad')).toMatchObject(terminated(7, 'Error'));
    await node.until('has succeeded', 'succeeding', ({ status }) => status?.phase === 'Succeeded');
  });

  test('by exceeding the memory limit are reported as OOMKilled', async () => {
    const greedy = shell('main', 'x=$(yes | head -c 200000000); echo $x', {
      resources: { limits: { memory: '16Mi' } },
    });
    await node.write('greedy', podManifest('greedy', [greedy], { restartPolicy: 'Never' }));
    const pod = await node.until('has failed', 'greedy', (each) => each.status?.phase === 'Failed' && each);
    // The message comes from the kernel log of this host, which names the process.
    expect(containerOf(pod).state?.terminated).toMatchObject({
      exitCode: 137,
      reason: 'OOMKilled',
      message: expect.stringMatching(
        /^the memory limit was reached: the kernel killed process sh \(pid \d+\), which held 1\d\.\d MiB$/,
      ),
    });
    const { out: explanation } = await statelet('explain', 'greedy-node', '--root-dir', node.rootDir);
    expect(explanation).toContain('the kernel killed process sh');
  });

  test('are absent for a container that survives the OOM kill of a process, which is reported as an event', async () => {
    const surviving = shell('main', steadily('(x=$(yes | head -c 200000000); echo $x) || true'), {
      resources: { limits: { memory: '16Mi' } },
    });
    await node.write('surviving', podManifest('surviving', [surviving]));
    const pod = await node.running('surviving');
    const events = () => statelet('get', 'events', '--for', 'pod/surviving', '--state-dir', node.directory);
    await eventually('an event about the kill', async () => (await events()).out.includes('ProcessOOMKilled'), 90_000);
    expect((await events()).out).toMatch(
      /ProcessOOMKilled .*the kernel killed process sh \(pid \d+\), which held 1\d\.\d MiB; the container continues to run/,
    );
    expect(containerOf(pod).restartCount).toBe(0);
  });
});
