/** Restart counts on a real containerd that has lost everything about a pod. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { allRun, containerOf, identitiesOf, type RunNode, runNode } from './support/node.ts';
import type { Statelet } from './support/statelet.ts';

jest.setTimeout(120_000);

let node: RunNode;
let agent: Statelet;

beforeAll(async () => {
  node = await runNode();
  agent = await node.start();
});

afterAll(() => node.end());

/** Removes everything about a pod from the runtime, as `crictl rmp --force` does. */
async function losePod({ metadata: { uid } }: Pod): Promise<void> {
  const { cri } = node.runtime;
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  for (const { id: podSandboxId } of items.filter(({ metadata }) => metadata?.uid === uid)) {
    const isDone = (call: Promise<unknown>) =>
      call.then(
        () => true,
        () => undefined,
      );
    // The agent, which notices the loss, stops the sandbox too, and the second StopPodSandbox may fail to tear down the
    // network.
    await eventually('its sandbox is stopped', () => isDone(cri.stopPodSandbox({ podSandboxId }, { signal: noAbort })));
    // The removal fails while the agent is starting a container in the sandbox.
    await eventually('its sandbox is removed', () =>
      isDone(cri.removePodSandbox({ podSandboxId }, { signal: noAbort })),
    );
  }
}

const logFolder = ({ metadata: { namespace, name, uid } }: Pod) =>
  join(node.podLogs, `${namespace}_${name}_${uid}`, 'main');

/** Waits until the pod runs in a new container with this restart count. */
const runsAgain = (name: string, before: Pod, restarts: number) =>
  node.until(`runs again, restartCount ${restarts}`, name, (pod) => {
    const [old, now] = [identitiesOf(before).main, identitiesOf(pod).main];
    return allRun(pod) && now?.id !== old?.id && now?.restarts === restarts && pod;
  });

test('C23: a container that the runtime loses while no agent runs continues its restart count, with a new log', async () => {
  await node.write('web', podManifest('web', [shell('main', `echo once; ${steadily()}`)]));
  const first = await node.running('web');
  expect(containerOf(first).restartCount).toBe(0);
  agent.kill('SIGKILL');
  await agent.ended;
  await losePod(first);
  const log = await readFile(join(logFolder(first), '0.log'), 'utf8');
  agent = await node.start();
  const second = await runsAgain('web', first, 1);
  expect(await readFile(join(logFolder(first), '0.log'), 'utf8')).toBe(log);
  expect((await readdir(logFolder(first))).sort()).toEqual(['0.log', '1.log']);
  const id = containerOf(second).containerID?.replace('containerd://', '') ?? '';
  const { status } = await node.runtime.cri.containerStatus({ containerId: id, verbose: false }, { signal: noAbort });
  expect(status).toMatchObject({ metadata: { attempt: 1 }, logPath: join(logFolder(first), '1.log') });
});

test('C23: a container that the runtime loses while the agent runs continues its restart count, with a new log', async () => {
  await node.write('seen', podManifest('seen', [shell('main', `echo once; ${steadily()}`)]));
  const before = await node.running('seen');
  await losePod(before);
  await runsAgain('seen', before, 1);
  expect((await readdir(logFolder(before))).sort()).toEqual(['0.log', '1.log']);
});
