import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { eventually } from './support/eventually.ts';
import { copyPackage, linkPackage } from './support/installation.ts';
import { installedCommand, startStatelet, statelet } from './support/statelet.ts';

jest.setTimeout(120_000);

let directory: string;
let by: readonly string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-cli-'));
  by = await installedCommand();
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the installed command', () => {
  async function mistake(...args: string[]) {
    const { ended, out, err } = startStatelet(args, { by });
    return { code: await ended, out: out(), err: err() };
  }

  test('reports an unknown flag in one message with the nearest flag, and exit code 1', async () => {
    expect(await mistake('up', '--state-dri', directory)).toEqual({
      code: 1,
      out: '',
      err: "statelet: unknown option '--state-dri'; did you mean --state-dir?\n",
    });
  });

  test('reports an invalid configuration file in one message with file and field, and exit code 1', async () => {
    const file = join(directory, 'kubelet.yaml');
    await writeFile(file, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPod: 5\n');
    const { code, out, err } = await mistake('run', '--root-dir', directory, '--config', file);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(new RegExp(`^statelet: ${file}: maxPod: .*maxPods.*\n$`));
  });
});

test('the daemon is one process when started from node_modules/.bin', async () => {
  const command = await linkPackage(join(directory, 'linked'));
  const directories = ['--root-dir', join(directory, 'one'), '--pod-log-dir', join(directory, 'logs')];
  const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const { pid, kill, ended, says, err } = startStatelet(['run', ...directories, ...nowhere], { by: [command] });
  await says('the node agent is running');
  expect(await readFile(`/proc/${pid}/comm`, 'utf8')).toMatch(/^(node|MainThread)\n$/);
  expect(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).toBe('');
  kill('SIGTERM');
  expect(await ended).toBe(0);
  // The log names the line of the source, not that of the bundle.
  const source = (await readFile(join(root, 'cli/commands/run/run.ts'), 'utf8')).split('\n');
  const line = source.findIndex((text) => text.includes('the node agent is running')) + 1;
  expect(err()).toMatch(new RegExp(` run\\.ts:${line}\\] "the node agent is running`));
  expect(err()).not.toContain('daemon.js:');
  // The bundle of the commands can replay what the bundle of the daemon has recorded.
  const replay = startStatelet(['replay', join(directory, 'one/statelet/recording'), '--check'], { by: [command] });
  expect([await replay.ended, replay.err()]).toEqual([0, '']);
  expect(replay.out()).toMatch(/^1 life, \d+ entries, [1-9]\d* states, 0 statuses: no difference\n$/);
});

test('the daemon reads large manifests in a thread with its own bundle', async () => {
  const manifests = join(directory, 'manifests');
  await mkdir(manifests);
  const main = { name: 'main', image: 'app', command: ['x'.repeat(20_000)], imagePullPolicy: 'Sometimes' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'large' }, spec: { containers: [main] } };
  await writeFile(join(manifests, 'large.json'), JSON.stringify(pod));
  const directories = ['--root-dir', join(directory, 'reader'), '--pod-log-dir', join(directory, 'logs')];
  const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
  const args = ['run', '--pod-manifest-path', manifests, ...directories, ...nowhere];
  const { kill, ended, says } = startStatelet(args, { by });
  await says('spec.containers[0].imagePullPolicy');
  kill('SIGTERM');
  expect(await ended).toBe(0);
});

describe('the bundle speaks HTTP without loading undici, which would cost 13 MiB and 70 ms', () => {
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const teller = join(directory, 'teller.mjs');
    await writeFile(teller, "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')));\n");
    env = { NODE_OPTIONS: `--import=${teller}` };
  });

  test('as a command', async () => {
    const { ended, err } = startStatelet(['get', 'pods', '--state-dir', directory], { by, env });
    await ended;
    expect(err()).toContain('NativeModule _http_client');
    expect(err()).not.toContain('undici');
  });

  test('as a daemon', async () => {
    const config = join(directory, 'kubelet.json');
    const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    await writeFile(config, JSON.stringify({ ...kind, cgroupsPerQOS: false, fileCheckFrequency: '5000000\u00b5s' }));
    const directories = [
      '--config',
      config,
      '--root-dir',
      join(directory, 'root'),
      '--pod-log-dir',
      join(directory, 'logs'),
    ];
    const nowhere = ['--container-runtime-endpoint', `unix://${directory}/none.sock`];
    const { kill, ended, err, says } = startStatelet(['run', ...directories, ...nowhere], { by, env });
    await says('the node agent is running');
    kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(err()).toContain('NativeModule _http_client');
    expect(err()).not.toContain('undici');
  });
});

describe('without root', () => {
  const nobody = 65_534;
  const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

  test('the pods run on the simulated runtime, and every line mentions that', async () => {
    await chown(directory, nobody, nobody);
    const state = join(directory, 'state');
    // A copy is needed, because the package itself may be in a directory that only root can enter.
    const command = await copyPackage(join(directory, 'installed'));
    const up = startStatelet(['up', '--state-dir', state], { by: [...asNobody, command] });
    await up.says('node ready: ');
    const lines = up.out().trimEnd().split('\n');
    expect(lines[0]).toContain('containers need root: the pods run on a simulated runtime, without real containers.');
    expect(lines.filter((line) => !line.includes('simulated'))).toEqual([]);
    const logged = up.err().trim().split('\n').filter(Boolean);
    expect(logged.filter((line) => !line.includes('[simulated]'))).toEqual([]);
    const table = await eventually('the examples crash and complete', async () => {
      const { out } = await statelet('get', 'pods', '--state-dir', state);
      return /^crash-\S+ +1\/2 +CrashLoopBackOff /m.test(out) && /^once-\S+ +0\/1 +Completed /m.test(out) && out;
    });
    expect(table).toMatch(/^SIMULATED runtime: .*\nNAME /);
    up.kill('SIGTERM');
    expect(await up.ended).toBe(0);
    expect(up.out()).toContain('"[simulated] statelet has stopped"\n');
  });
});
