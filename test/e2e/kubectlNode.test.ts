/**
 * Requests of both Debian kubectl releases to a node's own API through an API server: logs, exec, attach, cp,
 * port-forward and debug.
 */

import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { freePort } from './support/freePort.ts';
import { Kubectl, type Release } from './support/kubectl.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';

const cluster = await forAllTests(() => testCluster({ serve: { scrapeEveryMs: 2_000 } }));
const { node, kubeconfig, server } = cluster;

const SPEC: Partial<PodSpec> = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 };

/** Creates a pod in a namespace. The value of its label `app` is its name. */
const createPod = (namespace: string, name: string, containers: readonly Container[], spec: Partial<PodSpec> = {}) => {
  const manifest = podManifest(name, containers, { ...SPEC, ...spec });
  const metadata = { ...manifest.metadata, labels: { app: name } };
  return server.request(
    'POST',
    `/api/v1/namespaces/${namespace}/pods`,
    JSON.parse(JSON.stringify({ ...manifest, metadata })),
  );
};

/** Echoes what it receives. */
const ECHOES = 'nc -ll -p 8081 -e /bin/cat &';
const SERVES = `mkdir /www; echo served >/www/index.html; httpd -p 8080 -h /www; ${ECHOES}`;
const LINES = 'for i in 1 2 3; do echo line $i; echo problem $i >&2; done';

/** Returns functions that run a kubectl release in a namespace of its own. */
function kubectlOf(release: Release) {
  const kubectl = new Kubectl(release, { kubeconfig, directory: node.directory });
  const tryRun = (...args: readonly string[]) => kubectl.tryRun('--namespace', release, ...args);
  const run = (...args: readonly string[]) => kubectl.run('--namespace', release, ...args);
  const start = (...args: readonly string[]) => kubectl.start(['--namespace', release, ...args]);
  /** Runs a command with this input followed by EOF until it exits. */
  async function runWithInput(args: readonly string[], input: string) {
    const child = start(...args);
    child.stdin.on('error', () => {}).end(input);
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, out, err };
  }
  /**
   * Sends this input to a command and waits until it exits by itself. The input stays open, because containerd detaches
   * from the command at EOF.
   */
  async function runInteractive(args: readonly string[], input: string) {
    const child = start(...args);
    child.stdin.on('error', () => {}).write(input);
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { code, out };
  }
  return { kubectl, tryRun, run, start, runWithInput, runInteractive };
}

describe.each<Release>(['bookworm', 'sid'])('kubectl of %s', (release) => {
  const { kubectl, tryRun, run, start, runWithInput } = kubectlOf(release);
  const isRunning = (name: string) => run('wait', '--for=condition=Ready', '--timeout=50s', `pod/${name}`);

  beforeAll(async () => {
    await cluster.addNamespace(release);
    await Promise.all([
      createPod(release, 'web', [
        shell('main', `${LINES}; ${SERVES} ${steadily()}`),
        shell('side', steadily('echo aside')),
      ]),
      createPod(release, 'twin', [shell('main', steadily('echo twin'))]),
      createPod(
        release,
        'crash',
        [
          shell(
            'main',
            'if [ -e /shared/been ]; then exec sleep 1000000; fi; echo first run; touch /shared/been; exit 7',
            {
              volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
            },
          ),
        ],
        { volumes: [{ name: 'shared', emptyDir: {} }] },
      ),
      createPod(release, 'awaited', [shell('main', ':', { image: 'statelet.local/none:1', imagePullPolicy: 'Never' })]),
      createPod(release, 'shell', [{ ...shell('main', ''), command: ['sh'], stdin: true, tty: true }]),
      createPod(release, 'filter', [{ ...shell('main', ''), command: ['cat'], stdin: true, stdinOnce: true }]),
    ]);
    await Promise.all(['web', 'twin', 'shell', 'filter'].map(isRunning));
  });

  test('logs follows its options', async () => {
    const all = 'line 1\nproblem 1\nline 2\nproblem 2\nline 3\nproblem 3\n';
    const sorted = (output: string) => output.split('\n').toSorted().join('\n');
    expect(sorted(await run('logs', 'web', '-c', 'main'))).toBe(sorted(all));
    expect(await run('logs', 'web', '-c', 'side')).toBe('aside\n');
    expect((await run('logs', 'web', '-c', 'main', '--tail=2')).split('\n')).toHaveLength(3);
    expect(await run('logs', 'web', '-c', 'main', '--tail=0')).toBe('');
    expect(await run('logs', 'web', '-c', 'side', '--limit-bytes=3')).toBe('asi');
    const stamped = await run('logs', 'web', '-c', 'side', '--timestamps');
    expect(stamped).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d) aside\n$/);
    const [time = ''] = stamped.split(' ');
    const later = new Date(Date.parse(time) + 1_000).toISOString();
    expect(await run('logs', 'web', '-c', 'side', `--since-time=${time}`)).toBe('aside\n');
    expect(await run('logs', 'web', '-c', 'side', `--since-time=${later}`)).toBe('');
    expect(await run('logs', 'web', '-c', 'side', '--since=1h')).toBe('aside\n');
    await eventually('it is old', async () => (await run('logs', 'web', '-c', 'side', '--since=2s')) === '');
  });

  test('logs of several containers and pods prefix each line with its source', async () => {
    const both = (await run('logs', 'web', '--all-containers', '--prefix', '--tail=1')).trimEnd().split('\n');
    // The order of the lines from different sources is undefined.
    const main = expect.stringMatching(/^\[pod\/web\/main\] (line|problem) 3$/);
    expect(both.toSorted()).toEqual([main, '[pod/web/side] aside']);
    const selected = await run('logs', '-l', 'app in (web,twin)', '--all-containers', '--prefix', '--tail=1');
    expect(selected).toContain('[pod/twin/main] twin\n');
    expect(selected).toContain('[pod/web/side] aside\n');
  });

  test('logs --previous shows the previous run, or an error without one', async () => {
    await eventually('it has been restarted', async () => {
      const count = [
        '-o',
        'jsonpath={.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].state.running}',
      ];
      return /^1 \S/.test(await run('get', 'pod', 'crash', ...count));
    });
    expect(await run('logs', 'crash', '--previous')).toBe('first run\n');
    expect(await run('logs', 'crash')).toBe('');
    const failed = async (...args: readonly string[]) => {
      const { code, err } = await tryRun('logs', ...args);
      expect(code).toBe(1);
      return err;
    };
    expect(await failed('twin', '--previous')).toBe(
      'Error from server (BadRequest): previous terminated container "main" in pod "twin" not found\n',
    );
    await eventually('the image is missed', async () =>
      (await run('get', 'pod', 'awaited')).includes('ErrImageNeverPull'),
    );
    expect(await failed('awaited')).toBe(
      'Error from server (BadRequest): container "main" in pod "awaited" is waiting to start: ErrImageNeverPull\n',
    );
    expect(await failed('none')).toMatch(/rror from server \(NotFound\): pods "none" not found/);
    expect(await failed('web', '-c', 'other')).toContain('container other is not valid for pod web');
  });

  test('exec -it follows the size of its terminal, and exits with the command', async () => {
    const script =
      'while read -t 1 -r line || [ "$line" = "" ]; do stty size; [ "$line" = end ] && exit 5; done; exit 6';
    const args = ['--namespace', release, 'exec', '-it', 'twin', '--', 'sh', '-c', script];
    const child = kubectl.startInTerminal(args, [20, 50]);
    let out = '';
    child.stdout.on('data', (data) => (out += String(data)));
    const ended = once(child, 'close');
    await eventually('it has a size', () => out.includes('20 50'));
    const terminal = await eventually('it has a terminal', () => terminalOf(child.pid ?? 0));
    await resize(terminal, 40, 111);
    await eventually('it has another size', () => out.includes('40 111'));
    child.stdin.write('end\n');
    expect((await ended)[0]).toBe(5);
  });

  test('attach -it connects to the terminal of the container itself', async () => {
    const child = kubectl.startInTerminal(['--namespace', release, 'attach', '-it', 'shell'], [25, 61]);
    let out = '';
    child.stdout.on('data', (data) => (out += String(data)));
    const ended = once(child, 'close');
    // The shell prints nothing by itself, so the test requests the size until it is right.
    await eventually('the size of the terminal is known', () => {
      child.stdin.write('stty size\n');
      return out.includes('25 61');
    });
    child.stdin.write('echo $((6 * 7))\n');
    await eventually('the shell answers', () => out.includes('42'));
    child.kill('SIGKILL');
    await ended;
    expect(await run('get', 'pod', 'shell', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0');
  });

  test('attach -i passes input and EOF to a container', async () => {
    expect(await runWithInput(['attach', '-i', 'filter'], 'to and fro\n')).toMatchObject({
      code: 0,
      out: 'to and fro\n',
    });
  });

  test('run -i --rm creates a pod for one command', async () => {
    const options = ['run', 'once', '-i', '--rm', '--restart=Never', '--image=statelet.local/busybox:1', '--quiet'];
    const command = ['--', 'sh', '-c', 'read -r line; echo "got $line"; exit 3'];
    const { code, out } = await runWithInput([...options, ...command], 'this\n');
    expect({ code, out }).toEqual({ code: 3, out: expect.stringContaining('got this\n') });
    expect(await run('get', 'pods', '-o', 'name')).not.toContain('pod/once');
  });

  test('cp copies a large file in both directions, and a directory', async () => {
    const place = join(node.directory, `copied-${release}`);
    await mkdir(join(place, 'tree', 'below'), { recursive: true });
    const part = randomBytes(2 ** 20);
    await writeFile(join(place, 'large'), Buffer.concat(Array.from({ length: 104 }, () => part)));
    await writeFile(join(place, 'tree', 'a'), 'one');
    await writeFile(join(place, 'tree', 'below', 'b b'), 'other');
    await run('cp', join(place, 'large'), 'twin:/tmp/large');
    await run('cp', 'twin:/tmp/large', join(place, 'back'));
    expect(await hashOf(join(place, 'back'))).toBe(await hashOf(join(place, 'large')));
    await run('cp', join(place, 'tree'), 'twin:/tmp/tree');
    await run('cp', 'twin:/tmp/tree', join(place, 'returned'));
    expect((await readdir(join(place, 'returned'), { recursive: true })).toSorted()).toEqual([
      'a',
      'below',
      'below/b b',
    ]);
    expect(await readFile(join(place, 'returned', 'below', 'b b'), 'utf8')).toBe('other');
  });

  test('port-forward carries several connections, each to its end', async () => {
    const child = start('port-forward', 'web', ':8080', ':8081');
    try {
      let output = '';
      child.stdout.on('data', (data) => (output += String(data)));
      const portTo = (to: number) =>
        eventually(`it listens for ${to}`, () => {
          const [, port] = new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${to}\\n`).exec(output) ?? [];
          return port === undefined ? undefined : Number(port);
        });
      const [web, echo] = [await portTo(8080), await portTo(8081)];
      const sent = Array.from({ length: 8 }, () => randomBytes(2 ** 20));
      const opened: { socket: Socket; data: Buffer }[] = [];
      for (const data of sent) opened.push({ socket: await openEcho(echo), data });
      const echoes = await Promise.all(opened.map(({ socket, data }) => echoOf(socket, data)));
      expect(echoes.map(({ length }) => length)).toEqual(sent.map(({ length }) => length));
      expect(echoes.every((each, at) => each.equals(sent[at] ?? Buffer.alloc(0)))).toBe(true);
      expect(String(await answerTo(echo, Buffer.from('to the end')))).toBe('to the end');
      expect(String(await answerTo(web, Buffer.from('GET / HTTP/1.0\r\n\r\n')))).toMatch(/served\n$/);
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });

  test('exec and port-forward reach a pod on the host network', async () => {
    const port = await freePort();
    const serves = `mkdir /www; echo hosted >/www/index.html; httpd -p 127.0.0.1:${port} -h /www; ${steadily()}`;
    await createPod(release, 'hosted', [shell('main', serves)], { hostNetwork: true });
    await isRunning('hosted');
    expect(await run('exec', 'hosted', '--', 'hostname')).toBe(`${hostname()}\n`);
    const child = start('port-forward', 'hosted', `:${port}`);
    try {
      const [output] = await once(child.stdout, 'data');
      const own = Number(/127\.0\.0\.1:(\d+)/.exec(String(output))?.[1]);
      expect(String(await answerTo(own, Buffer.from('GET / HTTP/1.0\r\n\r\n')))).toMatch(/hosted\n$/);
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });

  test('get --raw queries the node directly', async () => {
    const proxied = (path: string) => run('get', '--raw', `/api/v1/nodes/node/proxy/${path}`);
    expect(await proxied('healthz')).toBe('ok');
    expect(await proxied('healthz?verbose')).toContain('[+]syncloop ok');
    expect(JSON.parse(await proxied('pods')).kind).toBe('PodList');
    expect(JSON.parse(await proxied('configz')).kubeletconfig.kind).toBe('KubeletConfiguration');
    expect(JSON.parse(await proxied('stats/summary')).node.nodeName).toBe('node');
    expect(await proxied('metrics/resource')).toContain('\nresource_scrape_error 0\n');
    expect(await proxied(`containerLogs/${release}/twin/main`)).toBe('twin\n');
    const { code, err } = await tryRun('get', '--raw', '/api/v1/nodes/node/proxy/nothing');
    expect([code, err]).toEqual([1, expect.stringContaining('NotFound')]);
  });

  test('top shows the usage of the node and its pods', async () => {
    await eventually('the pod has been measured twice', async () => (await tryRun('top', 'pod', 'web')).code === 0);
    expect(await run('top', 'node')).toMatch(/\nnode +[1-9]\d*m +\d+% +[1-9]\d*Mi +\d+%\s*\n$/);
    const containers = (await run('top', 'pod', 'web', '--containers')).trimEnd().split('\n').slice(1);
    expect(containers.toSorted()).toEqual([
      expect.stringMatching(/^web +main +\d+m +\d+Mi/),
      expect.stringMatching(/^web +side +\d+m +\d+Mi/),
    ]);
  });
});

// kubectl 1.20 uses an ephemeral containers API that no longer exists.
describe('kubectl of sid', () => {
  const { kubectl, run, runInteractive } = kubectlOf('sid');

  test('debug adds a container to a pod that sees its processes', async () => {
    const image = '--image=statelet.local/busybox:1';
    const options = ['debug', 'web', image, '--target=main', '--profile=general', '-i', '-c', 'debugger'];
    const looks = ['--', 'sh', '-c', 'read -r line; echo "$line"; cat /proc/1/cmdline | tr "\\0" " "'];
    const output = await runInteractive([...options, ...looks], 'hello\n');
    expect(output).toEqual({ code: 0, out: expect.stringMatching(/hello\nsh -c for i in 1 2 3/) });
    const child = kubectl.startInTerminal(['--namespace', 'sid', 'debug', '-it', 'twin', image, '--', 'sh'], [31, 71]);
    let out = '';
    child.stdout.on('data', (data) => (out += String(data)));
    const ended = once(child, 'close');
    await eventually('it has a terminal', () => {
      child.stdin.write('stty size\n');
      return out.includes('31 71');
    });
    child.stdin.write('exit\n');
    await ended;
    // The API server receives the status up to ten seconds after kubectl has seen the process exit.
    const seen = await eventually('the status of the debugger shows its end', async () => {
      const [status] = JSON.parse(await run('get', 'pod', 'web', '-o', 'json')).status.ephemeralContainerStatuses;
      return status.state.terminated && status;
    });
    expect(seen).toMatchObject({ name: 'debugger', state: { terminated: { exitCode: 0, reason: 'Completed' } } });
  });

  test('debug of a node creates a pod in the host namespaces with the host files', async () => {
    const args = ['debug', 'node/node', '-i', '--image=statelet.local/busybox:1', '--profile=sysadmin', '--'];
    const looks = ['sh', '-c', 'read -r line; echo "$line"; ls /host/etc/hostname; hostname'];
    const { code, out } = await runInteractive([...args, ...looks], 'hello\n');
    expect(code).toBe(0);
    expect(out).toContain(`hello\n/host/etc/hostname\n${hostname()}\n`);
  });
});

/** Returns the path of the terminal that the only child of a process uses. */
async function terminalOf(pid: number): Promise<string | undefined> {
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
  const terminal = await readlink(`/proc/${child}/fd/0`);
  return terminal.startsWith('/dev/pts/') ? terminal : undefined;
}

const execute = promisify(execFile);

/** Resizes a terminal, which sends SIGWINCH to its foreground process. */
const resize = (terminal: string, rows: number, columns: number) =>
  execute('stty', ['-F', terminal, 'rows', String(rows), 'cols', String(columns)]);

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/**
 * Opens a connection and waits until the echo server has accepted it. The nc of busybox has a backlog of two, and
 * further pending connections may be refused.
 */
async function openEcho(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write('?');
  await once(socket, 'data');
  return socket;
}

/**
 * Sends data, and returns the echo without closing the connection. After a half-close, the containerd of Debian 12
 * waits only one second for the response, which is too short for many connections on a busy machine.
 */
async function echoOf(socket: Socket, data: Buffer): Promise<Buffer> {
  const parts: Buffer[] = [];
  socket.write(data);
  let left = data.length;
  for await (const part of socket) {
    parts.push(part);
    left -= part.length;
    if (left <= 0) break;
  }
  return Buffer.concat(parts);
}

/** Sends data, half-closes the connection, and returns everything that arrives until the server closes it. */
async function answerTo(port: number, data: Buffer): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.end(data);
  return await buffer(socket);
}
