/** Streams of a node on a real containerd, as kubectl receives them through an API server. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { systemClock } from '../../base/time/clock.ts';
import { StreamSessions } from '../../kubelet-api/sessions.ts';
import { streamingRoutes } from '../../kubelet-api/streaming/routes.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { ApiServer } from '../../testing/apiserver/apiServer.ts';
import { Authority } from '../../testing/apiserver/serving/authority.ts';
import { servedRoutes } from '../fakes/serving/relay/served.ts';
import { podView, running, seenPod } from '../kubernetes/views.ts';
import { startTestContainerd } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl, type Release } from './support/kubectl.ts';
import { runRawPod } from './support/rawPod.ts';

const UID = 'u-web';

/** Serves a file on a port, and echoes the lines of its input. */
const SERVES =
  'mkdir /www; echo served >/www/index.html; httpd -p 8080 -h /www; while read -r l; do echo "got $l"; done';

/** Starts a node that consists only of its streaming endpoints behind TLS, and the API server that knows it. */
async function startRelay() {
  const node = await startTestContainerd();
  const ends = [() => node.end()];
  const end = async () => {
    for (const each of ends.reverse()) await each();
  };
  try {
    const raw = await runRawPod(node.cri, {
      name: 'web',
      uid: UID,
      cgroupParent: '/relay',
      command: ['sh', '-c', `${SERVES}; sleep 1000000`],
      labels: { 'io.kubernetes.pod.uid': UID },
    });
    const server = await ApiServer.start(systemClock);
    const served = await server.serve();
    ends.push(
      () => served.close(),
      async () => server.close(),
    );
    const kubeconfig = join(node.directory, 'admin.kubeconfig');
    await writeFile(kubeconfig, served.kubeconfig());
    const [{ cluster }] = JSON.parse(served.kubeconfig()).clusters;
    const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
    const sessions = new StreamSessions();
    const parts = { pods: () => [podOf(raw.containerId)], cri: node.cri, clock: systemClock, sessions };
    const tls = { ...new Authority().issue({ name: 'node', groups: [] }), ca };
    const routes = await servedRoutes(streamingRoutes(parts), tls);
    ends.push(routes.close);
    await layOut(server, routes.port);
    const [{ user }] = JSON.parse(served.kubeconfig()).users;
    const [key, cert] = ['client-key-data', 'client-certificate-data'].map((each) => Buffer.from(user[each], 'base64'));
    return { node, server, kubeconfig, sessions, routes, raw, shown: { key, cert }, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function podOf(containerId: string): Pod {
  const meta = { name: 'web', namespace: 'default', uid: UID };
  return seenPod(podView({ main: { main: running({ containerId }) }, meta })).pod;
}

async function layOut(server: ApiServer, port: number): Promise<void> {
  await server.request('POST', '/api/v1/nodes', { metadata: { name: 'node' } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const merge = 'application/merge-patch+json';
  await server.request('PATCH', '/api/v1/nodes/node/status', { status }, merge);
  const pods = '/api/v1/namespaces/default/pods';
  await server.request('POST', pods, {
    metadata: { name: 'web' },
    spec: {
      nodeName: 'node',
      containers: [{ name: 'main', image: 'x', stdin: true }],
      automountServiceAccountToken: false,
    },
  });
  await server.request('PATCH', `${pods}/web/status`, { status: { phase: 'Running' } }, merge);
}

const it = await forAllTests(startRelay);

const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

describe.each<[string, Release, Record<string, string>]>([
  ['1.20, by SPDY', 'bookworm', {}],
  ['1.36, by WebSocket', 'sid', {}],
  ['1.36, by SPDY', 'sid', SPDY],
])('kubectl %s', (_, release, env) => {
  const kubectl = new Kubectl(release, { kubeconfig: it.kubeconfig, directory: it.node.directory });

  /** Runs a command with this input followed by EOF until it exits. */
  async function run(args: readonly string[], input?: string | Buffer) {
    const child = kubectl.start(args, env);
    child.stdin.on('error', () => {}).end(input);
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, out, err };
  }

  test('exec has two outputs and an exit code', async () => {
    const result = await run(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(result).toEqual({ code: 3, out: 'out\n', err: 'err\ncommand terminated with exit code 3\n' });
    expect(await run(['exec', 'web', '--', 'true'])).toEqual({ code: 0, out: '', err: '' });
  });

  test('exec -i receives all of its input, and EOF', async () => {
    const input = randomBytes(200 * 1024 * 1024);
    const sum = createHash('md5').update(input).digest('hex');
    expect(await run(['exec', '-i', 'web', '--', 'md5sum'], input)).toMatchObject({ code: 0, out: `${sum}  -\n` });
  }, 120_000);

  test('exec -it has a terminal of its own size', async () => {
    const script = 'sleep 1; stty size; test -t 0 && exit 4';
    const child = kubectl.startInTerminal(['exec', '-it', 'web', '--', 'sh', '-c', script], [33, 77], env);
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(out).toContain('33 77');
    expect(code).toBe(4);
  });

  test('cp copies files in both directions', async () => {
    const [file, back] = [join(it.node.directory, 'sent'), join(it.node.directory, `back-${release}`)];
    const content = randomBytes(20 * 1024 * 1024);
    await writeFile(file, content);
    expect(await run(['cp', file, 'web:/tmp/sent'])).toMatchObject({ code: 0 });
    expect(await run(['cp', 'web:/tmp/sent', back])).toMatchObject({ code: 0 });
    expect((await readFile(back)).equals(content)).toBe(true);
  }, 60_000);

  test('port-forward carries connections', async () => {
    const before = it.routes.asked.length;
    const child = kubectl.start(['port-forward', 'web', ':8080'], env);
    try {
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (data: string) => (output += data));
      await eventually('it listens', async () => /127\.0\.0\.1:(\d+)/.test(output));
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
      for (let times = 0; times < 3; times++) {
        const connection = connect(port, '127.0.0.1');
        connection.write('GET / HTTP/1.0\r\n\r\n');
        expect(await text(connection)).toMatch(/served\n$/);
      }
    } finally {
      // A second request would mean that kubectl fell back to a different protocol.
      expect(it.routes.asked.slice(before)).toHaveLength(1);
      child.kill();
      await once(child, 'close');
    }
  });

  test('reports an error of the node', async () => {
    const { code, err } = await run(['exec', 'web', '--', '/no/such/program']);
    expect(code).not.toBe(0);
    expect(err).toContain('no such file or directory');
  });
});

/** Requests a command from the node itself through a WebSocket. */
function webSocket(protocol: string, query: string): WebSocket {
  const url = `${it.routes.url.replace('https', 'wss')}/exec/default/web/main?${query}`;
  return new WebSocket(url, [protocol], { ...it.shown, rejectUnauthorized: false });
}

test.each([
  ['passed on as it is', 'v4.channel.k8s.io'],
  ['translated, because the runtime does not speak it', 'v5.channel.k8s.io'],
])('C41: a WebSocket is %s: %s', async (_, protocol) => {
  const socket = webSocket(protocol, 'output=1&command=echo&command=hello');
  const channels = new Map<number, string>();
  socket.on('message', (data: Buffer) => {
    const channel = data[0] ?? -1;
    channels.set(channel, `${channels.get(channel) ?? ''}${data.subarray(1)}`);
  });
  await once(socket, 'close');
  expect(channels.get(1)).toBe('hello\n');
  expect(JSON.parse(channels.get(3) ?? '')).toEqual({ metadata: {}, status: 'Success' });
});

afterAll(() => expect(it.routes.failures).toEqual([]));

test('no session is left open', async () => {
  await eventually('all are over', async () => it.sessions.open.length === 0);
});
