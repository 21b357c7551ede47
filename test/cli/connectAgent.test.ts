import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { connectFirstAgent } from '../../cli/connectAgent.ts';
import { findListeningAgents } from '../../socket/socketPath.ts';

const servers: Server[] = [];
const directories: string[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  await Promise.all(directories.splice(0).map((path) => rm(path, { recursive: true })));
});

async function listenAt(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'agents-'));
  directories.push(directory);
  const path = join(directory, name);
  await mkdir(dirname(path), { recursive: true });
  const server = createServer((socket) => socket.end());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

const nowhere = ['/nowhere/statelet.sock'];

test('the only agent of the host is found without a flag', async () => {
  const socket = await listenAt('statelet.sock');
  expect((await connectFirstAgent(nowhere, async () => [socket])).path).toBe(socket);
});

test('an agent at a default path is preferred', async () => {
  const [usual, other] = [await listenAt('statelet.sock'), await listenAt('statelet.sock')];
  expect((await connectFirstAgent([usual], async () => [other, usual])).path).toBe(usual);
});

test('with several agents the user has to choose one', async () => {
  const sockets = [await listenAt('statelet.sock'), await listenAt('statelet.sock')];
  const [first = '', second = ''] = sockets.map((socket) => dirname(socket));
  await expect(connectFirstAgent(nowhere, async () => sockets)).rejects.toThrow(
    `several agents are running: choose one with --root-dir ${first} or --root-dir ${second}`,
  );
});

test('without an agent the error names the paths that were tried', async () => {
  await expect(connectFirstAgent(nowhere, async () => [])).rejects.toThrow(
    'no agent is running at /nowhere/statelet.sock',
  );
});

test("agents are found in the kernel's socket table, and other sockets are ignored", async () => {
  const [agent, other] = [await listenAt('statelet.sock'), await listenAt('other.sock')];
  const found = await findListeningAgents();
  expect(found).toContain(agent);
  expect(found).not.toContain(other);
});
