import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { servePodResources } from '../../../node/serve/podResources.ts';
import { RETRY_MS } from '../../../node/start/retryUntilStarted.ts';
import { isListening } from '../../../socket/socketPath.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { podWith } from '../../fakes/pods.ts';

let root: string;
let socket: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'resources-'));
  socket = join(root, 'pod-resources', 'kubelet.sock');
});
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(root, { recursive: true });
});

function served({ pods = [], listsOnlyActivePods = true }: { pods?: Pod[]; listsOnlyActivePods?: boolean } = {}) {
  const clock = new SimulatedClock();
  const said: string[] = [];
  const logger = { warn: (...words: readonly unknown[]) => void said.push(String(words.at(-1))) };
  const parts = {
    config: { rootDirectory: root, podResources: { listsOnlyActivePods } },
    clock,
    logger,
    pods: () => pods,
    cpus: () => undefined,
    memory: () => undefined,
    devices: () => undefined,
    claims: () => [],
  };
  const { close } = servePodResources(parts);
  ends.push(close);
  return { clock, said, close };
}

const answers = () => eventually('it is served', async () => (await isListening(socket)) || undefined);

test('the pod-resources API is served below the root directory, and leaves no socket behind', async () => {
  const { close } = served();
  await answers();
  expect(statSync(dirname(socket)).mode % 0o1000).toBe(0o750);
  await close();
  expect(existsSync(socket)).toBe(false);
});

test.each([true, false])('terminated pods are listed unless only active pods are: %s', async (listsOnlyActivePods) => {
  served({ pods: [{ ...podWith('over'), status: { phase: 'Succeeded' } }], listsOnlyActivePods });
  await answers();
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  ends.push(() => client.close());
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const same = (bytes: Buffer) => bytes;
  client.makeUnaryRequest('/v1.PodResourcesLister/List', same, same, Buffer.alloc(0), (error, answer) =>
    error ? reject(error) : resolve(String(answer)),
  );
  expect((await promise).includes('over')).toBe(!listsOnlyActivePods);
});

test('the socket of an agent that has exited is replaced', async () => {
  const left = createServer().listen(`${root}/other`);
  mkdirSync(dirname(socket));
  await eventually('it listens', () => existsSync(`${root}/other`) || undefined);
  // Closing the server removes only the name that it listened on, so this link remains.
  linkSync(`${root}/other`, socket);
  await new Promise((resolve) => left.close(resolve));
  expect([existsSync(socket), await isListening(socket)]).toEqual([true, false]);
  const { said } = served();
  await answers();
  expect(said).toEqual([]);
});

test('a foreign file in place of the socket is left alone and reported once, and the API is retried', async () => {
  mkdirSync(dirname(socket));
  writeFileSync(socket, 'mine');
  const { said, clock } = served();
  await eventually('it says so', () => said[0]);
  await clock.advance(RETRY_MS);
  expect(readFileSync(socket, 'utf8')).toBe('mine');
  expect(said).toEqual([
    `the pod-resources API is not served, retrying every 5 s: ${socket} exists and is not a socket`,
  ]);
  rmSync(socket);
  const other = createServer().listen(socket);
  await answers();
  await eventually('it tries again', async () => {
    await clock.advance(RETRY_MS);
    return said[1];
  });
  expect(said[1]).toContain(`${socket} is in use by another process`);
  await new Promise((resolve) => other.close(resolve));
  await eventually('it tries again', async () => {
    await clock.advance(RETRY_MS);
    return (await isListening(socket)) || undefined;
  });
});
