import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { symlink, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { containerConfig } from '../../cri/config/containerConfig.ts';
import { OWNER_ANNOTATION } from '../../cri/config/labels.ts';
import { sandboxConfig } from '../../cri/config/sandboxConfig.ts';
import type { CallName } from '../../cri/simulated/faults/callNames.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../fakes/pods.ts';

const READS: readonly CallName[] = [
  'version',
  'status',
  'listPodSandbox',
  'listContainers',
  'podSandboxStatus',
  'containerStatus',
  'listImages',
  'imageFsInfo',
];

const writesOf = (node: SimulatedNode) => node.agentCalls.filter((call) => !READS.includes(call));
const signal = new AbortController().signal;

/** Runs a pod as a different agent would: the kubelet, which leaves no mark, or an agent with its own mark. */
async function runBeside(node: SimulatedNode, pod: Pod, owner?: string): Promise<void> {
  const cri = inProcessCri(node.runtime);
  const config = sandboxConfig(pod, 0, node.facts);
  const { [OWNER_ANNOTATION]: _ours, ...annotations } = config.annotations;
  const marked = {
    ...config,
    annotations: owner === undefined ? annotations : { ...annotations, [OWNER_ANNOTATION]: owner },
  };
  const [container = containerWith('main')] = pod.spec.containers;
  const run = async () => {
    const { podSandboxId } = await cri.runPodSandbox({ config: marked, runtimeHandler: '' }, { signal });
    const { image } = await cri.imageStatus(
      {
        image: { image: IMAGE, annotations: {}, userSpecifiedImage: IMAGE, runtimeHandler: '', imageRef: '' },
        verbose: false,
      },
      { signal },
    );
    const wanted = {
      pod,
      container,
      attempt: 0,
      imageRef: image?.id ?? '',
      volumes: {},
      environment: [],
      terminationLog: '/dev/null',
      node: node.facts,
    };
    const { containerId } = await cri.createContainer(
      { podSandboxId, config: containerConfig(wanted), sandboxConfig: marked },
      { signal },
    );
    await cri.startContainer({ containerId }, { signal });
  };
  await node.clock.advanceUntilSettled(run());
}

const manifest = (name: string, image = IMAGE) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image }] },
  });

describe('an agent restart', () => {
  test('adopts running pods with their restart counts and without any write call', async () => {
    const pods = Array.from({ length: 10 }, (_, i) => podWith(`web-${i}`));
    const node = await simulatedNode({ pods });
    await node.advance('5s');
    node.runtime.exitContainer(node.containerId('web-3'), 1);
    await node.advance('5s');
    const shown = () =>
      pods.map(({ metadata: { name } }) => {
        const { phase, podIP, containerStatuses } = node.pod(name);
        return { name, phase, podIP, containerStatuses };
      });
    const before = shown();
    await node.restartAgent();
    await node.advance('1s');
    expect(shown()).toEqual(before);
    await node.advance('60s');
    expect(writesOf(node)).toEqual([]);
    expect(node.container('web-3')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
  });

  test('starts and stops nothing before the sources have reported their pods', async () => {
    const node = await simulatedNode({ pods: [podWith('web')], silentSource: true });
    node.tellSource();
    await node.advance('2s');
    await node.restartAgent();
    await node.advance('60s');
    expect(writesOf(node)).toEqual([]);
    expect(node.agent.overview().state).toBe('awaitingSources');
    node.remove('web');
    await node.advance('5s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C10: terminates pods of this agent that were removed meanwhile, with a grace period of 1 s and the minimum stop timeout', async () => {
    const node = await simulatedNode({
      pods: [podWith('web'), podWith('gone')],
      runtime: { behaviours: { [IMAGE]: { ignoresSigterm: true } } },
    });
    await node.advance('2s');
    node.killAgent();
    node.remove('gone');
    await node.startAgent();
    await node.advance('4s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.has('gone')).toBe(false);
    expect(node.runtime.contents().sandboxes.map(({ metadata }) => metadata?.name)).toEqual(['web']);
    expect((await node.leftovers()).filter((each) => each.includes('gone'))).toEqual([]);
  });

  test('C10: runs the preStop hooks of removed pods, known only from the runtime, within the 1 s grace period', async () => {
    const preStop = { exec: { command: ['sh', '-c', 'sleep 5'] } };
    const node = await simulatedNode({
      pods: [podWith('gone', { containers: [containerWith('main', { lifecycle: { preStop } })] })],
    });
    await node.advance('2s');
    node.killAgent();
    node.remove('gone');
    await node.startAgent();
    await node.advance('900ms');
    expect(node.calls('execSync').map(({ request }) => request)).toMatchObject([{ cmd: ['sh', '-c', 'sleep 5'] }]);
    expect(node.calls('stopContainer')).toHaveLength(0);
    await node.advance('4s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('adopts an unmarked sandbox when a source wants its pod', async () => {
    const node = await simulatedNode();
    await runBeside(node, podWith('web'));
    await node.advance('12s');
    node.apply(podWith('web'));
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    expect(writesOf(node)).toEqual([]);
    node.remove('web');
    await node.advance('3s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('adopts the running containers of an unmarked sandbox even if no list has shown the sandbox yet', async () => {
    const node = await simulatedNode();
    await runBeside(node, podWith('web'));
    const [container] = node.runtime.contents().containers;
    node.apply(podWith('web'));
    await node.advance('20s');
    expect(node.containerId('web')).toBe(container?.id);
    expect(node.runtime.contents().containers).toMatchObject([{ id: container?.id, state: 1 }]);
  });

  test.each([undefined, '/another/root@node-1'])(
    'lists a sandbox of owner %s that no source wants, and leaves it alone',
    async (owner) => {
      const node = await simulatedNode();
      await runBeside(node, podWith('theirs'), owner);
      await node.restartAgent();
      await node.advance('60s');
      expect(node.agent.overview().foreign).toMatchObject([{ name: 'theirs', sandboxes: [expect.any(String)] }]);
      expect(node.has('theirs')).toBe(false);
      expect(writesOf(node)).toEqual([]);
    },
  );

  test('never touches a sandbox of another agent, and its pod waits even if a source wants it', async () => {
    const node = await simulatedNode();
    await runBeside(node, podWith('web'), '/other/root@node-9');
    const before = node.runtime.contents();
    await node.advance('12s');
    node.apply(podWith('web'));
    await node.advance('20s');
    const message = 'it has a sandbox created by the agent with the root directory /other/root on node node-9';
    expect(node.view('web')).toMatchObject({
      state: 'awaitingOtherAgent',
      isUnsettled: true,
      lastFailure: { message },
    });
    node.remove('web');
    await node.advance('60s');
    expect(node.has('web')).toBe(false);
    expect(node.agent.overview().foreign).toMatchObject([{ name: 'web' }]);
    node.apply(podWith('web'));
    await node.advance('20s');
    expect(node.view('web').state).toBe('awaitingOtherAgent');
    expect(writesOf(node)).toEqual([]);
    expect(node.runtime.contents()).toEqual(before);
    expect(await node.leftovers()).not.toContainEqual(expect.stringContaining('root/pods'));
    for (const { id } of before.sandboxes) node.runtime.removeSandbox(id);
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('does not adopt a sandbox of another agent that no list has shown yet', async () => {
    const node = await simulatedNode();
    await runBeside(node, podWith('web'), '/other/root@node-9');
    const before = node.runtime.contents();
    node.apply(podWith('web'));
    await node.advance('20s');
    node.remove('web');
    await node.advance('60s');
    expect(node.runtime.contents()).toEqual(before);
    expect(writesOf(node).filter((call) => /stop|remove/.test(call))).toEqual([]);
  });

  test('adopts a sandbox whose mark names our root directory through a symlink', async () => {
    const node = await simulatedNode();
    await symlink(node.path('root'), node.path('link'));
    await runBeside(node, podWith('web'), `${node.path('link')}@node-1`);
    await node.advance('12s');
    node.apply(podWith('web'));
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    node.remove('web');
    await node.advance('20s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C2: does not rerun a completed pod, and preserves its status, even if the runtime has lost the pod', async () => {
    const pods = [
      podRunning('job', 'exit 0', { restartPolicy: 'OnFailure' }),
      podRunning('bad', 'exit 4', { restartPolicy: 'Never' }),
    ];
    const node = await simulatedNode({ pods });
    await node.advance('3s');
    const [job, bad] = [node.pod('job'), node.pod('bad')];
    expect([job.phase, bad.phase]).toEqual(['Succeeded', 'Failed']);
    node.killAgent();
    for (const { id } of node.runtime.contents().sandboxes) node.runtime.removeSandbox(id);
    await node.startAgent();
    await node.advance('30s');
    expect(node.pod('job')).toEqual(job);
    expect(node.pod('bad')).toEqual(bad);
    expect(writesOf(node).filter((call) => !call.startsWith('stop') && !call.startsWith('remove'))).toEqual([]);
    node.remove('job', 'bad');
    await node.advance('3s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C2: runs a pod that was removed and recreated with the same UID, whatever its earlier status was', async () => {
    const job = podRunning('job', 'exit 0', { restartPolicy: 'Never' });
    const node = await simulatedNode({ pods: [job] });
    await node.advance('3s');
    node.killAgent();
    await node.startAgent();
    await node.advance('3s');
    expect(node.pod('job').phase).toBe('Succeeded');
    node.remove('job');
    await node.advance('3s');
    const phases: unknown[] = [];
    node.agent.subscribe(({ pod }) => phases.push(pod.status?.phase));
    node.apply(job);
    await node.advance('3s');
    expect([...new Set(phases)]).toEqual(['Pending', 'Succeeded']);
    expect(writesOf(node).filter((call) => call.startsWith('startContainer'))).toHaveLength(1);
  });

  test('C2: preserves the phase of a completed and removed pod while its remains are cleaned up', async () => {
    const node = await simulatedNode({ pods: [podRunning('job', 'exit 0', { restartPolicy: 'OnFailure' })] });
    await node.advance('3s');
    expect(node.pod('job').phase).toBe('Succeeded');
    node.killAgent();
    node.remove('job');
    await node.startAgent();
    const phases = new Set<string | undefined>();
    node.agent.subscribe(({ pod }) => phases.add(pod.status?.phase));
    await node.advance('3s');
    expect([...phases]).toEqual(['Succeeded']);
    expect(await node.leftovers()).toEqual([]);
  });

  test('admits a previously admitted pod before new pods', async () => {
    const node = await simulatedNode({
      pods: [podWith('old')],
      config: { capacity: { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 1 } },
    });
    await node.advance('2s');
    node.killAgent();
    node.remove('old');
    node.apply(podWith('new'), podWith('old'));
    await node.startAgent();
    await node.advance('2s');
    expect(node.pod('old').phase).toBe('Running');
    expect(node.pod('new')).toMatchObject({ phase: 'Failed', reason: 'OutOfpods' });
  });

  test('C24: restarts the pod of a manifest that is removed and immediately recreated, but not of a manifest that is replaced', async () => {
    const node = await simulatedNode({ fromFiles: true });
    const file = `${node.manifestDir}/web.yaml`;
    await writeFile(file, manifest('web'));
    await node.advance('25s');
    const id = node.containerId('web-node-1');
    writeFileSync(node.path('whole.yaml'), manifest('web'));
    renameSync(node.path('whole.yaml'), file);
    await node.advance('25s');
    expect([node.containerId('web-node-1'), node.container('web-node-1').restartCount]).toEqual([id, 0]);
    const { uid } = node.view('web-node-1').pod.metadata;
    const logs = node.path('logs', 'pods', `default_web-node-1_${uid}`, node.container('web-node-1').name);
    mkdirSync(logs, { recursive: true });
    writeFileSync(`${logs}/0.log`, '');
    rmSync(file);
    writeFileSync(file, manifest('web'));
    for (let round = 0; round < 20 && node.calls('startContainer').length < 2; round += 1) await node.advance('5s');
    await node.advance('2s');
    expect(node.pod('web-node-1').phase).toBe('Running');
    expect(node.container('web-node-1').restartCount).toBe(1);
    expect(node.calls('stopContainer')).toHaveLength(1);
  });

  test('continues with the last good version of a manifest that has become invalid', async () => {
    const node = await simulatedNode({ fromFiles: true });
    const file = `${node.manifestDir}/web.yaml`;
    await writeFile(file, manifest('web'));
    await writeFile(`${node.manifestDir}/other.yaml`, manifest('other'));
    await node.advance('25s');
    expect(node.pod('web-node-1').phase).toBe('Running');
    const id = node.containerId('web-node-1');
    const uid = node.view('web-node-1').pod.metadata.uid;
    expect(node.agent.manifestFile(uid)).toBe(file);
    await writeFile(file, '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{');
    await node.advance('25s');
    expect(node.agent.overview().problems).toMatchObject([{ file }]);
    await node.restartAgent();
    await node.advance('25s');
    expect(node.containerId('web-node-1')).toBe(id);
    expect(node.pod('other-node-1').phase).toBe('Running');
    expect(node.agent.manifestFile(uid)).toBe(file);
    expect(writesOf(node)).toEqual([]);
    await unlink(file);
    await node.advance('25s');
    expect(node.has('web-node-1')).toBe(false);
    expect(node.agent.manifestFile(uid)).toBeUndefined();
    expect(node.pod('other-node-1').phase).toBe('Running');
  });
});
