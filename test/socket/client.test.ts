import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { agentClient, findAgent } from '../../socket/client.ts';
import { pod, servedToEachTest } from './served.ts';

const served = servedToEachTest();

describe('finding the agent', () => {
  test('uses the first socket that responds', async () => {
    const found = await findAgent([join(served.directory, 'none.sock'), served.socket.path]);
    expect(found.path).toBe(served.socket.path);
  });

  test('names the searched sockets if no agent is running', async () => {
    await expect(findAgent(['/nowhere/a.sock', '/nowhere/b.sock'])).rejects.toThrow(
      'no agent is running at /nowhere/a.sock or /nowhere/b.sock; start one with "statelet up"',
    );
  });

  test('reports an agent that exits during a response, not an empty response', async () => {
    const path = join(served.directory, 'broken.sock');
    const broken = createServer((peer) => {
      peer.on('error', () => {});
      peer.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"items":');
    });
    await new Promise<void>((resolve) => broken.listen(path, resolve));
    await expect(agentClient(path).json('/api/v1/pods')).rejects.toMatchObject({
      name: 'NodeFailure',
      message: `the agent at ${path} exited before its response was complete`,
    });
    broken.close();
  });
});

test.each([
  ['at all', ''],
  ['to its end', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"items":'],
])('a request that is not answered %s times out, and the error names the agent', async (_what, said) => {
  const path = join(served.directory, 'silent.sock');
  const peers: Socket[] = [];
  const silent = createServer((peer) => {
    peers.push(peer);
    peer.on('error', () => {});
    if (said !== '') peer.write(said);
  });
  await new Promise<void>((resolve) => silent.listen(path, resolve));
  const asked = agentClient(path, { idleTimeoutMs: 300, findListenerPid: async () => 77 });
  await expect(asked.json('/api/v1/pods')).rejects.toMatchObject({
    reason: 'AgentSilent',
    message: `the agent at ${path} (process 77) has not responded for 0.3 s: it is suspended or hangs`,
  });
  for (const peer of peers) peer.destroy();
  silent.close();
});

test('a watch may be idle for longer than the timeout', async () => {
  const ending = new AbortController();
  const asked = agentClient(served.socket.path, { idleTimeoutMs: 500 });
  const watched = await asked.watch('/api/v1/pods', ending.signal);
  await watched.next();
  await watched.next();
  const next = watched.next();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  served.agent.show(pod('late-host'));
  expect(await next).toMatchObject({ value: { object: { metadata: { name: 'late-host' } } } });
  ending.abort();
});
