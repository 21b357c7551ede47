import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ClientCertificates } from '../../../kubelet-api/access/clientCertificates.ts';
import { SettableClock } from '../../fakes/settableClock.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-certificates-'));
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const openssl = (...args: readonly string[]) =>
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const;

function root(name: string): void {
  openssl('req', '-x509', ...KEY, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`);
}

function issue(name: string, by: string, extensions: string, days = '10'): void {
  writeFileSync(join(folder, 'extensions'), `${extensions}\n`);
  openssl('req', ...KEY, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${by}.crt`,
    '-CAkey',
    `${by}.key`,
    '-CAcreateserial',
    '-extfile',
    'extensions',
    '-days',
    days,
    '-out',
    `${name}.crt`,
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;
const certificate = (name: string) => new X509Certificate(read(`${name}.crt`));
let server: Server;
const open: TLSSocket[] = [];

root('root');
root('other');
issue('between', 'root', 'basicConstraints=critical,CA:true', '5');
issue('direct', 'root', 'extendedKeyUsage=clientAuth');
issue('below', 'between', 'extendedKeyUsage=clientAuth');
issue('server', 'root', 'extendedKeyUsage=serverAuth');

beforeAll(async () => {
  const tls = { key: read('server.key'), cert: read('server.crt'), ca: read('root.crt') };
  server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** Opens a connection with these client certificates. Returns the sockets of the server and of the client. */
async function shown(
  names: readonly string[],
  more: ConnectionOptions = {},
): Promise<{ own: TLSSocket; client: TLSSocket }> {
  const { port } = server.address() as AddressInfo;
  const [first = ''] = names;
  const pair =
    first === '' ? {} : { key: read(`${first}.key`), cert: names.map((name) => read(`${name}.crt`)).join('') };
  const accepted = once(server, 'secureConnection');
  const client = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...pair, ...more });
  const [own]: TLSSocket[] = await accepted;
  if (own === undefined) throw new Error('nobody came');
  open.push(client, own);
  return { own, client };
}

const byRoot = [certificate('root')];
const checking = (
  authorities: () => readonly X509Certificate[] = () => byRoot,
  clock = new SettableClock(Date.now()),
) => new ClientCertificates(clock, authorities);

test('C38: a valid certificate identifies its user, and a connection without one is anonymous', async () => {
  const certificates = checking();
  expect(certificates.userOf((await shown(['direct'])).own)).toMatchObject({ name: 'direct' });
  const { own } = await shown(['below', 'between']);
  certificates.greet(own);
  expect(certificates.userOf(own)).toMatchObject({ name: 'below' });
  expect(certificates.userOf((await shown([])).own)).toBeUndefined();
});

test.each([
  ['of another authority', ['other']],
  ['whose chain has a gap', ['below']],
  ['that is for servers', ['server']],
])('a client certificate %s is rejected', async (_, names) => {
  const { own } = await shown(names);
  const certificates = checking();
  certificates.greet(own);
  expect(() => certificates.userOf(own)).toThrow('its certificate was refused');
});

test('C42: the remaining lifetime of a certificate is observed for each request, even a rejected one', async () => {
  const clock = new SettableClock(Date.now());
  const days: number[] = [];
  const observe = (remainingMs: number) => void days.push(Math.round(remainingMs / DAY_MS));
  const certificates = new ClientCertificates(clock, () => byRoot, observe);
  const { own } = await shown(['direct']);
  certificates.userOf(own);
  clock.set(4 * DAY_MS);
  certificates.userOf(own);
  const { own: refused } = await shown(['server']);
  expect(() => certificates.userOf(refused)).toThrow('refused');
  expect(certificates.userOf((await shown([])).own)).toBeUndefined();
  expect(days).toEqual([10, 6, 6]);
});

test('C38: a certificate that expires during its connection is rejected from then on', async () => {
  const clock = new SettableClock(Date.now());
  const certificates = checking(() => byRoot, clock);
  const { own } = await shown(['direct']);
  clock.set(9 * DAY_MS);
  expect(certificates.userOf(own)).toMatchObject({ name: 'direct' });
  clock.set(2 * DAY_MS);
  expect(() => certificates.userOf(own)).toThrow('its certificate has expired');
  clock.set(-20 * DAY_MS);
  expect(() => certificates.userOf(own)).toThrow('its certificate is not good yet');
});

test.each([
  ['direct', ['direct']],
  ['below another', ['below', 'between']],
])('a certificate is valid only as long as its authority is trusted: %s', async (_, names) => {
  const [root, other] = [certificate('root'), certificate('other')];
  let authorities: readonly X509Certificate[] = [root];
  const certificates = checking(() => authorities);
  const { own } = await shown(names);
  certificates.greet(own);
  const [name] = names;
  for (const still of [[root], [other, root], [root]]) {
    authorities = still;
    expect(certificates.userOf(own)).toMatchObject({ name });
  }
  authorities = [other];
  expect(() => certificates.userOf(own)).toThrow('no client authority vouches');
});

test('the handshake of a connection under former authorities does not count', async () => {
  let authorities: readonly X509Certificate[] = [certificate('root')];
  const certificates = checking(() => authorities);
  const [greeted, ungreeted] = [(await shown(['below', 'between'])).own, (await shown(['below', 'between'])).own];
  certificates.greet(greeted);
  authorities = [certificate('other')];
  for (const own of [greeted, ungreeted]) expect(() => certificates.userOf(own)).toThrow('no client authority vouches');
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a resumed TLS session is the same client, and is not resumed under other authorities: %s',
  async (maxVersion) => {
    const names = ['below', 'between'];
    const before = await shown(names, { maxVersion });
    const sessions = once(before.client, 'session');
    before.own.write('x');
    before.client.resume();
    const [session]: Buffer[] = await sessions;
    const { own } = await shown(names, { maxVersion, session });
    const certificates = checking();
    certificates.greet(own);
    expect([own.isSessionReused(), certificates.userOf(own)]).toMatchObject([true, { name: 'below' }]);
    const tls = { key: read('server.key'), cert: read('server.crt') };
    server.setSecureContext({ ...tls, ca: read('other.crt') });
    const after = await shown(names, { maxVersion, session });
    server.setSecureContext({ ...tls, ca: read('root.crt') });
    expect([after.own.isSessionReused(), after.own.authorized]).toEqual([false, false]);
  },
);
