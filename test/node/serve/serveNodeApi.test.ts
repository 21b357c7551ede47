/** The API of a simulated node to clients over TLS. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../base/time/clock.ts';
import { Authority } from '../../../testing/apiserver/serving/authority.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { cluster } from '../../fakes/cluster.ts';
import { asked, atEnd, servedNode } from '../../fakes/serving/servedNode.ts';

test('without an API server, the API serves clients with its token, and its certificate file makes it trusted', async () => {
  const { directory, served, said } = await servedNode();
  await eventually('it is served', () => served.port() || undefined);
  const [tokenFile, ca] = [join(directory, 'statelet', 'server-token'), join(directory, 'pki', 'kubelet.crt')];
  expect(statSync(tokenFile).mode % 0o1000).toBe(0o600);
  const token = readFileSync(tokenFile, 'utf8').trim();
  const own = (more: RequestOptions = {}): RequestOptions => ({
    rejectUnauthorized: true,
    ca: readFileSync(ca),
    servername: 'localhost',
    ...more,
    headers: { authorization: `Bearer ${token}`, ...more.headers },
  });
  expect((await asked(served.port(), '/pods')).code).toBe(401);
  expect((await asked(served.port(), '/pods', { headers: { authorization: 'Bearer other' } })).code).toBe(401);
  expect(JSON.parse((await asked(served.port(), '/pods', own())).body).items).toHaveLength(1);
  expect((await asked(served.port(), '/healthz?verbose', own())).body).toBe(
    '[+]ping ok\n[+]log ok\n[+]syncloop ok\n[+]device-plugin ok\nhealthz check passed\n',
  );
  const { kubeletconfig } = JSON.parse((await asked(served.port(), '/configz', own())).body);
  expect(kubeletconfig).toMatchObject({ address: '127.0.0.1', syncFrequency: '1m0s' });
  expect((await asked(served.port(), '/statusz', own())).body).toMatch(
    /\nPaths: \/configz \/flagz \/healthz \/metrics\n$/,
  );
  expect(await asked(served.port(), '/containerLogs/default/none/main', own())).toMatchObject({
    code: 404,
    body: 'pod "none" does not exist',
  });
  expect(await asked(served.port(), '/exec/default/web-node-1/main?output=1&command=true', own())).toMatchObject({
    code: 500,
    body: expect.stringContaining('pgrade request required'),
  });
  const summary = JSON.parse((await asked(served.port(), '/stats/summary', own())).body);
  expect(summary).toMatchObject({ node: { nodeName: 'node-1' }, pods: [{ podRef: { name: 'web-node-1' }, cpu: {} }] });
  expect((await asked(served.port(), '/metrics/resource', own())).body).toContain(
    'container_start_time_seconds{container="main",namespace="default",pod="web-node-1"} ',
  );
  const upgraded = request({
    host: '127.0.0.1',
    port: served.port(),
    method: 'POST',
    agent: false,
    path: '/exec/default/web-node-1/main?output=1&command=true',
    ...own({
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    }),
  });
  upgraded.end();
  const [answer, socket] = await once(upgraded, 'upgrade');
  expect([answer.statusCode, answer.headers['x-stream-protocol-version']]).toEqual([101, 'v4.channel.k8s.io']);
  socket.destroy();
  const run = await asked(served.port(), '/run/default/web-node-1/main?cmd=echo%20hello', own({ method: 'POST' }));
  expect(run.code).toBe(200);
  expect(said.join()).not.toContain(token);
  // Without an API server no reviews are sent.
  expect(served.view()).toMatchObject({ port: served.port(), reviews: {} });
}, 60_000);

test('the API server of the cluster authorizes users, and no new users are accepted while it is down', async () => {
  const { client, api, transport } = cluster(systemClock);
  const authority = new Authority();
  const place = mkdtempSync(join(tmpdir(), 'ca-'));
  atEnd(() => rmSync(place, { recursive: true, force: true }));
  writeFileSync(join(place, 'ca.crt'), authority.cert);
  const joined = { reviewClient: client, followServing: () => {} };
  const flags = { '--client-ca-file': join(place, 'ca.crt'), '--address': '127.0.0.1' };
  const { served } = await servedNode({ cluster: joined, flags });
  const [admin, reader, nobody] = [
    authority.issue({ name: 'admin', groups: ['system:masters'] }),
    authority.issue({ name: 'reader', groups: [] }),
    authority.issue({ name: 'nobody', groups: [] }),
  ];
  api.grants.push({ to: 'reader', verbs: ['get'], resources: ['nodes/pods'] });
  const codes = async (who: RequestOptions) =>
    Promise.all(['/pods', '/configz', '/healthz'].map(async (path) => (await asked(served.port(), path, who)).code));
  expect(await codes(admin)).toEqual([200, 200, 200]);
  expect(await codes(reader)).toEqual([200, 403, 403]);
  expect(await codes({})).toEqual([401, 401, 401]);
  const forbidden = 'Forbidden (user=nobody, verb=get, resource=nodes, subresource(s)=[pods proxy])\n';
  expect(await asked(served.port(), '/pods', nobody)).toMatchObject({ code: 403, body: forbidden });
  expect(served.view()).toMatchObject({ reviews: { access: { requested: 9, failed: 0 } }, sessions: [] });
  transport.isAway = true;
  expect(await codes(reader)).toEqual([200, 403, 403]);
  const late = await asked(served.port(), '/logs/', reader);
  expect(late).toMatchObject({ code: 500, body: expect.stringMatching(/^Authorization error \(user=reader, /) });
  expect(served.view()?.reviews).toMatchObject({ access: { failed: 1, failingSince: expect.any(Number) } });
}, 60_000);

test('a port in use fails the start of a node in a cluster, and is retried by a node without one', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const port = String(Object(holder.address()).port);
  const { client } = cluster(systemClock);
  const flags = { '--port': port, '--address': '127.0.0.1' };
  const joined = { reviewClient: client, followServing: () => {} };
  const taken = `127.0.0.1:${port} is in use by another process`;
  await expect(servedNode({ cluster: joined, flags })).rejects.toThrow(taken);
  const { served, said } = await servedNode({ flags });
  await eventually('it says so', () => said.some((each) => each.includes(taken)) || undefined);
  expect(served.view()).toMatchObject({ port: 0, lastFailure: { message: expect.stringContaining('in use') } });
  holder.close();
  await eventually('it is served', () => served.port() || undefined);
}, 60_000);

test('health checks have their own port, and read-only data another one, if they are configured', async () => {
  const ports: string[] = [];
  for (let each = 0; each < 2; each += 1) {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    ports.push(String(Object(free.address()).port));
    free.close();
    await once(free, 'close');
  }
  const [healthz = '', readOnly = ''] = ports;
  await servedNode({ flags: { '--healthz-port': healthz, '--read-only-port': readOnly } });
  const get = async (port: string, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return `${answer.status} ${(await answer.text()).trim().slice(0, 28)}`;
  };
  await eventually('it tells', () => get(healthz, '/healthz').catch(() => undefined));
  expect(await get(healthz, '/healthz?verbose')).toBe('200 [+]ping ok\nhealthz check pas');
  expect(await get(healthz, '/pods')).toBe('404 404 page not found');
  expect(await get(readOnly, '/pods')).toBe('200 {"kind":"PodList","apiVersio');
  expect(await get(readOnly, '/metrics/cadvisor')).toBe('200 # HELP cadvisor_version_info');
  expect(await get(readOnly, '/configz')).toBe('404 404 page not found');
  expect(await get(readOnly, '/containerLogs/a/b/c')).toBe('405 Debug endpoints are disabled');
}, 60_000);

/** Returns a function that writes the file of the node's own token. */
const writeToken = (text: string) => (rootDirectory: string) => {
  mkdirSync(join(rootDirectory, 'statelet'));
  writeFileSync(join(rootDirectory, 'statelet', 'server-token'), text, { mode: 0o600 });
};

test.each(['', 'a', 'a'.repeat(31), `${'a'.repeat(40)} b`, '\0'.repeat(44)])(
  'a damaged server token such as %j is reported with its file and replaced',
  async (text) => {
    const { directory, served, said } = await servedNode({ prepare: writeToken(text) });
    await eventually('it is served', () => served.port() || undefined);
    const file = join(directory, 'statelet', 'server-token');
    expect(said).toContainEqual(expect.stringContaining(`the token of the node's API in ${file} was damaged`));
    const token = readFileSync(file, 'utf8').trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(
      (
        await asked(served.port(), '/pods', { headers: { authorization: `Bearer ${text.trim() || 'none'}` } }).catch(
          () => ({ code: 401 }),
        )
      ).code,
    ).toBe(401);
    expect((await asked(served.port(), '/pods', { headers: { authorization: `Bearer ${token}` } })).code).toBe(200);
  },
  60_000,
);

test('a complete token of the node is retained', async () => {
  const token = 'b'.repeat(43);
  const { directory, served, said } = await servedNode({ prepare: writeToken(`${token}\n`) });
  await eventually('it is served', () => served.port() || undefined);
  expect(readFileSync(join(directory, 'statelet', 'server-token'), 'utf8')).toBe(`${token}\n`);
  expect(said.join()).not.toContain('damaged');
}, 60_000);

test('a directory in place of the token is reported until it is removed', async () => {
  const { directory, served, said } = await servedNode({
    prepare: (root) => void mkdirSync(join(root, 'statelet', 'server-token'), { recursive: true }),
  });
  const file = join(directory, 'statelet', 'server-token');
  await eventually(
    'it says so',
    () => said.some((each) => each.includes(`retrying every 5 s: ${file}: `)) || undefined,
  );
  expect(served.port()).toBe(0);
  rmdirSync(file);
  await eventually('it is served', () => served.port() || undefined);
}, 60_000);
