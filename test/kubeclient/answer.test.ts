import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { readNode } from '../../actors/cluster/nodeObjects.ts';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { parseJsonBody, parseResponse, UnexpectedResponse } from '../../kubeclient/answer.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { NODE_TYPE } from '../../kubeclient/paths.ts';
import { follow } from '../fakes/followed.ts';
import { answered, type Reply, ToldTransport } from '../fakes/toldTransport.ts';

const { signal } = new AbortController();
const NODE_PATH = '/api/v1/nodes/n1';
const client = (...replies: readonly Reply[]) =>
  new KubeClient({ transport: new ToldTransport(...replies), clock: new SimulatedClock(), userAgent: 'statelet/test' });
const problemOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

test('reports a page instead of an object in one sentence with the request, the response and the expectation', async () => {
  const page = '\n<!DOCTYPE html>\r\n<html>sign in</html>';
  const said = `GET ${NODE_PATH}: the server answered with "<!DOCTYPE html>", expected the JSON of a Kubernetes API`;
  await expect(client(answered(200, page)).get(NODE_PATH, { type: NODE_TYPE, signal })).rejects.toThrow(
    new UnexpectedResponse(said),
  );
  await expect(client(answered(201, page)).create('/api/v1/nodes', NODE_TYPE, { signal })).rejects.toThrow(
    /^POST \/api\/v1\/n/,
  );
});

test.each([
  [{}, '{}', 'metadata: Required value'],
  [{ metadata: {} }, '{"metadata":{}}', 'metadata.uid: Required value'],
  [{ message: 'hello' }, '{"message":"hello"}', 'metadata: Required value'],
  [undefined, 'nothing', undefined],
  [[], '[]', undefined],
  ['\x1b[2J\u202e', '"\\u001b[2J\\u202e"', undefined],
])('an unexpected response is reported with its content: %j', (answer, came, why) => {
  const end = why === undefined ? '' : ` (${why})`;
  const said = `GET ${NODE_PATH}: the server answered with ${came}, expected a Node${end}`;
  expect(problemOf(() => readNode(answer, `GET ${NODE_PATH}`))).toEqual(new UnexpectedResponse(said));
});

test('shows only the start of a long response', () => {
  const long = problemOf(() => parseJsonBody('x'.repeat(5_000), 'GET /a'));
  expect(String(long)).toMatch(/^Error: GET \/a: the server answered with "x{118}…, expected/);
  const deep = problemOf(() =>
    parseResponse(z.string(), { a: 'x'.repeat(5_000) }, { request: 'GET /a', expected: 'b' }),
  );
  expect(String(deep).length).toBeLessThan(250);
});

test('reports a watch with invalid lines or a list of different objects', async () => {
  const failure = async (...replies: readonly Reply[]) => (await follow(...replies)).steps.at(-1);
  expect(await failure(answered(200, '<html>\n'))).toMatchObject({
    failure: expect.stringMatching(
      /^GET \S+: the server answered with "<html>", expected the JSON of a Kubernetes API$/,
    ),
  });
  expect(await failure(answered(200, '{}\n'))).toMatchObject({
    failure: expect.stringMatching(
      /^\S+: the server answered with {}, expected an event of a watch \(type: Required value\)$/,
    ),
  });
  expect(await failure(answered(404, ''), answered(200, {}))).toMatchObject({
    failure: expect.stringMatching(
      /^GET \S+: the server answered with {}, expected kind PodList of v1 \(apiVersion: Required /,
    ),
  });
});

test('error messages disclose nothing from responses about Secrets and tokens', () => {
  const asked = [
    'GET /api/v1/namespaces/a/secrets/b',
    'GET /api/v1/namespaces/a/secrets?watch=true',
    'POST /a/token',
    'POST /v1/tokenreviews',
  ];
  for (const each of asked) {
    const said = `${each}: the server answered with something else, expected`;
    expect(problemOf(() => parseJsonBody('{"data":{"key":"aGlk', each))).toEqual(
      new UnexpectedResponse(`${said} the JSON of a Kubernetes API`),
    );
    const odd = { status: { token: 5, hidden: 'aGlk' } };
    const schema = z.object({ status: z.object({ token: z.string() }) });
    expect(problemOf(() => parseResponse(schema, odd, { request: each, expected: 'a token' }))).toEqual(
      new UnexpectedResponse(`${said} a token`),
    );
  }
});
