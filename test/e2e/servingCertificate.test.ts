/** A serving certificate that the node asks its API server for, from the first request to its renewal. */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';

// An API server that checks who nodes are, which it cannot where each has a certificate of its own making.
const cluster = await forAllTests(() =>
  testCluster({ config: ['serverTLSBootstrap: true'], serve: { nodes: { checkCertificates: true } } }),
);
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LIFE_MS = 25_000;

const named = z.object({ metadata: z.object({ name: z.string() }), spec: z.object({ signerName: z.string() }) });

const healthz = () => kubectl.tell('get', '--raw', '/api/v1/nodes/node/proxy/healthz');

async function port(): Promise<number> {
  const path = 'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}';
  return Number((await kubectl.tell('get', 'node', 'node', '-o', path)).out);
}

/** What it shows of itself to whoever connects; undefined: it breaks off. */
async function shown(at: number): Promise<PeerCertificate | undefined> {
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

/** Asks over a connection that stays open, without a name: gives the answer's code and the connection. */
async function asked(at: number, agent: Agent): Promise<readonly [code: number | undefined, socket: TLSSocket]> {
  const ask = request({ port: at, host: '127.0.0.1', path: '/healthz', agent }).end();
  const [response] = await once(ask, 'response');
  await once(response.resume(), 'end');
  return [response.statusCode, response.socket];
}

test('C38: TLS connections fail until the serving certificate is issued, and survive its renewal', async () => {
  const { server, agent } = cluster;
  server.signing.lifeMs = LIFE_MS;
  const at = await eventually('the Node says its port', async () => (await port()) || undefined);
  expect(await shown(at)).toBeUndefined();
  expect(await healthz()).toMatchObject({ code: 1 });
  const { items } = z.object({ items: z.array(named) }).parse(await server.request('GET', REQUESTS));
  const own = items.find(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
  server.signing.decide = () => 'approve';
  expect(await kubectl.tell('certificate', 'approve', own?.metadata.name ?? '')).toMatchObject({ code: 0 });
  const first = await eventually('it shows the certificate', () => shown(at));
  expect(first).toMatchObject({ subject: { CN: 'system:node:node', O: 'system:nodes' } });
  expect(first.subjectaltname).toMatch(/IP Address:/);
  // The API server takes it for the node that it is.
  expect(await healthz()).toMatchObject({ code: 0, out: 'ok' });
  const keepAlive = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const [, connection] = await asked(at, keepAlive);
  await eventually(
    'it is renewed',
    async () => {
      agent.mustLive();
      return (await shown(at))?.fingerprint256 !== first.fingerprint256 || undefined;
    },
    LIFE_MS,
  );
  expect(await asked(at, keepAlive)).toEqual([401, connection]);
  expect(await healthz()).toMatchObject({ code: 0, out: 'ok' });
  keepAlive.destroy();
}, 90_000);
