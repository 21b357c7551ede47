/** A serving certificate that the node requests from its API server, from the first request to its renewal. */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';

// The API server verifies the nodes' certificates, which is impossible if each node signs its own.
const cluster = await forAllTests(() =>
  testCluster({ config: ['serverTLSBootstrap: true'], serve: { nodes: { checkCertificates: true } } }),
);
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LIFE_MS = 25_000;

const named = z.object({ metadata: z.object({ name: z.string() }), spec: z.object({ signerName: z.string() }) });

const healthz = () => kubectl.tryRun('get', '--raw', '/api/v1/nodes/node/proxy/healthz');

async function port(): Promise<number> {
  const path = 'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}';
  return Number((await kubectl.tryRun('get', 'node', 'node', '-o', path)).out);
}

/** Returns the certificate that the node presents on a TLS connection. Undefined if the handshake fails. */
async function presentedCertificate(at: number): Promise<PeerCertificate | undefined> {
  const socket = connect({ port: at, host: '127.0.0.1', rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate();
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Sends an anonymous request over a keep-alive connection. Returns the status code and the connection. */
async function requestHealth(
  at: number,
  agent: Agent,
): Promise<readonly [code: number | undefined, socket: TLSSocket]> {
  const ask = request({ port: at, host: '127.0.0.1', path: '/healthz', agent }).end();
  const [response] = await once(ask, 'response');
  await once(response.resume(), 'end');
  return [response.statusCode, response.socket];
}

test('C38: TLS connections fail until the serving certificate is issued, and survive its renewal', async () => {
  const { server, agent } = cluster;
  server.signing.lifeMs = LIFE_MS;
  const at = await eventually('the Node says its port', async () => (await port()) || undefined);
  expect(await presentedCertificate(at)).toBeUndefined();
  expect(await healthz()).toMatchObject({ code: 1 });
  const { items } = z.object({ items: z.array(named) }).parse(await server.request('GET', REQUESTS));
  const own = items.find(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
  server.signing.decide = () => 'approve';
  expect(await kubectl.tryRun('certificate', 'approve', own?.metadata.name ?? '')).toMatchObject({ code: 0 });
  const first = await eventually('it shows the certificate', () => presentedCertificate(at));
  expect(first).toMatchObject({ subject: { CN: 'system:node:node', O: 'system:nodes' } });
  expect(first.subjectaltname).toMatch(/IP Address:/);
  // The API server accepts the certificate as that of the node.
  expect(await healthz()).toMatchObject({ code: 0, out: 'ok' });
  const keepAlive = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const [, connection] = await requestHealth(at, keepAlive);
  await eventually(
    'it is renewed',
    async () => {
      agent.mustLive();
      return (await presentedCertificate(at))?.fingerprint256 !== first.fingerprint256 || undefined;
    },
    LIFE_MS,
  );
  expect(await requestHealth(at, keepAlive)).toEqual([401, connection]);
  expect(await healthz()).toMatchObject({ code: 0, out: 'ok' });
  keepAlive.destroy();
}, 90_000);
