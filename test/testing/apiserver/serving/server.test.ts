/** The test API server over real connections: HTTP/2 and HTTP/1.1, TLS, client certificates and watches. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type RequestOptions, request } from 'node:https';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import { Api } from '../../../../testing/apiserver/api.ts';
import type { ApiResponse } from '../../../../testing/apiserver/requests/request.ts';
import { type RunningServer, serve } from '../../../../testing/apiserver/serving/server.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { openSockets, resetAfterRequest } from '../../../host/support/resettingClients.ts';
import { Authority } from './certificates.ts';

const tokens = new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]);
const authorization = 'Bearer secret';
const api = new Api({ clock: systemClock, tokens, address: '127.0.0.1' });
let authority: Authority;
let serving: RunningServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  authority = new Authority();
  const tls = { ...authority.issue('/CN=kube-apiserver'), clientCa: authority.cert };
  serving = await serve(api, { tls, maxConcurrentStreams: 5 });
  session = connect(`https://127.0.0.1:${serving.port}`, { ca: authority.cert });
});

afterAll(async () => {
  session.close();
  await serving.close();
  authority.remove();
});

test('connections that clients reset before the response are released', async () => {
  await ask('/version');
  const before = openSockets();
  const endFault = api.faults.add({ fault: { kind: 'latency', ms: 20 } });
  await resetAfterRequest(serving.port, 100, 'GET /version HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer secret');
  endFault();
  await eventually('only the earlier connections are left', () => openSockets() <= before, 20_000);
}, 30_000);

interface Answer {
  readonly code: number;
  readonly text: string;
}

async function ask(path: string, { method = 'GET', body = '', headers = {} } = {}): Promise<Answer> {
  const stream = session.request({ ':path': path, ':method': method, authorization, ...headers });
  if (method !== 'GET') stream.end(body);
  const [head] = await once(stream, 'response');
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return { code: Number(head[':status']), text };
}

const json = { 'content-type': 'application/json' };
const configMap = (name: string) => JSON.stringify({ metadata: { name }, data: { a: 'b' } });

test('objects are created and read over HTTP/2', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  expect(await ask(path, { method: 'POST', body: configMap('one'), headers: json })).toMatchObject({ code: 201 });
  const { code, text } = await ask(`${path}/one`);
  expect(code).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ kind: 'ConfigMap', data: { a: 'b' } });
});

test('the client certificate of a connection is read once, however many requests it carries', async () => {
  await ask('/version');
  const read = jest.spyOn(TLSSocket.prototype, 'getPeerCertificate');
  await Promise.all([ask('/version'), ask('/version')]);
  expect(read).not.toHaveBeenCalled();
  read.mockRestore();
});

test('HTTP/1.1 is served over TLS as well, including HEAD', async () => {
  const options = { port: serving.port, host: '127.0.0.1', ca: authority.cert, headers: { authorization } };
  const head = request({ ...options, path: '/healthz', method: 'HEAD' });
  head.end();
  const [answer] = await once(head, 'response');
  expect(answer.statusCode).toBe(200);
  answer.resume();
  await once(answer, 'end');
});

test('a watch streams changes while it is open', async () => {
  const stream = session.request({ ':path': '/api/v1/namespaces/kube-system/secrets?watch=true', authorization });
  await once(stream, 'response');
  stream.setEncoding('utf8');
  const path = '/api/v1/namespaces/kube-system/secrets';
  await ask(path, { method: 'POST', body: JSON.stringify({ metadata: { name: 'watched' } }), headers: json });
  const [line] = await once(stream, 'data');
  expect(JSON.parse(String(line))).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'watched' } } });
  stream.close();
});

test('no watch is started for a client that disconnects before the response', async () => {
  const start = jest.fn(() => () => undefined);
  const received = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<ApiResponse>();
  const answer = jest.spyOn(api, 'respond').mockImplementationOnce(() => {
    received.resolve();
    return answered.promise;
  });
  try {
    const stream = session.request({ ':path': '/api/v1/namespaces?watch=true', authorization });
    await received.promise;
    stream.close();
    await once(stream, 'close');
    // Once this request has a response, the server has also processed the reset of the stream.
    await ask('/healthz');
    answered.resolve({ code: 200, headers: new Map(), start });
    await ask('/healthz');
    expect(start).not.toHaveBeenCalled();
  } finally {
    answer.mockRestore();
  }
});

test('a client is authenticated by its certificate', async () => {
  const pair = authority.issue('/O=system:nodes/CN=system:node:n1');
  const own = connect(`https://127.0.0.1:${serving.port}`, { ca: authority.cert, ...pair });
  const stream = own.request({ ':path': '/api/v1/nodes/n2' });
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  expect(JSON.parse(text).message).toContain('User "system:node:n1" cannot get resource "nodes"');
  own.close();
});

test('a client certificate that is untrusted or expires during the connection is rejected, unless the request has a token', async () => {
  const clock = { ...systemClock, offset: 0, now: () => systemClock.now() + clock.offset };
  const tls = { ...authority.issue('/CN=kube-apiserver'), clientCa: authority.cert };
  const other = await serve(new Api({ clock, tokens, address: '127.0.0.1' }), { tls });
  const untrustedAuthority = new Authority();
  const codes = async (pair: { key: string; cert: string }) => {
    const client = connect(`https://127.0.0.1:${other.port}`, { ca: authority.cert, ...pair });
    const codeOf = async (headers = {}) => {
      const stream = client.request({ ':path': '/api/v1/nodes/n1', ...headers });
      stream.resume();
      return (await once(stream, 'response'))[0][':status'];
    };
    const found = [await codeOf()];
    clock.offset = 400 * 24 * 3_600_000;
    found.push(await codeOf(), await codeOf({ authorization }));
    clock.offset = 0;
    client.close();
    return found;
  };
  const subject = '/O=system:nodes/CN=system:node:n1';
  expect(await codes(authority.issue(subject))).toEqual([404, 401, 404]);
  expect(await codes(untrustedAuthority.issue(subject))).toEqual([401, 401, 404]);
  untrustedAuthority.remove();
  await other.close();
});

test('a connection advertises the configured number of concurrent streams', async () => {
  expect(session.remoteSettings.maxConcurrentStreams).toBe(5);
});

test('a lost response cuts the connection, and the object is created', async () => {
  api.faults.add({ fault: { kind: 'lost' }, times: 1 });
  const path = '/api/v1/namespaces/default/configmaps';
  await expect(ask(path, { method: 'POST', body: configMap('lost'), headers: json })).rejects.toThrow();
  expect(await ask(`${path}/lost`)).toMatchObject({ code: 200 });
});

test('plain HTTP/1.1 is served without TLS', async () => {
  const plain = await serve(api);
  const answer = await fetch(`http://127.0.0.1:${plain.port}/readyz`);
  expect(await answer.text()).toBe('ok');
  await plain.close();
});

describe('accepts HTTP/1.1 headers of up to a mebibyte, as Go does', () => {
  const target = (length: number) => `/version?command=${'a'.repeat(length)}`;

  async function codeOf(options: RequestOptions, port: number): Promise<unknown> {
    const clientRequest = request({ host: '127.0.0.1', port, ca: authority.cert, agent: false, ...options });
    // If the server rejects the headers before they have been sent completely, it may reset the connection.
    const failed = once(clientRequest, 'error').then(([error]) => Object(error).code);
    clientRequest.end();
    const answered = once(clientRequest, 'response').then(([response]) => {
      response.resume();
      return response.statusCode;
    });
    answered.catch(() => {});
    return Promise.race([answered, failed]);
  }

  test('over TLS, as kubectl exec with a long command sends them', async () => {
    expect(await codeOf({ path: target(900_000), headers: { authorization } }, serving.port)).toBe(200);
    expect([431, 'ECONNRESET', 'EPIPE']).toContain(await codeOf({ path: target(1_100_000) }, serving.port));
  });

  test('without TLS', async () => {
    const plain = await serve(api);
    const answer = await fetch(`http://127.0.0.1:${plain.port}${target(900_000)}`);
    await answer.text();
    await plain.close();
    expect(answer.status).toBe(200);
  });
});
