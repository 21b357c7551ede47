/** Requests that a test API server forwards to a node, and how it passes on the node's responses. */

import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import type { Route } from '../../../../kubelet-api/exchange.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';
import type { ServedApi } from '../../../../testing/apiserver/serving/servedApi.ts';
import { servedRoutes } from '../../../fakes/serving/relay/served.ts';

let server: ApiServer;
let served: ServedApi;
let node: Awaited<ReturnType<typeof servedRoutes>>;

/** Echoes the request. The response has the status code in the query parameter `tailLines`, or 200. */
const route = (pathPrefix: string): Route => ({
  pathPrefix,
  handle: async ({ request: incoming, response, url }) => {
    const code = Number(url.searchParams.get('tailLines') ?? 200);
    response.writeHead(code, { 'content-type': 'text/x', 'x-own': 'kept' });
    response.end(
      `${incoming.method} ${incoming.url} ${incoming.headers.authorization ?? 'nobody'} ${await text(incoming)}`,
    );
  },
});

const MERGE = 'application/merge-patch+json';

beforeAll(async () => {
  server = await ApiServer.start(systemClock);
  served = await server.serve();
  const [{ cluster }] = JSON.parse(served.kubeconfig()).clusters;
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const tls = { ...new Authority().issue({ name: 'node', groups: [] }), ca };
  node = await servedRoutes([route('/containerLogs'), route('/metrics')], tls);
  await createNodeWithPod('near', node.port);
  await createNodeWithPod('far', 1);
});

afterAll(async () => {
  server.close();
  await served.close();
  await node.close();
});

/** Creates a node, and a pod with the same name on that node. */
async function createNodeWithPod(name: string, port: number): Promise<void> {
  await server.request('POST', '/api/v1/nodes', { metadata: { name } });
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  await server.request('PATCH', `/api/v1/nodes/${name}/status`, { status }, MERGE);
  const containers = ['main', 'side'].map((each) => ({ name: each, image: 'x' }));
  const spec = { nodeName: name, containers, automountServiceAccountToken: false };
  await server.request('POST', '/api/v1/namespaces/default/pods', { metadata: { name }, spec });
}

async function ask(path: string, { method = 'GET', body = '' } = {}) {
  const [{ user }] = JSON.parse(served.kubeconfig()).users;
  const [key, cert] = ['client-key-data', 'client-certificate-data'].map((each) => Buffer.from(user[each], 'base64'));
  const clientRequest = request({
    port: served.port,
    host: '127.0.0.1',
    path,
    method,
    agent: false,
    rejectUnauthorized: false,
    key,
    cert,
    headers: { authorization: 'Bearer of-a-user' },
  });
  clientRequest.end(body);
  const [response] = await once(clientRequest, 'response');
  return { code: response.statusCode, type: response.headers['content-type'], body: await text(response), response };
}

const POD = '/api/v1/namespaces/default/pods/near';

test('a log request is forwarded to the node with the options of the query', async () => {
  const { code, body, type } = await ask(`${POD}/log?container=side&follow=true&previous=false&limitBytes=3`);
  expect([code, type, body]).toEqual([
    200,
    'text/plain',
    'GET /containerLogs/default/near/side?follow=true&limitBytes=3 nobody ',
  ]);
});

test.each([
  [400, 'BadRequest', /^GET \/containerLogs/],
  [500, 'InternalError', /^Internal error occurred: GET \/containerLogs/],
  [404, 'NotFound', /^the server could not find the requested resource/],
])('a log request that the node rejects with %s returns a Status', async (code, reason, message) => {
  const answer = await ask(`${POD}/log?container=main&tailLines=${code}`);
  expect(answer.code).toBe(code);
  expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', reason, message: expect.stringMatching(message) });
});

test.each([
  [`${POD}/log`, 400, 'a container name must be specified for pod near, choose one of: [main side]'],
  [`${POD}/log?container=x`, 400, 'container x is not valid for pod near'],
  ['/api/v1/namespaces/default/pods/none/log', 404, 'pods "none" not found'],
  [`${POD}/exec?container=main&command=true`, 400, 'Upgrade request required'],
  ['/api/v1/nodes/none/proxy/metrics', 404, 'nodes "none" not found'],
])('%s is rejected with %s', async (path, code, message) => {
  const answer = await ask(path);
  expect([answer.code, JSON.parse(answer.body).message]).toEqual([code, message]);
});

test('an unreachable node is reported', async () => {
  const { code, body } = await ask('/api/v1/nodes/far/proxy/metrics');
  expect(code).toBe(503);
  expect(JSON.parse(body).message).toMatch(/^error trying to reach service: .*ECONNREFUSED/);
});

test('any path of a node can be reached through the proxy, without the credentials of the client', async () => {
  const { code, body, type, response } = await ask('/api/v1/nodes/near/proxy/metrics/x?a=b', {
    method: 'POST',
    body: 'in',
  });
  expect([code, type, body]).toEqual([200, 'text/x', 'POST /metrics/x?a=b nobody in']);
  expect(response.headers['x-own']).toBe('kept');
});

test('an in-memory API server cannot reach a node', async () => {
  await expect(server.request('GET', `${POD}/log?container=main`)).rejects.toMatchObject({ code: 503 });
});
