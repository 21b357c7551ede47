import { once } from 'node:events';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import { agentClient } from '../../socket/client.ts';
import { serveSocket } from '../../socket/socket.ts';
import { MAX_UNREAD_BYTES } from '../../socket/watch.ts';
import { backOff, NOW, podView, running, sandbox } from '../kubernetes/views.ts';
import { pod, servedToEachTest } from './served.ts';

const served = servedToEachTest();

const client = () => agentClient(served.socket.path);

describe('reading', () => {
  test('lists all pods as a PodList with full status', async () => {
    expect(await client().json('/api/v1/pods')).toMatchObject({
      apiVersion: 'v1',
      kind: 'PodList',
      items: [{ kind: 'Pod', metadata: { name: 'web-host' }, status: { phase: 'Running', podIP: '10.1.0.2' } }, {}],
    });
  });

  test('returns a pod by namespace and name', async () => {
    expect(await client().json('/api/v1/namespaces/default/pods/db-host')).toMatchObject({
      metadata: { name: 'db-host' },
    });
  });

  test.each([
    ['/api/v1/namespaces/other/pods/db-host', 'pods "db-host" not found'],
    ['/explain/pods/none', 'pods "none" not found'],
    ['/nothing', 'nothing found at /nothing'],
  ])('fails with a Kubernetes NotFound for %s', async (path, message) => {
    await expect(client().json(path)).rejects.toMatchObject({ reason: 'NotFound', message });
  });

  test('returns a pod with its log directories by UID', async () => {
    expect(await client().json('/places/uids/uid-db-host')).toMatchObject({
      pod: { metadata: { name: 'db-host' }, status: { phase: 'Running' } },
      podLogs: '/var/log/pods',
      logs: '/var/log/pods/default_db-host_uid-db-host',
    });
    await expect(client().json('/places/uids/db-host')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('a path that cannot be decoded is a bad request', async () => {
    await expect(client().json('/explain/pods/%E0%A4%A')).rejects.toMatchObject({ reason: 'BadRequest' });
  });

  test('returns the node', async () => {
    expect(await client().json('/node')).toMatchObject({ name: 'host', state: 'running', simulated: false });
  });

  test('explains the node, with or without its name', async () => {
    expect(await client().json('/explain/node')).toMatchObject({ name: 'host', node: { state: 'running' } });
    expect(await client().text('/explain/nodes/host')).toMatch(/^node host /);
    await expect(client().json('/explain/node/other')).rejects.toMatchObject({ message: 'nodes "other" not found' });
  });

  test('predicts evictions in the explanation of the node', async () => {
    const path = '/explain/node?if=memory.available%3D50Mi';
    expect(await client().json(path)).toMatchObject({ eviction: ['this node evicts no pods'] });
    expect(await client().json('/explain/node')).not.toHaveProperty('eviction');
    const thresholds = [{ signal: 'memory.available', value: '100Mi', graceMs: 0 }];
    const figures = { thresholds, layout: 'single', observations: {}, usages: {} };
    Object.assign(served.agent, { evictionFigures: async () => figures });
    expect(await client().text(path)).toContain('if memory.available were 50Mi, which is below 100Mi, ');
    expect(await client().text('/explain/node')).toContain('memory.available: ');
    Object.assign(served.agent, { evictionFigures: () => Promise.reject(new Error('no figures')) });
    expect(await client().json(path)).toMatchObject({ eviction: ['evictions cannot be predicted: no figures'] });
  });

  test.each([
    'memory',
    'memory.available',
    'memory.available=',
    'memory.available=-1',
    'mem.available=1',
    'pid.available=1=2',
  ])('rejects %s as a hypothetical shortage', async (shortage) => {
    const path = `/explain/node?${new URLSearchParams({ if: shortage })}`;
    await expect(client().json(path)).rejects.toMatchObject({
      reason: 'BadRequest',
      message: expect.stringContaining('expected a signal and a quantity such as memory.available=50Mi'),
    });
  });

  test('explains a pod by its full name or the name in its manifest, as data or text', async () => {
    expect(await client().json('/explain/pods/web-host')).toMatchObject({ name: 'web-host', phase: 'Running' });
    expect(await client().text('/explain/pods/web')).toMatch(/^default\/web-host {2}Running/);
  });

  test('explains one of several pods with the same name by its namespace', async () => {
    const meta = { name: 'web-host', namespace: 'shop', uid: 's' };
    served.agent.show(podView({ main: { web: running() }, meta, spec: { nodeName: 'host' } }));
    expect(await client().json('/explain/namespaces/shop/pods/web')).toMatchObject({ namespace: 'shop', uid: 's' });
    expect(await client().json('/explain/namespaces/default/pods/web-host')).toMatchObject({ namespace: 'default' });
    await expect(client().json('/explain/pods/web')).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'ambiguous: default/web-host and shop/web-host: choose one with -n, --namespace',
    });
    await expect(client().json('/explain/namespaces/none/pods/web')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('explains one of two pods with the same full name by its UID', async () => {
    const twin = (uid: string) =>
      podView({ main: { web: running() }, meta: { name: 'twin-host', uid }, spec: { nodeName: 'host' } });
    served.agent.show(twin('t1'));
    served.agent.show(twin('t2'));
    await expect(client().json('/explain/pods/twin')).rejects.toMatchObject({
      reason: 'BadRequest',
      message:
        'ambiguous: there are 2 pods default/twin-host: choose one by its UID, pod/t1 (Running) or pod/t2 (Running)',
    });
    expect(await client().json('/explain/pods/t2')).toMatchObject({ name: 'twin-host', uid: 't2' });
    expect(await client().json('/explain/namespaces/default/pods/t1')).toMatchObject({ uid: 't1' });
  });

  test('explains a pod whose UID is the name of another pod', async () => {
    served.agent.show(podView({ main: { web: running() }, meta: { name: 'other-host', uid: 'web-host' } }));
    expect(await client().json('/explain/uids/web-host')).toMatchObject({ name: 'other-host', uid: 'web-host' });
    expect(await client().json('/explain/pods/web-host')).toMatchObject({ name: 'web-host' });
    await expect(client().json('/explain/uids/none')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  const problems = [
    { file: '/etc/pods/10-web.yaml', path: 'spec.containers[0].image', message: 'Required value' },
    { file: '/etc/pods/new.yaml', path: '', message: 'expected a map, got a list' },
  ];

  test('explains a pod that runs its last valid manifest with the problems of the current one', async () => {
    served.agent.become({ problems });
    expect(await client().json('/explain/pods/web')).toMatchObject({
      manifestProblems: ['/etc/pods/10-web.yaml: spec.containers[0].image: Required value'],
    });
    expect(await client().text('/explain/pods/web')).toContain(
      '  its manifest has changed, but cannot be used:\n    /etc/pods/10-web.yaml: spec.containers[0].image: Required value\n',
    );
    expect(await client().text('/explain/pods/db')).not.toContain('manifest');
  });

  test.each([
    ['new', 'pods "new" not found; its manifest was rejected: /etc/pods/new.yaml: expected a map, got a list'],
    [
      'new-host',
      'pods "new-host" not found; its manifest was rejected: /etc/pods/new.yaml: expected a map, got a list',
    ],
    ['wob', 'pods "wob" not found; did you mean web?'],
    ['entirely-other', 'pods "entirely-other" not found'],
  ])('reports the rejected manifest or a similar name for %s, which does not exist', async (name, message) => {
    served.agent.become({ problems });
    await expect(client().json(`/explain/pods/${name}`)).rejects.toMatchObject({ reason: 'NotFound', message });
  });

  test('finds a rejected manifest by the pod name in it, and says until when it is not used', async () => {
    const refusal = { file: '/etc/pods/x.yaml', path: 'spec.a', message: 'wrong', pod: 'default/mine-host' };
    served.agent.become({ problems: [{ ...refusal, until: 'the file changes' }] });
    await expect(client().json('/explain/pods/mine')).rejects.toMatchObject({
      message:
        'pods "mine" not found; its manifest was rejected: /etc/pods/x.yaml: spec.a: wrong (not used until the file changes)',
    });
  });

  test('includes the warnings about the manifest of a pod', async () => {
    const odd = { file: '/etc/pods/x.yaml', path: 'spec.imge', message: 'unknown field', pod: 'default/web-host' };
    served.agent.become({ warnings: [odd, { ...odd, pod: 'default/db-host' }] });
    expect(await client().text('/explain/pods/web')).toContain(
      '  warnings about its manifest:\n    /etc/pods/x.yaml: spec.imge: unknown field\n',
    );
  });

  test('includes every rejected manifest and all manifest warnings in the explanation of the node', async () => {
    const refusals = Array.from({ length: 12 }, (_, index) => ({
      file: `/etc/pods/${index}.yaml`,
      path: 'spec.a',
      message: 'wrong',
      until: 'the file changes',
    }));
    served.agent.become({
      problems: refusals,
      warnings: [{ file: '/etc/more', path: '', message: 'no such directory' }],
    });
    const sentences = refusals.map(({ file }) => `${file}: spec.a: wrong (not used until the file changes)`);
    expect(await client().json('/explain/node')).toMatchObject({
      manifestProblems: sentences,
      manifestWarnings: ['/etc/more: no such directory'],
    });
    const text = await client().text('/explain/node');
    expect(text).toContain(`  rejected manifests:\n${sentences.map((line) => `    ${line}\n`).join('')}`);
    expect(text).toContain('  warnings about manifests:\n    /etc/more: no such directory\n');
  });

  test('reports the problem of a manifest on one line, whatever its file name', async () => {
    const file = '/etc/pods/a\n  0 manifests\x1b[2J.yaml';
    served.agent.become({ problems: [{ file, path: 'spec.a', message: 'wrong' }] });
    const sentence = '/etc/pods/a\\n  0 manifests^[[2J.yaml: spec.a: wrong';
    expect(await client().json('/explain/node')).toMatchObject({ manifestProblems: [sentence] });
  });

  test('does not attribute a rejected manifest to a pod with the same name in another namespace, and suggests the right namespace', async () => {
    served.agent.become({ problems: [{ file: '/x.yaml', path: '', message: 'wrong', pod: 'shop/web-host' }] });
    expect(await client().json('/explain/pods/web')).not.toHaveProperty('manifestProblems');
    await expect(client().json('/explain/namespaces/none/pods/web')).rejects.toMatchObject({
      message: 'pods "web" not found; did you mean the one in namespace default?',
    });
  });

  test('marks the explanation on a simulated runtime', async () => {
    served.agent.become({ simulated: true });
    expect(await client().text('/explain/pods/web')).toMatch(/^SIMULATED runtime/);
  });

  test('rejects requests that would change something', async () => {
    const answer = await fetchRaw('DELETE /api/v1/pods HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 405 /);
    expect(answer).toContain('"reason":"MethodNotAllowed"');
  });
});

function fetchRaw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const raw = connect(served.socket.path, () => raw.write(request));
    raw.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    raw.on('end', () => resolve(answer)).on('error', reject);
  });
}

describe('watching', () => {
  interface Event {
    type: string;
    object: { metadata: { name: string }; status: { phase: string } };
  }

  async function* events(signal: AbortSignal): AsyncGenerator<[string, string]> {
    for await (const line of await client().watch('/api/v1/pods', signal)) {
      // The agent under test wrote this line, so it is an event.
      const { type, object } = line as Event;
      yield [type, object.metadata.name];
    }
  }

  const take = async (from: AsyncGenerator<[string, string]>, count: number) => {
    const taken: [string, string][] = [];
    while (taken.length < count) taken.push((await from.next()).value);
    return taken;
  };

  test('sends all pods as ADDED first, and then every change at once', async () => {
    const end = new AbortController();
    const stream = events(end.signal);
    expect(await take(stream, 2)).toEqual([
      ['ADDED', 'web-host'],
      ['ADDED', 'db-host'],
    ]);
    served.agent.show(pod('new-host'));
    served.agent.show(pod('web-host', { sandbox: sandbox('10.1.0.9') }));
    served.agent.remove(pod('db-host'));
    expect(await take(stream, 3)).toEqual([
      ['ADDED', 'new-host'],
      ['MODIFIED', 'web-host'],
      ['DELETED', 'db-host'],
    ]);
    end.abort();
    expect((await stream.next()).done).toBe(true);
  });

  test('sends no event if a change of an actor leaves the pod unchanged', async () => {
    const end = new AbortController();
    const stream = events(end.signal);
    await take(stream, 2);
    served.agent.show(pod('web-host', { state: 'running.elsewhere' }));
    served.agent.show(pod('last-host'));
    expect(await take(stream, 1)).toEqual([['ADDED', 'last-host']]);
    end.abort();
  });

  test('subscribes to the agent only while a client is connected', async () => {
    expect(served.agent.subscribers()).toBe(0);
    const [one, two] = [new AbortController(), new AbortController()];
    const streams = [events(one.signal), events(two.signal)];
    await Promise.all(streams.map((stream) => take(stream, 2)));
    expect(served.agent.subscribers()).toBe(1);
    one.abort();
    two.abort();
    await Promise.all(streams.map((stream) => stream.next()));
    await until(() => served.agent.subscribers() === 0);
  });

  test('disconnects a client that does not read with a Status 410, and frees its buffer', async () => {
    const end = new AbortController();
    const reader = events(end.signal);
    await take(reader, 2);
    const slow = connect(served.socket.path);
    slow.write('GET /api/v1/pods?watch=true HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => slow.once('readable', resolve));
    const note = 'x'.repeat(256 * 1024);
    const rounds = (3 * MAX_UNREAD_BYTES) / note.length;
    for (let round = 0; round < rounds; round++) {
      served.agent.show(pod('big-host', {}, { note: `${round}${note}` }));
      await take(reader, 1);
    }
    let [length, tail] = [0, ''];
    slow.setEncoding('utf8').on('data', (text: string) => {
      length += text.length;
      tail = (tail + text).slice(-400);
    });
    await new Promise((resolve) => slow.once('close', resolve));
    expect(length).toBeLessThan(2 * MAX_UNREAD_BYTES);
    expect(tail).toContain('"type":"ERROR","object":{"kind":"Status"');
    expect(tail).toContain('"code":410');
    served.agent.show(pod('after-host'));
    expect(await take(reader, 1)).toEqual([['ADDED', 'after-host']]);
    end.abort();
  });

  test('ends when the socket is closed', async () => {
    const stream = events(new AbortController().signal);
    await take(stream, 2);
    await served.socket.close();
    expect((await stream.next()).done).toBe(true);
    served.socket = await serveSocket({ path: served.socket.path, agent: served.agent });
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('the socket itself', () => {
  test('is accessible only to its owner', async () => {
    expect((await stat(served.socket.path)).mode & 0o777).toBe(0o600);
  });

  test('does not replace a file that is not a socket, and reports it', async () => {
    const path = join(served.directory, 'theirs.sock');
    await writeFile(path, 'somebody wrote this');
    await expect(serveSocket({ path, agent: served.agent })).rejects.toThrow(`${path} exists and is not a socket`);
    expect(await readFile(path, 'utf8')).toBe('somebody wrote this');
  });

  test('rejects a path on which another agent is listening', async () => {
    await expect(serveSocket({ path: served.socket.path, agent: served.agent })).rejects.toThrow(
      `another agent is listening on ${served.socket.path}`,
    );
    expect(await client().json('/node')).toMatchObject({ name: 'host' });
  });

  test('replaces a stale socket', async () => {
    const path = join(served.directory, 'stale.sock');
    const former = createServer().listen(join(served.directory, 'former.sock'));
    await once(former, 'listening');
    await rename(join(served.directory, 'former.sock'), path);
    former.close();
    const again = await serveSocket({ path, agent: served.agent });
    expect(await agentClient(path).json('/node')).toMatchObject({ name: 'host' });
    await again.close();
  });

  test('rejects a path that is too long for a unix socket, and names the limit', async () => {
    const path = `/tmp/${'d'.repeat(99)}/s.sock`;
    await expect(serveSocket({ path, agent: served.agent })).rejects.toThrow(
      `the socket path ${path} has 111 bytes, but the limit for a unix socket is 107: use a shorter root directory`,
    );
  });

  test('accepts the longest path that the kernel supports', async () => {
    const path = join(served.directory, 's'.repeat(107 - served.directory.length - 1));
    const longest = await serveSocket({ path, agent: served.agent });
    expect(await agentClient(path).json('/node')).toMatchObject({ name: 'host' });
    await longest.close();
  });

  test('is removed when it is closed', async () => {
    await served.socket.close();
    await expect(readFile(served.socket.path)).rejects.toMatchObject({ code: 'ENOENT' });
    served.socket = await serveSocket({ path: served.socket.path, agent: served.agent });
  });
});

test('the explanation of a pod in back-off contains CrashLoopBackOff', async () => {
  served.agent.show(podView({ main: { web: backOff(1) }, meta: { name: 'crash-host', uid: 'c' } }));
  expect(await client().text('/explain/pods/crash-host')).toContain('CrashLoopBackOff');
});

describe('events', () => {
  const tell = (name: string, at = NOW) =>
    served.agent.record({
      ...recordedEvent(
        { kind: 'Pod', namespace: 'default', name, uid: `uid-${name}` },
        { reason: 'Started', message: 'Container started' },
      ),
      at,
    });

  test('are listed as an EventList, for all namespaces or for one', async () => {
    tell('web-host');
    const list = { apiVersion: 'v1', kind: 'EventList', items: [{ kind: 'Event', reason: 'Started', count: 1 }] };
    expect(await client().json('/api/v1/events')).toMatchObject(list);
    expect(await client().json('/api/v1/namespaces/default/events')).toMatchObject(list);
    expect(await client().json('/api/v1/namespaces/other/events')).toMatchObject({ items: [] });
  });

  test('are watched: the existing ones first, then each new or counted one', async () => {
    tell('web-host');
    const ending = new AbortController();
    const watch = await client().watch('/api/v1/events', ending.signal);
    const next = async () => (await watch.next()).value;
    expect(await next()).toMatchObject({ type: 'ADDED', object: { count: 1 } });
    tell('web-host');
    expect(await next()).toMatchObject({ type: 'MODIFIED', object: { count: 2 } });
    tell('db-host', NOW + 3_600_000);
    expect(await next()).toMatchObject({ type: 'ADDED', object: { involvedObject: { name: 'db-host' } } });
    expect(await next()).toMatchObject({ type: 'DELETED', object: { involvedObject: { name: 'web-host' } } });
    ending.abort();
  });
});
