import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Cri } from '../../cri/client/calls.ts';
import { connectCri } from '../../cri/client/connectCri.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { allRun, containerOf, identitiesOf, type RunNode, runNode, type UpNode, upNode } from './support/node.ts';
import { type Statelet, statelet } from './support/statelet.ts';
import { processesIn } from './support/traces.ts';

jest.setTimeout(120_000);

const steadyPod = (name: string) => podManifest(name, [shell('main', steadily()), shell('side', steadily())]);

/** Returns the first process of a container or sandbox, found by the cgroup whose name contains the ID. */
async function firstProcess(cgroupParent: string, id: string): Promise<number> {
  for (const { pid } of (await processesIn(cgroupParent)).sort((a, b) => a.pid - b.pid)) {
    if ((await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(id)) return pid;
  }
  throw new Error(`no process belongs to ${id}`);
}

async function sandboxesOf(cri: Cri, { metadata: { uid } }: Pod) {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  return items.filter(({ metadata }) => metadata?.uid === uid);
}

const [ready, notReady] = [0, 1];

describe('with a private containerd', () => {
  let node: UpNode;
  let up: Statelet;
  let cri: Cri;
  let cgroupParent: string;

  beforeAll(async () => {
    node = await upNode();
    await node.write('web', steadyPod('web'));
    up = await node.start();
    const layout = layoutOf(node.containerdDirectory);
    cgroupParent = layout.cgroupParent;
    cri = connectCri({ runtimeEndpoint: `unix://${layout.socket}`, requestTimeoutMs: 30_000 });
  });

  afterAll(async () => {
    cri.close();
    await node.end();
  });

  test('C7: a container whose process is killed is replaced at once', async () => {
    const before = await node.running('web');
    const id = containerOf(before, 'main').containerID?.replace('containerd://', '') ?? '';
    process.kill(await firstProcess(cgroupParent, id), 'SIGKILL');
    const after = await node.until('runs again', 'web', (pod) =>
      allRun(pod) && identitiesOf(pod).main?.restarts === 1 ? pod : undefined,
    );
    expect(containerOf(after, 'main')).toMatchObject({
      ready: true,
      lastState: { terminated: { exitCode: 137, reason: 'Error', containerID: `containerd://${id}` } },
    });
    expect(identitiesOf(after).side).toEqual(identitiesOf(before).side);
  });

  test('C8: a pod whose sandbox is killed gets a new one, and runs again in it', async () => {
    await node.write('boxed', steadyPod('boxed'));
    const before = await node.running('boxed');
    const [sandbox] = await sandboxesOf(cri, before);
    process.kill(await firstProcess(cgroupParent, sandbox?.id ?? ''), 'SIGKILL');
    const after = await node.until('runs again', 'boxed', (pod) => {
      const [old, now] = [identitiesOf(before), identitiesOf(pod)];
      return allRun(pod) && now.main?.id !== old.main?.id && now.side?.id !== old.side?.id && pod;
    });
    // The lost sandbox is stopped. It is retained as long as its dead containers, whose logs are kept.
    const sandboxes = (await sandboxesOf(cri, before)).sort(
      (a, b) => (a.metadata?.attempt ?? 0) - (b.metadata?.attempt ?? 0),
    );
    expect(sandboxes).toMatchObject([
      { id: sandbox?.id, state: notReady, metadata: { attempt: 0 } },
      { state: ready, metadata: { attempt: 1 } },
    ]);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(identitiesOf(after)).toMatchObject({ main: { restarts: 1 }, side: { restarts: 1 } });
  });

  test('a killed containerd is restarted, and its pods never stop', async () => {
    const before = await node.running('web');
    const pid = Number(await readFile(layoutOf(node.containerdDirectory).pidFile, 'utf8'));
    process.kill(pid, 'SIGKILL');
    await node.write('late', steadyPod('late'));
    await up.says('the private containerd has died: restarting it');
    await node.running('late');
    expect(identitiesOf(await node.running('web'))).toEqual(identitiesOf(before));
  });
});

describe('with an external containerd', () => {
  let node: RunNode;
  let agent: Statelet;

  beforeAll(async () => {
    node = await runNode();
    await node.write('web', steadyPod('web'));
    agent = await node.start();
  });

  afterAll(() => node.end());

  const runtimeIs = (state: string) =>
    eventually(`the runtime is ${state}`, async () => {
      const answer = await node.ask('/node');
      return JSON.stringify(answer).includes(`"state":"${state}"`) && answer;
    });

  /** Returns the output of `explain` on one line. */
  const explain = async (name: string) =>
    (await statelet('explain', name, '--root-dir', node.rootDir)).out.replaceAll(/\s+/g, ' ');

  test('the node reports that containerd is down, loses no pod, and continues when containerd is back', async () => {
    const before = identitiesOf(await node.running('web'));
    process.kill(node.runtime.containerd.pid, 'SIGKILL');
    expect(await runtimeIs('not ready')).toMatchObject({
      runtime: { name: 'containerd', message: expect.any(String) },
    });
    await node.write('late', steadyPod('late'));
    await eventually('explain tells why the new pod waits', async () =>
      (await explain('late')).includes('RuntimeUnavailable'),
    );
    expect(await explain('web')).toContain('pod web-node is running, with 2 of 2 containers ready');
    expect(identitiesOf(await node.running('web'))).toEqual(before);

    await node.runtime.again();
    await runtimeIs('ready');
    await node.running('late');
    expect(identitiesOf(await node.running('web'))).toEqual(before);
    agent.mustLive();
  });

  test('the node reports that containerd hangs and what waits for it, and handles all pending changes once it responds', async () => {
    await node.write('frail', steadyPod('frail'));
    const before = identitiesOf(await node.running('web'));
    const { pid, cgroupParent } = await node.runtime.again();
    const side = containerOf(await node.running('frail'), 'side').containerID?.replace('containerd://', '') ?? '';
    process.kill(pid, 'SIGSTOP');
    try {
      await node.write('patient', steadyPod('patient'));
      // A container can exit without containerd, but then nobody observes its exit.
      process.kill(await firstProcess(cgroupParent, side), 'SIGKILL');
      await runtimeIs('not ready');
      await eventually('explain tells why the new pod waits', async () =>
        (await explain('patient')).includes('the container runtime is not ready'),
      );
      expect(await explain('web')).toContain('pod web-node is running, with 2 of 2 containers ready');
      expect(identitiesOf(await node.running('web'))).toEqual(before);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await runtimeIs('ready');
    await node.running('patient');
    await node.until('is whole again', 'frail', (pod) => allRun(pod) && identitiesOf(pod).side?.restarts === 1);
    expect(identitiesOf(await node.running('frail')).main?.restarts).toBe(0);
    expect(identitiesOf(await node.running('web'))).toEqual(before);
    agent.mustLive();
  });
});
