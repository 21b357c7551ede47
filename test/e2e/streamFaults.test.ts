/** Clients of a node's own API with real containers: many of them, killed ones, and clients during failures. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { connectCri } from '../../cri/client/connectCri.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { testCluster } from './support/cluster.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { isContainerd2 } from './support/runtimes.ts';

const config = ['containerLogMaxSize: 64Ki', 'containerLogMonitorInterval: 3s'];
const cluster = await forAllTests(() => testCluster({ config }));
const { node, server, kubeconfig } = cluster;
let agent = cluster.agent;
const kubectl = new Kubectl('sid', { kubeconfig, directory: node.directory });

/** Prints numbered lines, about 100 KiB/s. */
const COUNTS = `i=0; while :; do i=$((i+1)); echo "$i ${'x'.repeat(200)}"; [ $((i % 50)) = 0 ] && sleep 0.1; done`;
/** Pods for many commands. A hundred commands in one container are more than its shim can handle. */
const BUSY = ['busy', 'busy-1', 'busy-2', 'busy-3'];
const EACH = 25;
/** Number of commands that are started in parallel in a container. */
const AT_A_TIME = 5;

beforeAll(async () => {
  await cluster.addNamespace('made');
  const spec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 };
  const scripts = new Map([...BUSY, 'flooding'].map((name) => [name, steadily()]));
  for (const [name, script] of scripts.set('counting', COUNTS))
    await server.request(
      'POST',
      '/api/v1/namespaces/default/pods',
      JSON.parse(JSON.stringify(podManifest(name, [shell('main', script)], spec))),
    );
  for (const name of scripts.keys()) await kubectl.run('wait', '--for=condition=Ready', '--timeout=50s', `pod/${name}`);
});

/** Returns the address of the node's API, and the credentials of an administrator. */
async function nodeEndpoint() {
  const { users } = JSON.parse(await readFile(kubeconfig, 'utf8'));
  const [key, cert] = ['client-key-data', 'client-certificate-data'].map((each) =>
    Buffer.from(users[0].user[each], 'base64'),
  );
  const port = Number(
    await kubectl.run('get', 'node', 'node', '-o', 'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}'),
  );
  return { host: '127.0.0.1', port, key, cert, rejectUnauthorized: false };
}

type Endpoint = Awaited<ReturnType<typeof nodeEndpoint>>;

/** Sends one request, and returns the status code and body of the response. */
async function sendRequest(endpoint: Endpoint, path: string) {
  const agent = new Agent({ keepAlive: false });
  const [response] = await once(request({ ...endpoint, path, agent }).end(), 'response');
  return { code: Number(response.statusCode), body: await text(response) };
}

/** Runs a command over a WebSocket of its own. */
async function command({ host, port, ...shown }: Endpoint, query: string, pod = 'busy'): Promise<WebSocket> {
  const socket = new WebSocket(`wss://${host}:${port}/exec/default/${pod}/main?${query}`, ['v4.channel.k8s.io'], shown);
  await once(socket, 'open');
  return socket;
}

/** Returns the resident memory of the agent in MiB. */
async function memory(): Promise<number> {
  const status = await readFile(`/proc/${agent.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Runs `EACH` commands in each of the busy pods. */
async function commands(endpoint: Endpoint, query: string): Promise<WebSocket[]> {
  const inEach = BUSY.map(async (pod) => {
    const opened: WebSocket[] = [];
    while (opened.length < EACH) {
      const some = Array.from({ length: AT_A_TIME }, () => command(endpoint, query, pod));
      opened.push(...(await Promise.all(some)));
    }
    return opened;
  });
  return (await Promise.all(inEach)).flat();
}

/** Returns the number of processes with this name in the container of a pod. */
const processes = async (name: string, pod = 'busy') => {
  const processList = await kubectl.run('exec', pod, '--', 'ps', '-o', 'comm');
  return processList.split('\n').filter((each) => each === name).length;
};

/** Starts a command at the runtime's own streaming server, and disconnects. */
async function abortExecAtRuntime(...cmd: readonly string[]): Promise<void> {
  const runtimeEndpoint = `unix://${layoutOf(node.containerdDirectory).socket}`;
  const cri = connectCri({ runtimeEndpoint, requestTimeoutMs: 30_000 });
  try {
    const pod = JSON.parse(await kubectl.run('get', 'pod', 'busy', '-o', 'json'));
    const containerId = String(pod.status.containerStatuses[0].containerID).replace('containerd://', '');
    const streams = { stdin: false, stdout: true, stderr: false, tty: false };
    const { url } = await cri.exec({ containerId, cmd: [...cmd], ...streams }, { signal: noAbort });
    const socket = new WebSocket(url.replace(/^http/, 'ws'), ['v4.channel.k8s.io']);
    await once(socket, 'message');
    socket.terminate();
  } finally {
    cri.close();
  }
}

/** More data than all buffers between a command and its client can hold. */
const FLOOD = ['head', '-c', '50000000', '/dev/zero'].map((word) => `command=${encodeURIComponent(word)}`).join('&');

test('a hundred sessions run at once with little memory, and killed clients leave nothing behind', async () => {
  const endpoint = await nodeEndpoint();
  const before = await memory();
  const echoing = await commands(endpoint, 'input=1&output=1&command=cat');
  expect(echoing).toHaveLength(100);
  const sent = Buffer.concat([Buffer.of(0), Buffer.from('here and back\n')]);
  const back = echoing.map(async (socket) => {
    for (;;) {
      const [data] = await once(socket, 'message');
      if (data.length > 1) return String(data.subarray(1));
    }
  });
  for (const socket of echoing) socket.send(sent);
  expect(new Set(await Promise.all(back))).toEqual(new Set(['here and back\n']));
  for (const pod of BUSY) expect(await processes('cat', pod)).toBe(EACH);
  // Nobody reads the output of these commands.
  const flooding = await Promise.all(
    Array.from({ length: 10 }, () => command(endpoint, `output=1&${FLOOD}`, 'flooding')),
  );
  for (const socket of flooding) socket.pause();
  expect((await sendRequest(endpoint, '/healthz')).body).toBe('ok');
  const during = await memory();
  expect(during - before).toBeLessThan(120);
  for (const socket of [...echoing, ...flooding]) socket.terminate();
  for (const pod of BUSY)
    await eventually('no command is left that reads', async () => (await processes('cat', pod)) === 0);
}, 120_000);

test('a command that only writes outlives its client on containerd 1 only, as with a direct client of the runtime', async () => {
  const query = ['watch', 'true'].map((word) => `command=${word}`).join('&');
  const socket = await command(await nodeEndpoint(), `output=1&${query}`);
  await once(socket, 'message');
  socket.terminate();
  await abortExecAtRuntime('watch', 'true');
  if (isContainerd2) await eventually('both commands end', async () => (await processes('watch')) === 0);
  else expect(await processes('watch')).toBe(2);
}, 60_000);

test('killing kubectl terminates its command that reads input', async () => {
  const child = kubectl.start(['exec', '-i', 'busy', '--', 'cat']);
  child.stdin.write('hello\n');
  await once(child.stdout, 'data');
  expect(await processes('cat')).toBe(1);
  child.kill('SIGKILL');
  await eventually('the command ends', async () => (await processes('cat')) === 0);
});

test('a thousand idle connections exclude no other client, and cost little memory', async () => {
  const endpoint = await nodeEndpoint();
  const before = await memory();
  const sockets: TLSSocket[] = [];
  try {
    for (let count = 0; count < 1_000; count += 100) {
      const some = Array.from({ length: 100 }, () =>
        connect({ ...endpoint, key: undefined, cert: undefined }).on('error', () => {}),
      );
      sockets.push(...some);
      await Promise.all(some.map((socket) => once(socket, 'secureConnect')));
    }
    expect((await sendRequest(endpoint, '/healthz')).code).toBe(200);
    expect(await kubectl.run('exec', 'busy', '--', 'echo', 'served')).toBe('served\n');
    expect((await memory()) - before).toBeLessThan(120);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}, 120_000);

test('a followed log has no gap across its rotation', async () => {
  const child = kubectl.start(['logs', '--follow', 'counting']);
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  const pod = (await readdir(node.podLogs)).find((each) => each.includes('_counting_')) ?? '';
  const files = () => readdir(join(node.podLogs, pod, 'main'));
  try {
    await eventually('it is followed', () => output.length > 0);
    const before = new Set(await files());
    await eventually(
      'it is rotated twice',
      async () => (await files()).filter((each) => !before.has(each)).length >= 2,
    );
    const then = output.length;
    await eventually('it goes on', () => output.length > then + 100_000);
  } finally {
    child.kill('SIGKILL');
  }
  const numbers = output
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split(' ')[0]));
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_, index) => first + index));
}, 60_000);

test('while the API server is down only cached access decisions apply', async () => {
  const endpoint = await nodeEndpoint();
  expect((await sendRequest(endpoint, '/pods')).code).toBe(200);
  await cluster.stopServing();
  try {
    expect((await sendRequest(endpoint, '/pods')).code).toBe(200);
    expect((await sendRequest(endpoint, '/containerLogs/default/none/main')).code).toBe(404);
    const { code, body } = await sendRequest(endpoint, '/statusz');
    expect([code, body]).toEqual([
      500,
      expect.stringMatching(/^Authorization error \(user=kubernetes-admin, verb=get, /),
    ]);
  } finally {
    await cluster.serveAgain();
  }
  await eventually('it is asked again', async () => (await sendRequest(endpoint, '/statusz')).code === 200);
}, 120_000);

test('a killed runtime ends its sessions, and new ones work once it is back', async () => {
  const session = kubectl.start(['exec', '-i', 'busy', '--', 'sh', '-c', 'echo begun; cat']);
  await once(session.stdout, 'data');
  const pid = Number(await readFile(join(node.containerdDirectory, 'containerd.pid'), 'utf8'));
  process.kill(pid, 'SIGKILL');
  expect((await once(session, 'close'))[0]).not.toBe(0);
  const endpoint = await nodeEndpoint();
  const { code, body } = await sendRequest(endpoint, '/exec/default/busy/main?output=1&command=true');
  // containerd may have restarted already.
  if (!body.startsWith('Upgrade'))
    expect([code, body]).toEqual([500, expect.stringMatching(/rpc error: code = Unavailable/)]);
  await eventually('a new session works', async () => {
    const { out } = await kubectl.tryRun('exec', 'busy', '--', 'echo', 'again');
    return out === 'again\n';
  });
}, 120_000);

test('a killed agent ends its sessions, and the next one serves new ones', async () => {
  const session = kubectl.start(['exec', '-i', 'busy', '--', 'sh', '-c', 'echo begun; cat']);
  await once(session.stdout, 'data');
  agent.kill('SIGKILL');
  expect((await once(session, 'close'))[0]).not.toBe(0);
  await agent.ended;
  const { code } = await kubectl.tryRun('exec', 'busy', '--', 'true');
  expect(code).not.toBe(0);
  agent = cluster.launch();
  await eventually('a new session works', async () => {
    agent.mustLive();
    return (await kubectl.tryRun('exec', 'busy', '--', 'echo', 'again')).out === 'again\n';
  });
}, 120_000);
