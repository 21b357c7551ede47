import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createSigningRequest } from '../../../../actors/cluster/certificates/signingRequest.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING = 'kubernetes.io/kubelet-serving';

async function startServer() {
  const clock = new SimulatedClock();
  const server = await ApiServer.start(clock);
  const names = { dnsNames: ['n'], ips: ['192.0.2.1'] };
  const { request } = createSigningRequest({ commonName: 'system:node:n', organization: 'system:nodes', names });
  const createRequest = async (name: string, signerName: string) => {
    const spec = { request: Buffer.from(request).toString('base64'), signerName, usages: ['digital signature'] };
    await server.request('POST', REQUESTS, { metadata: { name }, spec });
    await clock.advance(0);
  };
  const status = async (name: string) => {
    const { status: found } = await server.request('GET', `${REQUESTS}/${name}`);
    // Safe cast, because this is the status of a CertificateSigningRequest.
    const { conditions = [], certificate } = found as { conditions?: { type: string }[]; certificate?: string };
    return { types: conditions.map(({ type }) => type), certificate };
  };
  return { clock, server, createRequest, status };
}

test('client certificates of nodes are issued at once with the configured lifetime', async () => {
  const { clock, server, createRequest, status } = await startServer();
  server.signing.lifeMs = 120_000;
  await createRequest('one', CLIENT);
  const { types, certificate = '' } = await status('one');
  expect(types).toEqual(['Approved']);
  const read = new X509Certificate(Buffer.from(certificate, 'base64'));
  expect(read.validToDate.getTime() - read.validFromDate.getTime()).toBe(120_000);
  expect([read.validFromDate.getTime(), read.subject, read.keyUsage]).toEqual([
    clock.now(),
    'O=system:nodes\nCN=system:node:n',
    ['1.3.6.1.5.5.7.3.2'],
  ]);
});

test('serving certificates wait for approval, and requests to other signers are ignored', async () => {
  const { server, createRequest, status } = await startServer();
  await createRequest('serving', SERVING);
  expect((await status('serving')).types).toEqual([]);
  server.signing.decide = () => 'approve';
  await createRequest('other', 'example.org/signer');
  expect((await status('other')).types).toEqual([]);
  const { certificate = '' } = await status('serving');
  const { subjectAltName, keyUsage } = new X509Certificate(Buffer.from(certificate, 'base64'));
  expect([subjectAltName, keyUsage]).toEqual(['DNS:n, IP Address:192.0.2.1', ['1.3.6.1.5.5.7.3.1']]);
});

test('the signer can delay, deny or fail a request', async () => {
  const { clock, server, createRequest, status } = await startServer();
  server.signing.delayMs = 60_000;
  await createRequest('slow', CLIENT);
  await clock.advance(59_000);
  expect((await status('slow')).types).toEqual([]);
  await clock.advance(1_000);
  expect((await status('slow')).types).toEqual(['Approved']);
  server.signing.delayMs = 0;
  server.signing.decide = () => 'deny';
  await createRequest('denied', CLIENT);
  server.signing.decide = () => 'fail';
  await createRequest('failed', CLIENT);
  expect([await status('denied'), await status('failed')]).toMatchObject([
    { types: ['Denied'] },
    { types: ['Failed'] },
  ]);
  server.close();
  expect(clock.pending).toBe(0);
});
