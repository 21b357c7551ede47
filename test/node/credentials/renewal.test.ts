/**
 * A node that starts without a certificate, against a test API server over TLS, in real time and with short-lived
 * certificates.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startSimulatedNode } from '../../../actors/simulated/startSimulatedNode.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { joinCluster } from '../../../node/cluster/joinCluster.ts';
import { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import type { ServedApi } from '../../../testing/apiserver/serving/servedApi.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const NODE = '/api/v1/nodes/node-1';
const BOOTSTRAPPER = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
const host = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  architecture: 'amd64',
  kubeletVersion: 'v1.36.0+statelet.test',
};
const rates = { rateLimit: { qps: 50, burst: 100 }, eventRate: { qps: 50, burst: 100 } };
const cleanUps: (() => unknown)[] = [];
let folder = '';
let server: ApiServer;

async function until(holds: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it does not come to be');
    await pause(50);
  }
}

let served: ServedApi;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'renewal-'));
  server = await ApiServer.start(systemClock);
  served = await server.serve();
  await writeFile(join(folder, 'bootstrap.conf'), served.kubeconfig(BOOTSTRAPPER));
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await served.close();
  server.close();
  await rm(folder, { recursive: true });
});

async function joined({ rotatesClientCertificate = true, requestsServingCertificate = false } = {}) {
  const problems: string[] = [];
  const cluster = await joinCluster(
    {
      objects: { strategy: 'Watch', syncMs: 60_000 },
      hasTrustBundles: false,
      ...rates,
      registersNode: true,
      attachesByController: true,
      providerId: '',
      leaseSeconds: 4,
      statusCheckMs: 1_000,
      statusReportMs: 60_000,
      statusImages: 50,
      kubeconfig: join(folder, 'kubelet.conf'),
      bootstrapKubeconfig: join(folder, 'bootstrap.conf'),
      certificates: { directory: join(folder, 'pki'), rotatesClientCertificate, requestsServingCertificate },
    },
    host,
    { onProblem: (problem) => problems.push(problem) },
  );
  const node = await startSimulatedNode({ parts: { cluster } });
  const stop = async () => {
    await node.stop();
    cluster.close();
  };
  cleanUps.push(stop);
  const part = (name: string) =>
    node.agent.explainNode().node.children.find((each) => each.kind === 'certificate' && each.name === name);
  return { node, problems, part, stop };
}

interface Request {
  readonly metadata: { readonly name: string; readonly creationTimestamp: string };
  readonly spec: { readonly username: string; readonly signerName: string; readonly extra?: Record<string, string[]> };
}

/** Returns the certificate signing requests in the order of their creation. */
async function requests(): Promise<Request[]> {
  const { items } = await server.request('GET', REQUESTS);
  // Each item is a signing request.
  const found = items as unknown as Request[];
  const at = ({ metadata }: Request) => Date.parse(metadata.creationTimestamp);
  return found.toSorted((a, b) => at(a) - at(b));
}

const isReady = async (): Promise<boolean> => {
  const found = await server.request('GET', NODE).catch(() => undefined);
  // A Node has this status.
  const status = found?.status as { conditions?: { type: string; status: string }[] } | undefined;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
};

test('a node starts with its bootstrap kubeconfig, and renews its certificate while it runs', async () => {
  // A certificate is renewed at the latest when a tenth of its lifetime is left, i.e. one second.
  server.signing.lifeMs = 10_000;
  const { problems, stop, part } = await joined();
  await until(isReady);
  await until(async () => (await requests()).length >= 3, 40_000);
  expect(await isReady()).toBe(true);
  expect(part('client')?.lastFailure).toBeUndefined();
  const [first, ...others] = await requests();
  expect(first?.spec.username).toBe(BOOTSTRAPPER.name);
  expect(others.every(({ spec }) => spec.username === 'system:node:node-1')).toBe(true);
  // Each request was sent over a connection with the previous certificate.
  const shown = others.map(({ spec }) => spec.extra?.['authentication.kubernetes.io/credential-id']?.[0]);
  expect(new Set(shown).size).toBe(others.length);
  expect(problems).toEqual([]);
  await stop();
  cleanUps.length = 0;
  const current = join(folder, 'pki', 'kubelet-client-current.pem');
  expect((await stat(current)).mode & 0o777).toBe(0o600);
  expect((await readdir(join(folder, 'pki'))).length).toBeLessThan(6);
  expect(new X509Certificate(await readFile(current)).subject).toBe('O=system:nodes\nCN=system:node:node-1');
  expect(await readFile(join(folder, 'kubelet.conf'), 'utf8')).toContain(`client-certificate: ${current}`);
}, 60_000);

test('a node whose certificate has expired continues, and bootstraps again', async () => {
  server.signing.lifeMs = 2_000;
  const { part } = await joined();
  await until(isReady);
  server.signing.decide = () => 'wait';
  await until(() => part('client')?.state === 'awaitingApproval');
  expect(part('client')?.waitingFor).toMatch(/^its request csr-\w+ for a client certificate to be approved$/);
  await pause(3_000);
  const before = (await requests()).length;
  server.signing.lifeMs = 60_000;
  server.signing.decide = () => 'approve';
  // Change a label of the pending request, as an administrator might.
  const [last] = (await requests()).slice(-1);
  await server.request(
    'PATCH',
    `${REQUESTS}/${last?.metadata.name}`,
    { metadata: { labels: { seen: 'yes' } } },
    'application/merge-patch+json',
  );
  await until(() => part('client')?.state === 'current', 30_000);
  expect((await requests()).length).toBe(before);
  await until(async () => (await server.request('GET', NODE)).metadata !== undefined && (await isReady()));
}, 60_000);

test('the next agent continues with the certificate of the first, and does not bootstrap again', async () => {
  const first = await joined();
  await until(isReady);
  await first.stop();
  cleanUps.length = 0;
  await rm(join(folder, 'bootstrap.conf'));
  const second = await joined();
  await until(() => second.part('client')?.state === 'current');
  await until(isReady);
  expect(await requests()).toHaveLength(1);
}, 60_000);

test('an agent that stops while its first request is pending leaves the request to the next agent', async () => {
  server.signing.decide = () => 'wait';
  const first = await joined({ rotatesClientCertificate: false });
  await until(() => first.part('client')?.state === 'awaitingApproval');
  await first.stop();
  cleanUps.length = 0;
  const second = await joined({ rotatesClientCertificate: false });
  await until(() => second.part('client')?.state === 'awaitingApproval');
  const [asked, ...others] = await requests();
  expect([asked?.metadata.name, others]).toEqual([expect.stringMatching(/^node-csr-[\w-]{43}$/), []]);
  server.signing.decide = () => 'approve';
  const path = `${REQUESTS}/${asked?.metadata.name}`;
  await server.request('PATCH', path, { metadata: { labels: { seen: 'yes' } } }, 'application/merge-patch+json');
  await until(isReady);
  expect((await readdir(join(folder, 'pki'))).sort()).toEqual([
    expect.stringMatching(/^kubelet-client-[\d-]+\.pem$/),
    'kubelet-client-current.pem',
  ]);
}, 60_000);

test('a serving certificate is requested once the Node has addresses, and waits for approval', async () => {
  const { part } = await joined({ rotatesClientCertificate: false, requestsServingCertificate: true });
  await until(() => part('serving')?.state === 'awaitingApproval');
  server.signing.decide = () => 'approve';
  const asked = (await requests()).find(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
  const path = `${REQUESTS}/${asked?.metadata.name}`;
  await server.request('PATCH', path, { metadata: { labels: { seen: 'yes' } } }, 'application/merge-patch+json');
  await until(() => part('serving')?.state === 'current');
  const served = new X509Certificate(await readFile(join(folder, 'pki', 'kubelet-server-current.pem')));
  expect(served.subjectAltName).toBe('DNS:node-1, IP Address:192.0.2.1');
}, 60_000);
