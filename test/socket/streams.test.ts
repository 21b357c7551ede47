import { expect, test } from '@jest/globals';
import { NodeFailure } from '../../base/failure.ts';
import type { StreamRequest } from '../../socket/agent.ts';
import { agentClient } from '../../socket/client.ts';
import { servedToEachTest } from './served.ts';

const served = servedToEachTest();
const post = (path: string, body: unknown) => agentClient(served.socket.path).post(path, body);

const streams = { stdin: true, stdout: true, stderr: false, tty: true };
const attach = { uid: 'uid-web', container: 'web', ...streams };
const exec = { ...attach, command: ['sh', '-c', 'ls'] };

test.each([
  ['/exec', exec],
  ['/attach', attach],
])('%s returns the streaming URL from the agent', async (path, body) => {
  const asked: StreamRequest[] = [];
  const place = { url: 'http://127.0.0.1:1/x', ...streams };
  served.agent.stream = async (request) => {
    asked.push(request);
    return place;
  };
  expect(await post(path, body)).toEqual(place);
  expect(asked).toEqual([body]);
});

test.each([
  ['/exec', { ...exec, command: [] }, /^\/exec: command: /],
  ['/exec', attach, /^\/exec: command: /],
  ['/attach', exec, /^\/attach: body: /],
  ['/attach', { ...attach, stdin: 'yes' }, /^\/attach: stdin: /],
  ['/attach', 7, /^\/attach: body: /],
])('%s with the body %j is a bad request', async (path, body, message) => {
  await expect(post(path, body)).rejects.toMatchObject({
    reason: 'BadRequest',
    message: expect.stringMatching(message),
  });
});

test('a request that is larger than any command is rejected', async () => {
  const body = { ...exec, command: ['x'.repeat(3 * 1024 * 1024)] };
  await expect(post('/exec', body)).rejects.toThrow('the request has more than 2097152 bytes');
});

test('a rejection by the agent is returned with its reason and message', async () => {
  served.agent.stream = () => Promise.reject(new NodeFailure('ContainerNotRunning', 'container not found ("web")'));
  await expect(post('/exec', exec)).rejects.toMatchObject({
    reason: 'ContainerNotRunning',
    message: 'container not found ("web")',
  });
});

test('a response that cannot be serialized is an internal error', async () => {
  const place: { url: string; self?: unknown } & typeof streams = { url: 'http://127.0.0.1:1/x', ...streams };
  place.self = place;
  served.agent.stream = async () => place;
  await expect(post('/exec', exec)).rejects.toMatchObject({
    reason: 'InternalError',
    message: expect.stringContaining('circular'),
  });
});

test('POST is rejected on all other paths', async () => {
  await expect(post('/api/v1/pods', {})).rejects.toMatchObject({
    reason: 'MethodNotAllowed',
    message: 'POST is not supported: only /exec and /attach take a POST',
  });
});
