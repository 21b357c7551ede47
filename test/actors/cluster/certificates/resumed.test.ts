/** A node that restarts while its first certificate request is pending, on a test API server in memory. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import { createBoundary, type PortServices } from '../../../../actors/boundary.ts';
import { SIGNING_REQUESTS } from '../../../../actors/cluster/certificates/awaitSigned.ts';
import { CertificateManager } from '../../../../actors/cluster/certificates/certificates.ts';
import { digestedName } from '../../../../actors/cluster/certificates/namedRequest.ts';
import { noCluster } from '../../../../actors/cluster/node/clusterNode.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import { certificateMachine } from '../../../../machines/certificate/chart.ts';
import { provideActors } from '../../../../machines/shared/ports.ts';
import { statePath } from '../../../../machines/shared/stateMeta.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import { MemoryTransport } from '../../../fakes/cluster.ts';

const MINUTE = 60_000;
const KEY = '/pki/kubelet-client.key.tmp';
const CURRENT = '/pki/kubelet-client-current.pem';
const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';

interface Request {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly usages: readonly string[]; readonly request: string };
}

async function stand() {
  const clock = new SimulatedClock();
  const server = await ApiServer.start(clock);
  server.signing.decide = () => 'wait';
  const files = new MemoryFiles(new MemoryDisk(() => clock.now()));
  const user = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
  const transport = new MemoryTransport(server, user);
  const client = new KubeClient({ transport, clock, userAgent: 'test' });
  const problems: string[] = [];

  /** Starts an agent that has sent its certificate requests. The previous agent must have stopped. */
  async function agent({ rotates = false } = {}) {
    const certificates = new CertificateManager({
      clock,
      files,
      nodeName: 'node-1',
      directory: '/pki',
      client,
      bootstrapClient: client,
      jitter: () => 0,
      onRenewed: () => {},
      onError: (_, error) => void problems.push(String(error)),
    });
    // The test calls no other ports, and there are no feeds.
    const ports = { ...noCluster, ...certificates.ports } as PortServices;
    const feeds = {} as Parameters<typeof createBoundary>[0]['feeds'];
    const boundary = createBoundary({ ports, feeds }, { clock, onError: () => {} });
    const input = { nodeName: 'node-1', name: 'client', rotates } as const;
    const actor = createActor(provideActors(certificateMachine, boundary), { input });
    const reasons: string[] = [];
    actor.on('event.recorded', ({ reason }) => void reasons.push(reason));
    actor.start();
    await clock.advance(0);
    return {
      reasons,
      stop: async () => {
        actor.stop();
        await clock.advance(0);
      },
      state: () => statePath(actor.getSnapshot().value),
      failure: () => actor.getSnapshot().context.failure?.message,
    };
  }

  // A list has items, which were created as requests.
  const requests = async () => (await server.request('GET', SIGNING_REQUESTS)).items as unknown as readonly Request[];
  const decide = async (name: string, type: 'Approved' | 'Denied') => {
    const conditions = [{ type, status: 'True', reason: 'ByHand', message: 'by hand' }];
    const path = `${SIGNING_REQUESTS}/${name}/approval`;
    await server.request('PATCH', path, { status: { conditions } }, 'application/merge-patch+json');
    await clock.advance(0);
  };
  const sent = () => transport.requests.map(({ method, isWatch }) => (isWatch ? 'WATCH' : method));
  const only = async (): Promise<Request> => {
    const [request, ...others] = await requests();
    if (request === undefined || others.length > 0) throw new Error(`there are ${others.length + 1} requests`);
    return request;
  };
  return { clock, server, files, transport, problems, agent, requests, only, decide, sent };
}

const nameOf = (key: string, usages = ['digital signature', 'client auth']) =>
  digestedName({
    certificate: { commonName: 'system:node:node-1', organization: 'system:nodes' },
    publicKey: createPublicKey(createPrivateKey(key)),
    usages,
  });

test('the node requests under the name derived from its key, and stores the key until it has a certificate', async () => {
  const { files, agent, only, decide, sent } = await stand();
  const { state } = await agent();
  const key = String(await files.readFile(KEY));
  const { metadata } = await only();
  expect([state(), metadata.name]).toEqual(['awaitingApproval', nameOf(key)]);
  expect((await files.stat(KEY)).mode & 0o777).toBe(0o600);
  await decide(metadata.name, 'Approved');
  expect([state(), sent()]).toEqual(['current', ['POST', 'WATCH']]);
  expect(String(await files.readFile(CURRENT))).toContain(key);
  await expect(files.readFile(KEY)).rejects.toThrow('ENOENT');
});

test('after a restart the node continues with its pending request, and is approved', async () => {
  const { clock, files, agent, only, decide, sent } = await stand();
  const first = await agent();
  const { metadata } = await only();
  const key = String(await files.readFile(KEY));
  await clock.advance(MINUTE);
  await first.stop();
  const second = await agent();
  expect([second.state(), (await only()).metadata]).toEqual(['awaitingApproval', metadata]);
  expect(sent()).toEqual(['POST', 'WATCH', 'POST', 'GET', 'WATCH']);
  await decide(metadata.name, 'Approved');
  expect([second.state(), String(await files.readFile(CURRENT)).includes(key)]).toEqual(['current', true]);
});

test('a request that was approved while the agent was down is used by the next agent', async () => {
  const { agent, only, decide, files } = await stand();
  await (await agent()).stop();
  await decide((await only()).metadata.name, 'Approved');
  const { state } = await agent();
  expect(state()).toBe('current');
  expect(await files.readdir('/pki')).not.toContain('kubelet-client.key.tmp');
});

test('an approval may take longer than an hour, because the node retries with the same request', async () => {
  const { clock, agent, only, decide } = await stand();
  const { state, failure } = await agent();
  const { metadata } = await only();
  await clock.advance(60 * MINUTE - 1);
  expect(state()).toBe('awaitingApproval');
  await clock.advance(1);
  expect([state(), failure()]).toEqual([
    'awaitingRetry',
    `certificate request ${metadata.name} was not approved within 60 minutes`,
  ]);
  await clock.advance(2_000);
  expect([state(), (await only()).metadata.uid]).toEqual(['awaitingApproval', metadata.uid]);
  await decide(metadata.name, 'Approved');
  expect(state()).toBe('current');
});

test('a denied request stays denied, and each agent reports it once, until it is deleted', async () => {
  const { clock, server, agent, only, decide } = await stand();
  const first = await agent();
  const { metadata } = await only();
  await decide(metadata.name, 'Denied');
  await clock.advance(10 * MINUTE);
  expect([first.state(), first.reasons]).toEqual(['awaitingRetry', ['CertificateDenied']]);
  await first.stop();
  const second = await agent();
  expect([second.reasons, (await only()).metadata.uid]).toEqual([['CertificateDenied'], metadata.uid]);
  await server.request('DELETE', `${SIGNING_REQUESTS}/${metadata.name}`);
  await clock.advance(MINUTE);
  const again = await only();
  expect([second.state(), again.metadata.name]).toEqual(['awaitingApproval', metadata.name]);
  await decide(metadata.name, 'Approved');
  expect(second.state()).toBe('current');
});

test('a request that is deleted while the node waits is created again with the same name', async () => {
  const { clock, server, agent, only, decide } = await stand();
  const { state, failure } = await agent();
  const { metadata } = await only();
  await server.request('DELETE', `${SIGNING_REQUESTS}/${metadata.name}`);
  await clock.advance(0);
  expect([state(), failure()]).toEqual(['awaitingRetry', `certificate request ${metadata.name} was deleted`]);
  await clock.advance(2_000);
  const again = await only();
  expect([again.metadata.name, again.metadata.uid === metadata.uid]).toEqual([metadata.name, false]);
  await decide(metadata.name, 'Approved');
  expect(state()).toBe('current');
});

test('a request name that is taken by a different key is reported, and the node requests with a new key', async () => {
  const { clock, server, files, problems, agent, requests, decide } = await stand();
  await (await agent()).stop();
  const [own] = await requests();
  const name = own?.metadata.name ?? '';
  await server.request('DELETE', `${SIGNING_REQUESTS}/${name}`);
  const text = execFileSync(
    'openssl',
    [
      'req',
      '-new',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      '/dev/null',
      '-subj',
      '/O=system:nodes/CN=system:node:node-1',
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const usages = ['digital signature', 'client auth'];
  const spec = { signerName: SIGNER, usages, request: Buffer.from(text).toString('base64') };
  await server.request('POST', SIGNING_REQUESTS, { metadata: { name }, spec });
  const { state, failure } = await agent();
  expect([state(), failure()]).toEqual([
    'awaitingRetry',
    `certificate request ${name} already exists and does not match: it is for a different key; the next attempt uses a new key`,
  ]);
  await clock.advance(2_000);
  const key = String(await files.readFile(KEY));
  expect([state(), (await requests()).map(({ metadata }) => metadata.name).sort()]).toEqual([
    'awaitingApproval',
    [name, nameOf(key)].sort(),
  ]);
  await decide(nameOf(key), 'Approved');
  expect([state(), problems]).toEqual(['current', []]);
});

/** Makes OpenSSL encode a subject as Go does: in the oldest string type that has all its characters. */
const GO_STRINGS = '[req]\ndistinguished_name = dn\nstring_mask = default\n[dn]\n';

test.each([
  ['ECDSA', 'ecparam', ['-genkey', '-name', 'prime256v1'], ['digital signature', 'client auth']],
  ['RSA', 'genrsa', ['-traditional', '2048'], ['digital signature', 'client auth', 'key encipherment']],
])('the node continues with the certificate request of a kubelet whose key is %s', async (_kind, make, how, usages) => {
  const { server, files, agent, only, decide } = await stand();
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-key-'));
  const [keyFile, config] = [join(folder, 'key'), join(folder, 'config')];
  execFileSync('openssl', [make, '-out', keyFile, ...how], { stdio: 'ignore' });
  writeFileSync(config, GO_STRINGS);
  const key = readFileSync(keyFile, 'utf8');
  const subject = ['-subj', '/O=system:nodes/CN=system:node:node-1'];
  const text = execFileSync('openssl', ['req', '-new', '-key', keyFile, '-config', config, ...subject]);
  rmSync(folder, { recursive: true });
  await files.mkdir('/pki');
  await files.writeFile(KEY, key, { mode: 0o600 });
  const name = nameOf(key.slice(key.lastIndexOf('-----BEGIN')), usages);
  await server.request('POST', SIGNING_REQUESTS, {
    metadata: { name },
    spec: { signerName: SIGNER, usages, request: text.toString('base64') },
  });
  const { state, failure } = await agent();
  expect([state(), failure(), (await only()).metadata.name]).toEqual(['awaitingApproval', undefined, name]);
  await decide(name, 'Approved');
  expect([state(), String(await files.readFile(CURRENT)).includes('PRIVATE KEY')]).toEqual(['current', true]);
});

test('an RSA key can sign a certificate request as well', async () => {
  const { files, agent, only, decide } = await stand();
  await files.mkdir('/pki');
  await files.writeFile(
    KEY,
    execFileSync('openssl', ['genrsa', '2048'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const { state } = await agent();
  const { metadata, spec } = await only();
  expect(spec.usages).toEqual(['digital signature', 'client auth', 'key encipherment']);
  const input = Buffer.from(spec.request, 'base64');
  const read = execFileSync('openssl', ['req', '-noout', '-text', '-verify'], {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  expect(read).toContain('Signature Algorithm: sha256WithRSAEncryption');
  await decide(metadata.name, 'Approved');
  expect(state()).toBe('current');
});

test('a broken key is reported, and the node requests with a new key', async () => {
  const { files, problems, agent, only } = await stand();
  await files.mkdir('/pki');
  await files.writeFile(KEY, '-----BEGIN EC PRIVATE KEY-----\nMHc');
  const { state } = await agent();
  expect([state(), (await only()).metadata.name]).toEqual([
    'awaitingApproval',
    nameOf(String(await files.readFile(KEY))),
  ]);
  expect(problems).toEqual([expect.stringContaining(`${KEY}: expected a private key in PEM, RSA or ECDSA`)]);
});

test('once its certificate has expired, the node requests with a new key', async () => {
  const { clock, server, files, agent, requests } = await stand();
  server.signing.decide = () => 'approve';
  server.signing.lifeMs = 2 * MINUTE;
  const { state } = await agent();
  expect(state()).toBe('current');
  server.signing.decide = () => 'wait';
  await clock.advance(2 * MINUTE);
  const name = nameOf(String(await files.readFile(KEY)));
  expect([
    state(),
    (await requests()).length,
    (await requests()).some(({ metadata }) => metadata.name === name),
  ]).toEqual(['awaitingApproval', 2, true]);
});

test('a node that renews its certificate uses a server-generated name each time, and leaves no key on disk', async () => {
  const { agent, requests, files } = await stand();
  await (await agent({ rotates: true })).stop();
  await agent({ rotates: true });
  const names = (await requests()).map(({ metadata }) => metadata.name);
  expect(names).toEqual([expect.stringMatching(/^csr-\w{5}$/), expect.stringMatching(/^csr-\w{5}$/)]);
  await expect(files.readdir('/pki')).rejects.toThrow('ENOENT');
});
