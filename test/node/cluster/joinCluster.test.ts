/** The clients of a node created from a kubeconfig, against the test API server. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { messageOf } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { findProcess, isRunning } from '../../../host/runningProcess.ts';
import { LEASE_TYPE, toListType } from '../../../kubeclient/paths.ts';
import { nodeMetrics } from '../../../kubelet-api/metrics/agent/nodeMetrics.ts';
import { joinCluster } from '../../../node/cluster/joinCluster.ts';
import { Api } from '../../../testing/apiserver/api.ts';
import type { ApiRequest } from '../../../testing/apiserver/requests/request.ts';
import { type RunningServer, serve } from '../../../testing/apiserver/serving/server.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { samplesOf } from '../../kubelet-api/metrics/support/scraped.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

const signal = new AbortController().signal;
const LEASE_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1';
const host = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  architecture: 'amd64',
  kubeletVersion: 'v1.36.0+statelet.test',
};
const config = {
  certificates: { directory: '/nowhere', rotatesClientCertificate: false, requestsServingCertificate: false },
  registersNode: true,
  attachesByController: true,
  providerId: 'cloud://a',
  leaseSeconds: 40,
  statusCheckMs: 1,
  statusImages: 50,
  statusReportMs: 2,
  hasTrustBundles: true,
  objects: { strategy: 'Watch' as const, syncMs: 60_000 },
  rateLimit: { qps: 50, burst: 100 },
  eventRate: { qps: 50, burst: 100 },
};
const asked: ApiRequest[] = [];
let folder = '';
let authority: Authority;
let serving: RunningServer;

class WatchedApi extends Api {
  override respond(request: ApiRequest) {
    asked.push(request);
    return super.respond(request);
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'join-'));
  authority = new Authority();
  const api = new WatchedApi({ clock: systemClock, tokens: new Map(), address: '127.0.0.1' });
  const tls = { ...authority.issue('/CN=kube-apiserver'), clientCa: authority.cert };
  serving = await serve(api, { tls });
});
afterAll(async () => {
  await serving.close();
  authority.remove();
  await rm(folder, { recursive: true });
});

async function kubeconfig(): Promise<string> {
  const { cert, key } = authority.issue('/O=system:nodes/CN=system:node:n1');
  const file = join(folder, 'node.conf');
  const [certificate, secret] = [join(folder, 'node.crt'), join(folder, 'node.key')];
  await Promise.all([writeFile(certificate, cert), writeFile(secret, key)]);
  const cluster = { server: `https://127.0.0.1:${serving.port}`, 'certificate-authority': authority.certFile };
  const text = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { 'client-certificate': 'node.crt', 'client-key': 'node.key' } }],
  };
  await writeFile(file, JSON.stringify(text));
  return file;
}

test('a node authenticates with its certificate, and sends its version as the user agent', async () => {
  const joined = await joinCluster({ ...config, kubeconfig: await kubeconfig() }, host);
  await expect(joined.leaseClient.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toMatchObject({ code: 404 });
  await expect(
    joined.client.get('/api/v1/namespaces/default/secrets', {
      type: toListType({ apiVersion: 'v1', kind: 'Secret' }),
      signal,
    }),
  ).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('User "system:node:n1" cannot list resource "secrets"'),
  });
  expect(asked.map(({ headers }) => headers.get('user-agent'))).toEqual(
    Array.from({ length: 2 }, () => expect.stringMatching(/^statelet\/v\S+ \(linux\/amd64\)$/)),
  );
  const [server, kubeconfigFile] = [`https://127.0.0.1:${serving.port}`, join(folder, 'node.conf')];
  const access = { server, kubeconfig: kubeconfigFile, context: 'c', user: 'u', credentialKind: 'client certificate' };
  expect(joined).toMatchObject({ access, hasTrustBundles: true });
  joined.close();
  await expect(joined.client.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toThrow(
    'the connection was closed',
  );
  await expect(joined.leaseClient.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toThrow(
    'the connection was closed',
  );
});

test('C42: each transport to the API server is counted, one of them for the lease alone', async () => {
  const { cluster: observer, registries } = nodeMetrics({ clock: systemClock, isInCluster: true, onError: () => {} });
  const joined = await joinCluster({ ...config, kubeconfig: await kubeconfig() }, host, { observer });
  joined.close();
  const samples = await samplesOf(registries.all);
  expect(samples.get('rest_client_transport_create_calls_total{result="uncacheable"}')).toBe(2);
});

test('an exec plugin provides the certificate, runs for the first request, and the requests contain the impersonated user', async () => {
  const { cert, key } = authority.issue('/O=system:nodes/CN=system:node:n1');
  const status = { clientCertificateData: cert, clientKeyData: key };
  const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
  const [file, credential] = [join(folder, 'exec.conf'), join(folder, 'credential')];
  const user = {
    as: 'somebody',
    'as-groups': ['one', 'two'],
    exec: { apiVersion: answer.apiVersion, command: 'cat', args: [credential], interactiveMode: 'Never' },
  };
  const found = JSON.parse(await readFile(await kubeconfig(), 'utf8'));
  await writeFile(file, JSON.stringify({ ...found, users: [{ name: 'u', user }] }));
  const joined = await joinCluster({ ...config, kubeconfig: file }, host);
  expect(joined.access?.credentialKind).toBe('program cat, for somebody');
  await expect(joined.client.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toThrow(
    'exec: cat returned no credentials: exit code 1',
  );
  await writeFile(credential, JSON.stringify(answer));
  asked.length = 0;
  await expect(joined.client.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toMatchObject({ code: 404 });
  const [request] = asked;
  expect(request?.user?.name).toBe('system:node:n1');
  expect(request?.headers.get('impersonate-user')).toBe('somebody');
  expect(request?.headers.get('impersonate-group')).toBe('one, two');
  joined.close();
});

test('an exec plugin that is still running when the node leaves is terminated, and no problem is reported', async () => {
  const [file, pidFile] = [join(folder, 'hanging.conf'), join(folder, 'pid')];
  const command = { command: 'sh', args: ['-c', `echo $$ > ${pidFile}; sleep 60`], interactiveMode: 'Never' };
  const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', ...command } };
  const found = JSON.parse(await readFile(await kubeconfig(), 'utf8'));
  await writeFile(file, JSON.stringify({ ...found, users: [{ name: 'u', user }] }));
  const problems: string[] = [];
  const onProblem = (problem: string) => void problems.push(problem);
  const joined = await joinCluster({ ...config, kubeconfig: file }, host, { onProblem });
  const request = joined.client.get(LEASE_PATH, { type: LEASE_TYPE, signal }).catch(messageOf);
  const program = await eventually('it has begun', async () => findProcess(Number(await readFile(pidFile, 'utf8'))));
  joined.close();
  expect(await request).toMatch(/the node leaves its cluster$/);
  await eventually('it has ended', async () => !(await isRunning(program)));
  expect(problems).toEqual([]);
});

test('every follower of the UID of its Node receives each UID', async () => {
  const { onNodeUid, followNodeUid, close } = await joinCluster({ ...config, kubeconfig: await kubeconfig() }, host);
  const [heard, heardLater]: string[][] = [[], []];
  followNodeUid((uid) => heard?.push(uid));
  onNodeUid?.('uid-1');
  followNodeUid((uid) => heardLater?.push(uid));
  onNodeUid?.('uid-2');
  expect([heard, heardLater]).toEqual([
    ['uid-1', 'uid-2'],
    ['uid-1', 'uid-2'],
  ]);
  close();
});

test('an invalid kubeconfig is reported before any request is sent', async () => {
  const before = asked.length;
  const missing = join(folder, 'none');
  await expect(joinCluster({ ...config, kubeconfig: missing }, host)).rejects.toThrow(
    `--kubeconfig: ${missing}: no such file`,
  );
  expect(asked).toHaveLength(before);
});

test('problems of the files that a kubeconfig names are reported before any request, and later while the node runs', async () => {
  const before = asked.length;
  const file = await kubeconfig();
  const problems: string[] = [];
  const joined = await joinCluster({ ...config, kubeconfig: file }, host, {
    onProblem: (problem) => problems.push(problem),
  });
  await writeFile(join(folder, 'node.key'), 'SECRET');
  const place = `--kubeconfig: ${file}: users: "u": client-key: ${join(folder, 'node.key')}`;
  const said = `${place}: expected a private key in PEM, got text without a PEM block`;
  await expect(joinCluster({ ...config, kubeconfig: file }, host)).rejects.toThrow(said);
  expect(asked).toHaveLength(before);
  await expect(joined.client.get(LEASE_PATH, { type: LEASE_TYPE, signal })).rejects.toMatchObject({ code: 404 });
  expect(problems).toEqual([`${said}; the previous version is used until this is fixed`]);
  joined.close();
});
