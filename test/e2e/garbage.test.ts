/** Garbage collection on a real containerd: dead containers, rotated logs, and the remains of removed pods. */
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createLayout } from '../../host/pods/layout.ts';
import { claimPodDirectory } from '../../host/pods/takePodDirectory.ts';
import { mount } from '../../volume/mount/mount.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, runNode } from './support/node.ts';
import { startStatelet, statelet } from './support/statelet.ts';

const logs = ['containerLogMaxSize: 20Ki', 'containerLogMaxFiles: 20', 'containerLogMonitorInterval: 3s'];
const node = await nodeForAllTests(() => runNode(...logs));

const logLinks = () => readdir(join(node.podLogs, '..', 'containers'));

async function deadOf(uid: string): Promise<string[]> {
  const { containers } = await node.runtime.cri.listContainers({ filter: undefined }, { signal: noAbort });
  return containers.filter(({ labels }) => labels['io.kubernetes.pod.uid'] === uid).map(({ id }) => id);
}

test('C23: the log of a container that writes continuously is rotated without losing a line', async () => {
  const lines = 4_000;
  const script = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo line-$i; [ $((i % 200)) = 0 ] && sleep 0.8; done`;
  await node.write('chatty', podManifest('chatty', [shell('main', steadily(script))]));
  const pod = await node.running('chatty');
  const { namespace, name, uid } = pod.metadata;
  const at = ['--root-dir', node.rootDir];
  const follower = startStatelet(['logs', '-f', 'chatty', ...at]);
  const folder = join(node.podLogs, `${namespace}_${name}_${uid}`, 'main');
  const written = async () => {
    const names = (await readdir(folder)).sort((a, b) => (a === '0.log' ? 1 : b === '0.log' ? -1 : a < b ? -1 : 1));
    const texts = names.map(async (each) => {
      const bytes = await readFile(join(folder, each));
      return each.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
    });
    return { names, text: (await Promise.all(texts)).join('') };
  };
  const { names, text } = await eventually('all lines are there, over several files', async () => {
    const current = await written();
    return current.text.includes(`line-${lines}\n`) && current.names.length > 2 && current;
  });
  const logLines = text.trimEnd().split('\n');
  const expectedLines = Array.from({ length: lines }, (_, index) => `line-${index + 1}`);
  expect(logLines.map((line) => line.split(' ').at(-1))).toEqual(expectedLines);
  // `statelet logs` returns the same lines, both after the end of the logs and while they were being rotated.
  const read = await statelet('logs', 'pod/chatty', '--tail', String(lines - 100), ...at);
  expect(read).toEqual({ code: 0, out: `${expectedLines.slice(100).join('\n')}\n`, err: '' });
  await follower.says(`line-${lines}\n`);
  expect(follower.out()).toBe(`${expectedLines.join('\n')}\n`);
  follower.kill('SIGINT');
  expect(await follower.ended).toBe('SIGINT');
  expect(names.at(-1)).toBe('0.log');
  expect(names.slice(0, -2).every((each) => /^0\.log\.\d{8}-\d{6}\.gz$/.test(each))).toBe(true);
  expect(names.at(-2)).toMatch(/^0\.log\.\d{8}-\d{6}$/);
  const link = (await logLinks()).find((each) => each.startsWith(`${name}_`));
  expect(await readlink(join(node.podLogs, '..', 'containers', link ?? ''))).toBe(join(folder, '0.log'));
});

test('one dead container each is retained after a crash and a new agent, and the remains of a removed pod are deleted', async () => {
  await node.write('crash', podManifest('crash', [shell('main', 'echo run; exit 3')]));
  const pod = await node.until(
    'has crashed three times',
    'crash',
    (each) => containerOf(each).restartCount > 1 && each,
  );
  const { namespace, name, uid } = pod.metadata;
  const before = await deadOf(uid);
  expect(before.length).toBeGreaterThan(2);
  const previous = await statelet('logs', '--previous', 'crash', '--root-dir', node.rootDir);
  expect(previous).toEqual({ code: 0, out: 'run\n', err: '' });
  expect(await statelet('delete', 'pod/crash', '--root-dir', node.rootDir)).toEqual({
    code: 1,
    out: '',
    err: `statelet: pod/${name} is a static pod: remove ${join(node.manifests, 'crash.yaml')} to terminate it\n`,
  });
  node.agent.kill('SIGKILL');
  await node.agent.ended;
  // Simulates a pod that was being removed when the agent was killed, with a volume that is still mounted.
  const layout = createLayout({ rootDir: node.rootDir, podLogsDir: node.podLogs });
  const maker = { root: node.rootDir, node: 'node', runtime: node.runtime.containerd.endpoint };
  await claimPodDirectory({ layout, maker, pod: { uid: 'gone-uid', namespace: 'default', name: 'gone' } });
  const volume = join(node.rootDir, 'pods', 'gone-uid', 'volumes', 'kubernetes.io~empty-dir', 'memory');
  await mkdir(volume, { recursive: true });
  await mount({ source: 'tmpfs', target: volume, type: 'tmpfs', options: [], signal: noAbort });
  await writeFile(join(volume, 'file'), 'x');
  const log = join(node.podLogs, 'default_gone_gone-uid', 'main');
  await mkdir(log, { recursive: true });
  await writeFile(join(log, '0.log'), 'x');
  await node.start();
  // Containers that the agent has not listed yet are left to its next collection a minute later, and the pod continues
  // to crash meanwhile.
  await eventually(
    'one of its dead containers is left, beside those of the last minute',
    async () => {
      const after = await deadOf(uid);
      return before.filter((id) => after.includes(id)).length <= 1 && after.length <= 3;
    },
    150_000,
  );
  const logs = await readdir(join(node.podLogs, `${namespace}_${name}_${uid}`, 'main'));
  expect(logs).not.toContain('0.log');
  const linked = (await logLinks()).filter((each) => each.startsWith(`${name}_`));
  expect(linked.filter((each) => before.some((id) => each.includes(id))).length).toBeLessThanOrEqual(1);
  await eventually('the gone pod has left nothing', async () => {
    const [pods, folders] = [await readdir(join(node.rootDir, 'pods')), await readdir(node.podLogs)];
    return !pods.includes('gone-uid') && !folders.some((folder) => folder.includes('gone-uid'));
  });
  expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain('gone-uid');
});

test('a pod whose manifest is removed leaves no directory, log or link', async () => {
  await node.until('is adopted', 'crash', () => true);
  await node.remove('crash');
  await node.gone('crash');
  expect((await readdir(node.podLogs)).filter((folder) => folder.includes('crash'))).toEqual([]);
  expect((await logLinks()).filter((link) => link.includes('crash'))).toEqual([]);
  const uids = (await node.pods()).map(({ metadata }) => metadata.uid);
  expect(await readdir(join(node.rootDir, 'pods'))).toEqual(uids);
  await node.remove('chatty');
  await node.gone('chatty');
});
