import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { layoutOf } from '../../cri/managed/layout.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { apiPod, shell, steadily } from './support/manifests.ts';
import { sourceNode } from './support/sourceNode.ts';

const node = await forAllTests(sourceNode);
const untilNotified = (what: string, start: string) =>
  eventually(what, () => node.notifications.some((sentence) => sentence.startsWith(start)));

/** Removes the runtime's network configuration, and returns a function that restores it. */
async function withoutNetwork(directory: string): Promise<() => Promise<unknown>> {
  const { cniConfig } = layoutOf(directory);
  const files = (await readdir(cniConfig)).map((name) => join(cniConfig, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  await Promise.all(files.map((file) => rm(file)));
  // The files must be written again, because containerd does not notice a file that is renamed into the directory.
  return () => Promise.all(files.map((file, index) => writeFile(file, texts[index] ?? '')));
}

test('without a network of the runtime pods wait with the reason, host-network pods run, and all run once it is back', async () => {
  await untilNotified('the node has its network', 'node: NodeReady');
  const bringBack = await withoutNetwork(node.runtime.directory);
  await untilNotified('the node misses its network', 'node: NodeNotReady');
  node.want(
    apiPod('apart', [shell('main', steadily())]),
    apiPod('host', [shell('main', steadily())], { hostNetwork: true }),
  );
  await node.running('host');
  await untilNotified('all pods have their limit', 'node: NodeAllocatableEnforced: ');
  await untilNotified(
    'the other tells why it waits',
    'apart: NetworkNotReady: network is not ready: container runtime network not ready: ',
  );
  expect(node.notifications.filter((sentence) => sentence.startsWith('apart: FailedCreate'))).toEqual([]);
  await bringBack();
  await node.running('apart');
});

test('C10: a container whose pod moves to the host network runs its preStop hook first', async () => {
  const lifecycle = { preStop: { exec: { command: ['sh', '-c', 'echo gone from $(hostname -i) > /data/hook'] } } };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const pod = apiPod('moves', [shell('main', steadily(), { lifecycle, volumeMounts })], {
    volumes: [{ name: 'data', emptyDir: {} }],
  });
  node.want(pod);
  const address = (await node.running('moves')).status?.podIP;
  node.want({ ...pod, spec: { ...pod.spec, hostNetwork: true } });
  await node.until('it runs in a second sandbox', 'moves', ({ status }) => {
    const [main] = status?.containerStatuses ?? [];
    return main?.restartCount === 1 && main.state?.running !== undefined;
  });
  const volumes = join(node.runtime.directory, 'kubelet', 'pods', 'uid-moves', 'volumes');
  expect(await readFile(join(volumes, 'kubernetes.io~empty-dir', 'data', 'hook'), 'utf8')).toBe(
    `gone from ${address}\n`,
  );
  expect(node.notifications).toContain('moves: Killing: Stopping container main');
  expect(node.notifications.filter((sentence) => sentence.startsWith('moves: SandboxChanged'))).toHaveLength(1);
});
