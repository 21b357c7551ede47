import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podActors } from '../../show/actors/podActors.ts';
import { podReason } from '../../show/reason.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { seenPod } from '../kubernetes/views.ts';

const Mi = 2 ** 20;

/** Returns a pod of one container whose limits equal its requests, with additional fields. */
function sized(cpu: string, memory: string, more: Partial<Container> = {}, name = 'web'): Pod {
  const resources = { requests: { cpu, memory }, limits: { cpu, memory } };
  return podWith(name, { containers: [containerWith('main', { resources, ...more })] });
}

const conditionOf = (node: SimulatedNode, type: string, name = 'web') => {
  const found = node.pod(name).conditions?.find((condition) => condition.type === type);
  return found && [found.status, found.reason, found.message].filter((each) => each !== undefined).join(' ');
};
const quotaOf = (node: SimulatedNode, id: string) => Number(node.runtime.resourcesOf(id)?.cpuQuota ?? 0n);

async function running(pod: Pod, capacity = { cpuMillis: 2_000, memoryBytes: 512 * Mi, pods: 5 }) {
  const node = await simulatedNode({ pods: [pod], config: { capacity } });
  await node.advance('5s');
  expect(node.container(pod.metadata.name).state?.running).toBeDefined();
  return node;
}

describe('C25: in-place resize', () => {
  test('increases and decreases the resources of a container without a restart', async () => {
    const node = await running(sized('500m', '64Mi'));
    const id = node.containerId('web');
    for (const [cpu, memory] of [
      ['1', '128Mi'],
      ['250m', '32Mi'],
    ] as const) {
      node.apply(sized(cpu, memory));
      await node.advance('1s');
      expect(node.containerId('web')).toBe(id);
      expect(node.container('web')).toMatchObject({
        restartCount: 0,
        allocatedResources: { cpu, memory },
        resources: { requests: { cpu, memory }, limits: { cpu, memory } },
      });
      expect(conditionOf(node, 'PodResizeInProgress')).toBeUndefined();
    }
    expect(quotaOf(node, id)).toBe(25_000);
    expect(node.runtime.resourcesOf(id)?.memoryLimitInBytes).toBe(BigInt(32 * Mi));
  });

  test('resizes a running init container, and starts the next one with the last admitted resources', async () => {
    const pod = (cpu: string, later = cpu): Pod => {
      const init = (name: string, seconds: number, amount: string): Container =>
        containerWith(name, {
          command: ['sh', '-c', `sleep ${seconds}`],
          resources: { requests: { cpu: amount }, limits: { cpu: amount } },
        });
      return podWith('web', { initContainers: [init('first', 20, cpu), init('second', 20, later)] });
    };
    const capacity = { cpuMillis: 2_000, memoryBytes: 512 * Mi, pods: 5 };
    const reasons: string[] = [];
    const events = ({ reason }: { readonly reason: string }) => void reasons.push(reason);
    const node = await simulatedNode({ pods: [pod('500m')], config: { capacity }, parts: { events } });
    await node.advance('5s');
    const statuses = () => node.pod('web').initContainerStatuses ?? [];
    const idOf = (index: number) => statuses()[index]?.containerID?.replace(/.*:\/\//, '') ?? '';
    const first = idOf(0);
    expect(statuses()[0]?.state?.running).toBeDefined();
    node.apply(pod('1', '1500m'));
    await node.advance('2s');
    expect(idOf(0)).toBe(first);
    expect(statuses()[0]).toMatchObject({ restartCount: 0, allocatedResources: { cpu: '1' } });
    expect(statuses()[0]?.resources).toEqual({ requests: { cpu: '1' }, limits: { cpu: '1' } });
    expect(quotaOf(node, first)).toBe(100_000);
    expect(reasons.filter((reason) => reason.startsWith('Resize'))).toEqual(['ResizeStarted', 'ResizeCompleted']);
    expect(conditionOf(node, 'PodResizeInProgress')).toBeUndefined();
    await node.advance('20s');
    expect(statuses()[1]?.state?.running).toBeDefined();
    expect(quotaOf(node, idOf(1))).toBe(150_000);
    node.apply(pod('1500m', '500m'));
    await node.advance('2s');
    // A container that has completed is not resized.
    expect(node.calls('updateContainerResources')).toHaveLength(2);
    expect(quotaOf(node, idOf(1))).toBe(50_000);
    await node.advance('30s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('of an init container is in progress until the runtime has resized it', async () => {
    const pod = (cpu: string): Pod => {
      const resources = { requests: { cpu }, limits: { cpu } };
      const setup = containerWith('setup', { command: ['sh', '-c', 'sleep 60'], resources });
      return podWith('web', { initContainers: [setup] });
    };
    const reasons: string[] = [];
    const events = ({ reason }: { readonly reason: string }) => void reasons.push(reason);
    const node = await simulatedNode({ pods: [pod('500m')], parts: { events } });
    await node.advance('5s');
    const { release } = node.runtime.faults.add({ call: 'updateContainerResources', hang: true });
    node.apply(pod('1'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizeInProgress')).toBe('True');
    expect(reasons).not.toContain('ResizeCompleted');
    release();
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizeInProgress')).toBeUndefined();
    expect(reasons).toContain('ResizeCompleted');
  });

  test('in progress shows the actual resources beside the admitted ones', async () => {
    const node = await running(sized('500m', '64Mi'));
    node.runtime.faults.add({ call: 'updateContainerResources', hang: true });
    node.apply(sized('1', '128Mi'));
    await node.advance('1s');
    expect(node.view('web').state).toBe('active.running.resizing');
    expect(conditionOf(node, 'PodResizeInProgress')).toBe('True');
    expect(node.container('web')).toMatchObject({
      allocatedResources: { cpu: '1', memory: '128Mi' },
      resources: { limits: { cpu: '500m', memory: '64Mi' } },
    });
  });

  test('with the policy RestartContainer restarts the container once, gracefully and without back-off', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    const node = await running(sized('500m', '64Mi', { resizePolicy }));
    const id = node.containerId('web');
    node.apply(sized('1', '64Mi', { resizePolicy }));
    await node.advance('1s');
    expect(node.containerId('web')).toBe(id);
    node.apply(sized('1', '128Mi', { resizePolicy }));
    await node.advance('40s');
    expect(node.container('web')).toMatchObject({ restartCount: 1, resources: { limits: { memory: '128Mi' } } });
    expect(node.calls('stopContainer')).toHaveLength(1);
    expect(conditionOf(node, 'PodResizeInProgress')).toBeUndefined();
  });

  test('that does not fit yet is deferred until resources are freed', async () => {
    const node = await running(sized('500m', '64Mi'));
    node.apply(sized('1', '64Mi', {}, 'other'));
    await node.advance('5s');
    node.apply(sized('1500m', '64Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBe(
      "True Deferred Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
    );
    expect(node.container('web').allocatedResources).toEqual({ cpu: '500m', memory: '64Mi' });
    node.remove('other');
    await node.advance('40s');
    expect(conditionOf(node, 'PodResizePending')).toBeUndefined();
    expect(quotaOf(node, node.containerId('web'))).toBe(150_000);
  });

  test('beyond the capacity of the node is deferred and explained, and reverting it restores the previous state', async () => {
    const node = await running(sized('500m', '64Mi'));
    node.apply(sized('3', '64Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBe(
      "True Deferred Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
    );
    expect(node.agent.explain('web')?.pod.facts).toEqual([
      'update not admitted: Deferred: requests 3 CPUs, but the node has 2',
    ]);
    node.apply(sized('500m', '64Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBeUndefined();
    expect(node.calls('updateContainerResources')).toEqual([]);
  });

  test('C24: of a critical pod preempts others, and completes when they have terminated', async () => {
    const priority = 2_000_000_000;
    const important = (cpu: string) => {
      const pod = sized(cpu, '64Mi');
      return { ...pod, spec: { ...pod.spec, priority } };
    };
    const node = await running(important('500m'));
    node.apply(sized('1', '64Mi', {}, 'other'));
    await node.advance('5s');
    const id = node.containerId('web');
    node.apply(important('1500m'));
    await node.advance('40s');
    expect(node.pod('other')).toMatchObject({ phase: 'Failed', reason: 'Preempting' });
    expect(conditionOf(node, 'PodResizePending')).toBeUndefined();
    expect([node.containerId('web'), quotaOf(node, id)]).toEqual([id, 150_000]);
  });

  test('C24: of a critical pod is shown as waiting while preempted pods terminate', async () => {
    const important = (cpu: string) => {
      const pod = sized(cpu, '64Mi');
      return { ...pod, spec: { ...pod.spec, priority: 2_000_000_000 } };
    };
    const node = await running(important('500m'));
    const command = ['sh', '-c', "trap '' TERM; while :; do sleep 1; done"];
    const other = sized('1', '64Mi', { command }, 'other');
    node.apply({ ...other, spec: { ...other.spec, terminationGracePeriodSeconds: 600 } });
    await node.advance('5s');
    node.apply(important('1500m'));
    const words = 'update waiting for room: other pods are being terminated to free it';
    const notes = () => node.agent.explain('web')?.pod.facts;
    const reason = () => podReason(podActors(seenPod(node.view('web'))), node.clock.now());
    await node.advance('9m');
    expect([notes(), reason()]).toEqual([[words], words]);
    await node.advance('2m');
    expect([notes(), node.container('web').allocatedResources]).toEqual([[], { cpu: '1500m', memory: '64Mi' }]);
  });

  test('C24: of a critical pod is deferred if no pod can be preempted for it', async () => {
    const priority = 2_000_000_000;
    const important = (cpu: string, name: string) => {
      const pod = sized(cpu, '64Mi', {}, name);
      return { ...pod, spec: { ...pod.spec, priority } };
    };
    const node = await running(important('500m', 'web'));
    node.apply(important('1', 'other'));
    await node.advance('5s');
    node.apply(important('1500m', 'web'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBe(
      'True Deferred Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 500), ]',
    );
    expect(node.agent.explain('web')?.pod.facts).toEqual([
      "update not admitted: Deferred: requests 1.5 CPUs, but 1 of the node's 2 are allocated to pod other",
    ]);
    node.remove('other');
    await node.advance('40s');
    expect(quotaOf(node, node.containerId('web'))).toBe(150_000);
  });

  test('of memory with LimitedSwap is infeasible for a container that may swap', async () => {
    const burstable = (memory: string) =>
      podWith('web', {
        containers: [containerWith('main', { resources: { requests: { memory }, limits: { memory: '128Mi' } } })],
      });
    const node = await simulatedNode({ pods: [burstable('32Mi')], config: { limitedSwap: true } });
    await node.advance('5s');
    node.apply(burstable('64Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBe(
      'True Infeasible In-place resize of containers with swap is not supported.',
    );
    expect(node.container('web').allocatedResources).toEqual({ memory: '32Mi' });
    node.apply(burstable('32Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBeUndefined();
  });

  test('that would change the QoS class is not applied, but the rest of the update is', async () => {
    const resources = { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m', memory: '64Mi' } };
    const before = sized('500m', '64Mi');
    const node = await running(before);
    const [main] = before.spec.containers;
    const containers = main ? [{ ...main, resources }] : [];
    const labels = { changed: 'yes' };
    node.apply({
      ...before,
      metadata: { ...before.metadata, labels },
      spec: { ...before.spec, containers },
    });
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizePending')).toBe(
      'True Infeasible Pod QOS Class may not change as a result of resizing',
    );
    expect(node.view('web').pod.metadata.labels).toEqual(labels);
    expect(node.container('web').allocatedResources?.cpu).toBe('500m');
    expect(node.calls('updateContainerResources')).toEqual([]);
  });

  test('of a memory limit below the current usage waits, and reports that', async () => {
    const node = await running(sized('500m', '64Mi'));
    node.runtime.setMemoryUsage(node.containerId('web'), 48 * Mi);
    node.apply(sized('500m', '32Mi'));
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizeInProgress')).toBe(
      `True Error cannot decrease memory limits: [attempting to set pod memory limit (${32 * Mi}) below current usage (${48 * Mi}), attempting to set container "main" memory limit (${32 * Mi}) below current usage (${48 * Mi})]`,
    );
    node.runtime.setMemoryUsage(node.containerId('web'), 8 * Mi);
    await node.advance('20s');
    expect(conditionOf(node, 'PodResizeInProgress')).toBeUndefined();
    expect(node.runtime.resourcesOf(node.containerId('web'))?.memoryLimitInBytes).toBe(BigInt(32 * Mi));
  });

  test('memory that a pod still uses is not given to another one, although less was admitted for the first', async () => {
    const node = await running(sized('500m', '64Mi'), { cpuMillis: 2_000, memoryBytes: 96 * Mi, pods: 5 });
    node.apply(sized('500m', '32Mi', {}, 'other'));
    await node.advance('5s');
    node.runtime.setMemoryUsage(node.containerId('web'), 48 * Mi);
    node.apply(sized('500m', '32Mi'), sized('500m', '64Mi', {}, 'other'));
    await node.advance('1s');
    expect([conditionOf(node, 'PodResizeInProgress'), conditionOf(node, 'PodResizePending', 'other')]).toEqual([
      expect.stringContaining('Error cannot decrease memory limits'),
      expect.stringContaining('Deferred'),
    ]);
    node.runtime.setMemoryUsage(node.containerId('web'), 8 * Mi);
    await node.advance('20s');
    expect(node.container('other').resources?.limits?.memory).toBe('64Mi');
    expect(conditionOf(node, 'PodResizePending', 'other')).toBeUndefined();
  });

  test('that is deferred or in progress survives an agent restart', async () => {
    const node = await running(sized('500m', '64Mi'));
    const { release } = node.runtime.faults.add({ call: 'updateContainerResources', hang: true, times: Infinity });
    node.apply(sized('1', '64Mi'));
    await node.advance('1s');
    await node.restartAgent();
    await node.advance('1s');
    expect(conditionOf(node, 'PodResizeInProgress')).toBe('True');
    release();
    await node.advance('20s');
    expect(quotaOf(node, node.containerId('web'))).toBe(100_000);
    node.apply(sized('3', '64Mi'));
    await node.advance('1s');
    await node.restartAgent();
    await node.advance('5s');
    expect(conditionOf(node, 'PodResizePending')).toMatch(/^True Deferred/);
    expect(node.container('web')).toMatchObject({ restartCount: 0, allocatedResources: { cpu: '1', memory: '64Mi' } });
    expect(quotaOf(node, node.containerId('web'))).toBe(100_000);
  });

  test('that was requested while no agent ran is applied by the next agent, first to the container and then to the pod', async () => {
    const node = await running(sized('500m', '64Mi'));
    const id = node.containerId('web');
    node.killAgent();
    node.apply(sized('250m', '32Mi'));
    const { release } = node.runtime.faults.add({ call: 'updateContainerResources', hang: true });
    await node.startAgent();
    await node.advance('1s');
    expect(node.view('web').state).toBe('active.running.resizing');
    expect(node.pod('web')).toMatchObject({
      allocatedResources: { cpu: '250m', memory: '32Mi' },
      resources: { limits: { cpu: '500m', memory: '64Mi' } },
    });
    release();
    await node.advance('20s');
    expect(node.container('web')).toMatchObject({ restartCount: 0, resources: { limits: { cpu: '250m' } } });
    expect([node.containerId('web'), quotaOf(node, id)]).toEqual([id, 25_000]);
    expect(node.pod('web').resources?.limits).toEqual({ cpu: '250m', memory: '32Mi' });
  });

  test('C7: to other resources resets the back-off', async () => {
    const command = ['sh', '-c', 'exit 1'];
    const node = await simulatedNode({ pods: [sized('500m', '64Mi', { command })] });
    await node.advance('15s');
    expect(node.container('web').state?.waiting?.reason).toBe('CrashLoopBackOff');
    const before = node.container('web').restartCount;
    node.apply(sized('500m', '128Mi', { command }));
    await node.advance('1s');
    expect(node.container('web').restartCount).toBeGreaterThan(before);
  });
});
