import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { hangingVolume } from '../support/hangingVolume.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';

// The volume is created before the node so that it is also cleaned up before the node. Then nothing of the node hangs
// any longer.
const hanging = await forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'statelet-hanging-'));
  const { directory, end } = await hangingVolume(join(folder, 'volume'));
  return { directory, end: () => end().then(() => rm(folder, { recursive: true })) };
});
const node = await nodeForAllTests(runNode);

/** More pods than Node.js has threads for file system calls, and more than there are slots for pod starts. */
const MANY = 6;

interface Mount {
  readonly path: string;
  readonly type?: 'Directory';
  readonly subPath?: string;
}

function podOver(name: string, { path, type, subPath }: Mount) {
  const data = { name: 'data', hostPath: { path, ...(type ? { type } : {}) } };
  const volumeMounts = [{ name: 'data', mountPath: '/data', ...(subPath ? { subPath } : {}) }];
  return podManifest(name, [shell('main', steadily(), { volumeMounts })], { volumes: [data] });
}

const explained = async (name: string) => JSON.stringify(await node.ask(`/explain/pods/${name}-node`));

/**
 * Pods with an unresponsive volume wait in a state that matches `waits`, while a different pod starts and terminates.
 * Returns the names of the waiting pods.
 */
async function story(kind: Omit<Mount, 'path'>, waits: RegExp): Promise<string[]> {
  const name = (at: number | string) => `${kind.type ?? kind.subPath ?? 'any'}-${at}`.toLowerCase();
  const stuck = Array.from({ length: MANY }, (_, at) => name(at));
  for (const each of stuck) await node.write(each, podOver(each, { path: hanging.directory, ...kind }));
  await eventually('they wait for it', async () => waits.test(await explained(name(0))));

  const path = join(node.shared, 'whole');
  await mkdir(join(path, 'part'), { recursive: true });
  await node.write(name('web'), podOver(name('web'), { path, ...kind }));
  await node.running(name('web'));
  for (const each of stuck) expect(await explained(each)).toMatch(waits);
  for (const each of [...stuck, name('web')]) await node.remove(each);
  await node.gone(name('web'));
  return stuck;
}

const MOUNTING = /its mount to complete until|another attempt to mount it until/;
const CREATING = /waiting for the runtime to create it|in the start queue|another attempt/;

test('volumes whose type check hangs delay only their own pods, which can still be terminated', async () => {
  for (const name of await story({ type: 'Directory' }, MOUNTING)) await node.gone(name);
});

test('volumes with a subPath that cannot be mounted delay only their own pods, which can still be terminated', async () => {
  for (const name of await story({ subPath: 'part' }, CREATING)) await node.gone(name);
});

test('volumes on which the runtime itself hangs delay only their own pods', async () => {
  await story({}, CREATING);
});
