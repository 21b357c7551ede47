import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import { containerHash } from '../../kubernetes/api/pods/containerHash.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, identitiesOf, runNode, timelessStatus } from './support/node.ts';
import { runRawPod } from './support/rawPod.ts';
import { processesIn } from './support/traces.ts';

const node = await nodeForAllTests(runNode, {
  prepare: ({ write }) => write('web', podManifest('web', [shell('main', steadily('echo hello; echo trouble >&2'))])),
});
let { agent } = node;
beforeAll(() => node.running('web'));

const cri = () => node.runtime.cri;

const inShared = { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] };
const volumes = () => [{ name: 'shared', hostPath: { path: node.shared } }];

/** Returns the IDs of a pod's containers at the runtime. */
async function containersOf({ metadata: { uid } }: Pod): Promise<string[]> {
  const { containers } = await cri().listContainers({ filter: undefined }, { signal: noAbort });
  return containers.filter(({ labels }) => labels['io.kubernetes.pod.uid'] === uid).map(({ id }) => id);
}

/** CONTAINER_RUNNING in the CRI. */
const running = 1;

/** Stops the agent gracefully, runs `meanwhile`, and starts the next agent. */
async function restart(
  meanwhile: () => Promise<unknown> = async () => {},
  args: readonly string[] = [],
): Promise<void> {
  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
  await meanwhile();
  agent = await node.start({ args });
}

/** Labels by which the kubelet recognizes a pod's sandboxes and containers. */
const labelsOf = (name: string, uid: string) => ({
  'io.kubernetes.pod.name': name,
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': uid,
});

function rawPod(name: string, uid: string) {
  const cgroupParent = `${node.runtime.containerd.cgroupParent}/raw-${uid}`;
  const labels = labelsOf(name, uid);
  const annotations = { 'io.kubernetes.container.hash': containerHash({ name: 'main', image: BUSYBOX_IMAGE }) };
  return runRawPod(cri(), {
    name,
    uid,
    labels,
    annotations,
    command: ['sleep', '1000'],
    cgroupParent,
  });
}

describe('the command `statelet run`', () => {
  test('C23: stores logs and their symlinks where log collectors expect them', async () => {
    const { metadata, status } = await node.running('web');
    const id = status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '');
    const file = join(node.podLogs, `default_web-node_${metadata.uid}`, 'main', '0.log');
    const links = join(node.podLogs, '..', 'containers');
    expect(await readdir(links)).toEqual([`web-node_default_main-${id}.log`]);
    expect(await readlink(join(links, `web-node_default_main-${id}.log`))).toBe(file);
    const lines = await eventually('both lines are in the log', async () => {
      const read = (await readFile(join(links, `web-node_default_main-${id}.log`), 'utf8')).trim().split('\n');
      return read.length === 2 && read;
    });
    const line = (text: string) => expect.stringMatching(new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+\\S+ ${text}$`));
    expect(lines).toEqual(expect.arrayContaining([line('stdout F hello'), line('stderr F trouble')]));
  });

  test('stops on SIGTERM and leaves the pods, which the next agent adopts', async () => {
    const before = await node.running('web');
    const processes = await processesIn(node.runtime.containerd.cgroupParent);
    await restart(async () => {
      expect(agent.err()).toContain('its pods keep running');
      expect(await processesIn(node.runtime.containerd.cgroupParent)).toEqual(processes);
    });
    const after = await node.running('web');
    expect(timelessStatus(after)).toEqual(timelessStatus(before));
    expect(await processesIn(node.runtime.containerd.cgroupParent)).toEqual(processes);
  });

  test('leaves pods running that it would not admit', async () => {
    const before = await node.running('web');
    await restart(() => node.write('late', podManifest('late', [shell('main', steadily())])), ['--max-pods', '0']);
    await node.until('is refused', 'late', ({ status }) => status?.reason === 'UnexpectedAdmissionError');
    expect(timelessStatus(await node.running('web'))).toEqual(timelessStatus(before));
    await node.remove('late');
    await node.gone('late');
    await restart();
  });

  test('terminates a pod whose manifest was removed while no agent ran, and deletes everything of it', async () => {
    await node.write('brief', podManifest('brief', [shell('main', steadily())]));
    const { uid } = (await node.running('brief')).metadata;
    await restart(() => node.remove('brief'));
    await eventually('nothing of it is left', async () => {
      const { items } = await cri().listPodSandbox({ filter: undefined }, { signal: noAbort });
      return !items.some(({ metadata }) => metadata?.uid === uid);
    });
    await eventually('its directory is gone', async () => !(await readdir(join(node.rootDir, 'pods'))).includes(uid));
    expect(await readdir(node.podLogs)).not.toContain(`default_brief-node_${uid}`);
    await node.running('web');
  });

  test('lists foreign sandboxes and leaves them alone', async () => {
    const { sandboxId, containerId } = await rawPod('other', 'foreign-uid');
    await restart();
    await node.running('web');
    const foreign = [{ uid: 'foreign-uid', name: 'other', sandboxes: [sandboxId] }];
    expect(await node.ask('/node')).toMatchObject({ foreign });
    const { containers } = await cri().listContainers({ filter: undefined }, { signal: noAbort });
    expect(containers.find(({ id }) => id === containerId)?.state).toBe(running);
  });

  test('adopts an unmarked sandbox of a wanted pod with its container', async () => {
    let containerId = '';
    await restart(async () => {
      ({ containerId } = await rawPod('wanted-node', 'wanted-uid'));
      const main = { name: 'main', image: BUSYBOX_IMAGE, command: ['sleep', '1000'] };
      await node.write('wanted', podManifest('wanted', [main], { uid: 'wanted-uid' }));
    });
    const pod = await node.running('wanted');
    expect(identitiesOf(pod)).toEqual({ main: { id: `containerd://${containerId}`, restarts: 0 } });
    await node.remove('wanted');
    await node.gone('wanted');
  });

  test('C2: leaves a pod that has succeeded under an earlier agent as it is, and runs nothing of it again', async () => {
    const file = join(node.shared, 'once');
    const main = shell('main', 'echo ran >> /shared/once', inShared);
    await node.write('once', podManifest('once', [main], { restartPolicy: 'OnFailure', volumes: volumes() }));
    const hasSucceeded = (pod: Pod) => pod.status?.phase === 'Succeeded' && pod;
    const before = await node.until('has succeeded', 'once', hasSucceeded);
    // Removes the sandbox as well, so that even the runtime no longer knows that the pod completed.
    await restart(async () => {
      const { items } = await cri().listPodSandbox({ filter: undefined }, { signal: noAbort });
      for (const { id, metadata } of items) {
        if (metadata?.uid === before.metadata.uid)
          await cri().removePodSandbox({ podSandboxId: id }, { signal: noAbort });
      }
    });
    await node.write('later', podManifest('later', [shell('main', steadily())]));
    await node.running('later');
    expect(timelessStatus(await node.until('has succeeded', 'once', hasSucceeded))).toEqual(timelessStatus(before));
    expect(await readFile(file, 'utf8')).toBe('ran\n');
    expect(await containersOf(before)).toEqual([]);
    await Promise.all([node.remove('once'), node.remove('later')]);
    await Promise.all([node.gone('once'), node.gone('later')]);
  });

  test('C13: reports an unknown exit for a container that is removed externally while its pod terminates', async () => {
    const script = "trap 'touch /shared/asked' TERM; while :; do sleep 0.1; done";
    const spec = { uid: 'overdue-uid', terminationGracePeriodSeconds: 600, volumes: volumes() };
    const overdue = (more: Partial<PodSpec> = {}) =>
      podManifest('overdue', [shell('main', script, inShared)], { ...spec, ...more });
    await node.write('overdue', overdue());
    const [containerId = ''] = await containersOf(await node.running('overdue'));
    await node.write('overdue', overdue({ activeDeadlineSeconds: 1 }));
    await eventually('it is asked to end', () => existsSync(join(node.shared, 'asked')));
    // Prevents the agent from observing the container between its exit and its removal.
    agent.kill('SIGSTOP');
    await cri()
      .removeContainer({ containerId }, { signal: noAbort })
      .finally(() => agent.kill('SIGCONT'));
    const ended = await node.until('has ended', 'overdue', (pod) => pod.status?.phase === 'Failed' && pod);
    expect(ended.status?.reason).toBe('DeadlineExceeded');
    expect(containerOf(ended).state?.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
    await node.remove('overdue');
    await node.gone('overdue');
  });

  test('C27: reports the pod IP that its containers see, one per family, and at most two node IPs', async () => {
    await restart(undefined, ['--node-ip', '192.0.2.7,2001:db8::7']);
    const look = "ip -4 -o address show dev eth0 | sed 's,.* inet \\([0-9.]*\\)/.*,\\1,'; echo end";
    await node.write('inside', podManifest('inside', [shell('main', steadily(look))]));
    await node.write('outside', podManifest('outside', [shell('main', steadily())], { hostNetwork: true }));
    const inside = await node.running('inside');
    const [own] = await node.log(inside, 'main', 'end');
    const hostIPs = [{ ip: '192.0.2.7' }, { ip: '2001:db8::7' }];
    expect(inside.status).toMatchObject({ podIP: own, podIPs: [{ ip: own }], hostIP: '192.0.2.7', hostIPs });
    expect((await node.running('outside')).status).toMatchObject({ podIP: '192.0.2.7', podIPs: hostIPs, hostIPs });
    await Promise.all([node.remove('inside'), node.remove('outside')]);
    await Promise.all([node.gone('inside'), node.gone('outside')]);
    await restart();
  });

  test('duplicates nothing after it was killed while starting a pod', async () => {
    await node.write('half', podManifest('half', [shell('main', steadily()), shell('side', steadily())]));
    await node.until('is being made', 'half', ({ status }) => status?.phase === 'Pending');
    agent.kill('SIGKILL');
    await agent.ended;
    agent = await node.start();
    const pod = await node.running('half');
    const { uid } = pod.metadata;
    await eventually('one sandbox and two containers', async () => {
      const { items } = await cri().listPodSandbox({ filter: undefined }, { signal: noAbort });
      const { containers } = await cri().listContainers({ filter: undefined }, { signal: noAbort });
      const own = containers.filter(({ labels }) => labels['io.kubernetes.pod.uid'] === uid);
      return items.filter(({ metadata }) => metadata?.uid === uid).length === 1 && own.length === 2;
    });
    expect(containerOf(pod, 'side').state?.running).toBeDefined();
  });
});
