/**
 * An agent that has run out of file descriptors. It retries everything that failed once descriptors are available
 * again.
 */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';

const run = promisify(execFile);
const node = await nodeForAllTests(runNode);

/**
 * Time in milliseconds within which the agent relists its manifests at least once, in addition to the inotify events.
 */
const LISTED_MS = 22_000;

async function limitDescriptors(soft: number): Promise<void> {
  await run('prlimit', ['--pid', String(node.agent.pid), `--nofile=${soft}:`]);
}

test('manifests, volumes and removals that failed without free file descriptors succeed once some are available', async () => {
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ];
  const mounts = { volumeMounts: [{ name: 'memory', mountPath: '/memory', subPath: 'a' }] };
  const before = podManifest('before', [shell('main', steadily(), mounts)], {
    volumes,
    terminationGracePeriodSeconds: 1,
  });
  await node.write('before', before);
  await node.running('before');

  const open = await readdir(`/proc/${node.agent.pid}/fd`);
  await limitDescriptors(Math.max(...open.map(Number)) + 1);
  const main = shell('main', steadily(), mounts);
  await node.write('small', podManifest('small', [main], { volumes, terminationGracePeriodSeconds: 1 }));
  const large = podManifest('large', [main], { volumes, terminationGracePeriodSeconds: 1 });
  const annotations = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key-${index}`, 'value']));
  await node.write('large', JSON.stringify({ ...large, metadata: { ...large.metadata, annotations } }));
  await node.remove('before');
  await pause(LISTED_MS);

  await limitDescriptors(4_096);
  await node.running('small');
  await node.running('large');
  await node.gone('before');
  for (const name of ['small', 'large']) await node.remove(name);
  for (const name of ['small', 'large']) await node.gone(name);
  node.agent.mustLive();
  expect((await node.pods()).length).toBe(0);
});
