/** The certificate requests of a node, on a test API server in memory that signs them. */
import { expect, test } from '@jest/globals';
import { SIGNING_REQUESTS } from '../../../../actors/cluster/certificates/awaitSigned.ts';
import { CertificateManager } from '../../../../actors/cluster/certificates/certificates.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import { NO_NAMES } from '../../../../kubernetes/node/alternativeNames.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import { MemoryTransport } from '../../../fakes/cluster.ts';

const MINUTE = 60_000;
const CURRENT = '/pki/kubelet-client-current.pem';

async function stand() {
  const clock = new SimulatedClock();
  const server = await ApiServer.start(clock);
  const as = (name: string, ...groups: string[]) => new MemoryTransport(server, { name, groups });
  const transports = {
    own: as('system:node:node-1', 'system:nodes'),
    bootstrap: as('system:bootstrap:abcdef', 'system:bootstrappers'),
  };
  const clientOf = (transport: MemoryTransport) => new KubeClient({ transport, clock, userAgent: 'test' });
  const renewed: string[] = [];
  const files = new MemoryFiles(new MemoryDisk(() => clock.now()));
  const { ports } = new CertificateManager({
    clock,
    files,
    jitter: () => 0,
    onError: () => {},
    nodeName: 'node-1',
    directory: '/pki',
    client: clientOf(transports.own),
    bootstrapClient: clientOf(transports.bootstrap),
    onRenewed: (name) => void renewed.push(name),
  });
  const end = new AbortController();
  const options = { signal: end.signal };
  const request = (name: 'client' | 'serving' = 'client', names = NO_NAMES) =>
    ports.requestCertificate({ name, names, resumes: false }, options);
  const wait = ({ request: asked, uid }: { request: string; uid: string }, name: 'client' | 'serving' = 'client') => {
    const found = ports.awaitCertificate({ name, request: asked, uid, limitMs: 15 * MINUTE }, options);
    found.catch(() => {});
    return found;
  };
  return { clock, server, ports, transports, renewed, files, request, wait, options, end };
}

test('a new node requests its certificate with bootstrap credentials, like a kubelet, and receives it', async () => {
  const { clock, server, ports, transports, renewed, files, request, wait, options } = await stand();
  expect(await ports.readCertificate({ name: 'client' }, options)).toEqual({ certificate: null, chance: 0 });
  const asked = await request();
  expect([transports.own.requests.length, transports.bootstrap.requests.length]).toEqual([0, 1]);
  const { spec } = await server.request('GET', `${SIGNING_REQUESTS}/${asked.request}`);
  expect(spec).toMatchObject({
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
    username: 'system:bootstrap:abcdef',
  });
  const found = wait(asked);
  await clock.advance(0);
  expect((await found).certificate.notAfter).toBeGreaterThan(clock.now());
  expect([renewed, (await files.stat(CURRENT)).mode & 0o777]).toEqual([['client'], 0o600]);
  expect(await found).toEqual({ ...(await ports.readCertificate({ name: 'client' }, options)), at: clock.now() });
});

test('a node with a valid certificate requests as itself, and a node with an expired one with bootstrap credentials', async () => {
  const { clock, server, transports, request, wait } = await stand();
  server.signing.lifeMs = 2 * MINUTE;
  const found = wait(await request());
  await clock.advance(0);
  await found;
  const asked = () =>
    [transports.own, transports.bootstrap].map(
      ({ requests }) => requests.filter(({ method }) => method === 'POST').length,
    );
  await request();
  expect(asked()).toEqual([1, 1]);
  await clock.advance(2 * MINUTE);
  await request();
  expect(asked()).toEqual([1, 2]);
});

test('a denied or failed certificate request is reported with its reason', async () => {
  const { clock, server, request, wait } = await stand();
  for (const [decision, reason, words] of [
    ['deny', 'CertificateDenied', 'was denied: StandIn, Denied by the policy'],
    ['fail', 'CertificateFailed', 'could not be signed: StandIn, Failed by the policy'],
  ] as const) {
    server.signing.decide = () => decision;
    const found = wait(await request());
    await clock.advance(0);
    await expect(found).rejects.toMatchObject({ reason, message: expect.stringContaining(words) });
  }
});

test('an approval may take minutes, longer than an outage of the API server', async () => {
  const { clock, server, transports, request, wait } = await stand();
  server.signing.delayMs = 10 * MINUTE;
  const found = wait(await request());
  await clock.advance(MINUTE);
  transports.bootstrap.isAway = true;
  transports.bootstrap.cut();
  await clock.advance(8 * MINUTE);
  transports.bootstrap.isAway = false;
  await clock.advance(2 * MINUTE);
  expect((await found).certificate.notBefore).toBe(Date.UTC(2026, 0, 1) + 10 * MINUTE);
});

test('waiting for a certificate request ends on timeout, on deletion of the request and on abort', async () => {
  const { clock, server, request, wait, end } = await stand();
  server.signing.decide = () => 'wait';
  const unanswered = wait(await request());
  await clock.advance(15 * MINUTE);
  await expect(unanswered).rejects.toThrow(/certificate request csr-\w+ was not approved within 15 minutes/);
  const asked = await request();
  const deleted = wait(asked);
  await clock.advance(0);
  await server.request('DELETE', `${SIGNING_REQUESTS}/${asked.request}`);
  await clock.advance(0);
  await expect(deleted).rejects.toThrow(`certificate request ${asked.request} was deleted`);
  const givenUp = wait(await request());
  end.abort(new Error('given up'));
  await expect(givenUp).rejects.toThrow('given up');
});

test('a request for a serving certificate contains the names and addresses of the node, and requires an approval', async () => {
  const { clock, server, renewed, request, wait, files } = await stand();
  const names = { dnsNames: ['node-1'], ips: ['192.0.2.1', '2001:db8::1'] };
  const asked = await request('serving', names);
  const found = wait(asked, 'serving');
  await clock.advance(MINUTE);
  expect(renewed).toEqual([]);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'X', message: 'y' }];
  const path = `${SIGNING_REQUESTS}/${asked.request}/approval`;
  await server.request('PATCH', path, { status: { conditions } }, 'application/merge-patch+json');
  await clock.advance(0);
  const { certificate } = await found;
  expect([certificate.names.dnsNames, certificate.names.ips[0]]).toEqual([['node-1'], '192.0.2.1']);
  expect(await files.readdir('/pki')).toContain('kubelet-server-current.pem');
});

test('a certificate request whose private key is gone is rejected', async () => {
  const { wait } = await stand();
  await expect(wait({ request: 'csr-old', uid: 'of a former agent' })).rejects.toThrow(
    'the key for request csr-old is gone',
  );
});
