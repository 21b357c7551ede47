import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

const config = { capacity: { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 3 } };

const asking = (name: string, cpu: string, spec: Partial<Pod['spec']> = {}): Pod =>
  podWith(name, { containers: [containerWith('main', { resources: { requests: { cpu } } })], ...spec });

/** Returns a critical static pod, as a source yields it. */
const critical = (name: string, cpu: string): Pod => {
  const pod = asking(name, cpu);
  return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };
};

describe('C24: a critical pod that does not fit', () => {
  test('preempts another pod within its grace period, and starts when that pod has terminated', async () => {
    const behaviours = { [IMAGE]: { termAfterMs: 5_000 } };
    const node = await simulatedNode({
      pods: [asking('a', '1500m'), asking('b', '400m')],
      config,
      runtime: { behaviours },
    });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('3s');
    expect(node.view('important')).toMatchObject({ state: 'admitting', waitingFor: 'the node to admit it' });
    expect(node.agent.explain('important')?.answer).toBe(
      'pod important is waiting for other pods to terminate and to release the resources that it needs',
    );
    expect(node.pod('a').phase).toBe('Running');
    await node.advance('4s');
    expect(node.pod('important').phase).toBe('Running');
    expect(node.pod('b').phase).toBe('Running');
    expect(node.pod('a')).toMatchObject({
      phase: 'Failed',
      reason: 'Preempting',
      message: 'Preempted in order to admit critical pod',
    });
    expect(node.pod('a').conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'TerminationByKubelet',
      message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
    });
  });

  test('preempts pods by the resources of the pods themselves, and no BestEffort pod', async () => {
    const withResources = (pod: Pod, cpu: string): Pod => ({
      ...pod,
      spec: { ...pod.spec, containers: [containerWith('main')], resources: { requests: { cpu } } },
    });
    const node = await simulatedNode({
      pods: [withResources(asking('burstable', '0'), '1'), podWith('best-effort')],
      config,
    });
    await node.advance('3s');
    node.apply(withResources(critical('important', '0'), '2'));
    await node.advance('5s');
    expect(
      ['important', 'burstable', 'best-effort'].map((name) => [node.pod(name).phase, node.pod(name).reason]),
    ).toEqual([
      ['Running', undefined],
      ['Failed', 'Preempting'],
      ['Running', undefined],
    ]);
  });

  test('leaves the preempted pod Failed, and the pod never runs again while it is wanted', async () => {
    const node = await simulatedNode({ pods: [asking('a', '1500m')], config });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('5s');
    const { startTime: _, ...status } = node.pod('a');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'Preempting' });
    node.remove('important');
    await node.advance('1m');
    expect(node.pod('a')).toMatchObject(status);
    await node.restartAgent();
    await node.advance('1m');
    expect(node.pod('a')).toMatchObject(status);
    expect(node.calls('runPodSandbox')).toHaveLength(2);
    node.remove('a');
    await node.advance('5s');
    expect(await node.leftovers()).toEqual([]);
  });

  test('C2: leaves a preempted pod that exits with 0 Succeeded, and the pod does not run again', async () => {
    const polite = containerWith('main', {
      command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1d'],
      resources: { requests: { cpu: '1500m' } },
    });
    const node = await simulatedNode({ pods: [podWith('a', { containers: [polite] })], config });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('5s');
    expect(node.pod('important').phase).toBe('Running');
    expect(node.pod('a')).toMatchObject({ phase: 'Succeeded' });
    expect(node.pod('a')).not.toHaveProperty('reason');
    expect(node.pod('a').conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({ status: 'True' });
    expect(node.pod('a').conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'PodCompleted' });
    node.remove('important');
    await node.restartAgent();
    await node.advance('1m');
    expect(node.pod('a').phase).toBe('Succeeded');
    expect(node.calls('runPodSandbox')).toHaveLength(2);
  });

  test('does not prevent the removal of the pod that it is preempting', async () => {
    const behaviours = { [IMAGE]: { termAfterMs: 5_000 } };
    const node = await simulatedNode({ pods: [asking('a', '1500m')], config, runtime: { behaviours } });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('1s');
    node.remove('a');
    await node.advance('8s');
    expect(node.has('a')).toBe(false);
    expect(node.pod('important').phase).toBe('Running');
  });

  test('repeats its preemption after an agent restart, and both pods never run together', async () => {
    const behaviours = { [IMAGE]: { termAfterMs: 5_000 } };
    const node = await simulatedNode({ pods: [asking('a', '1500m')], config, runtime: { behaviours } });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('1s');
    await node.restartAgent();
    await node.advance('10s');
    expect(node.pod('a')).toMatchObject({ phase: 'Failed', reason: 'Preempting' });
    expect(node.pod('important').phase).toBe('Running');
  });

  test('does not preempt another critical pod', async () => {
    const node = await simulatedNode({ pods: [critical('a', '1500m')], config });
    await node.advance('3s');
    node.apply(critical('important', '1'));
    await node.advance('5s');
    expect(node.pod('a').phase).toBe('Running');
    expect(node.pod('important')).toMatchObject({ phase: 'Failed', reason: 'UnexpectedAdmissionError' });
  });
});

describe('node fit', () => {
  const picky = (name: string, spec: Partial<Pod['spec']>) => podWith(name, spec);

  test('a pod that does not fit the node is Failed with the reason of a kubelet, and stays Failed', async () => {
    const admissionNode = { labels: { zone: 'a' }, taints: [{ key: 'broken', effect: 'NoExecute' as const }] };
    const tolerations = [{ operator: 'Exists' as const }];
    const node = await simulatedNode({
      pods: [
        picky('here', { nodeSelector: { zone: 'a' }, tolerations }),
        picky('there', { nodeSelector: { zone: 'b' }, tolerations }),
        picky('clean', {}),
        picky('unsafe', { tolerations, securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } }),
        picky('strict', { tolerations, securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      ],
      config: { admissionNode },
    });
    await node.advance('1m');
    expect(node.pod('here').phase).toBe('Running');
    const reasons = ['there', 'clean', 'unsafe', 'strict'].map((name) => [node.pod(name).phase, node.pod(name).reason]);
    expect(reasons).toEqual([
      ['Failed', 'NodeAffinity'],
      ['Failed', 'TaintToleration'],
      ['Failed', 'SysctlForbidden'],
      ['Failed', 'SupplementalGroupsPolicyNotSupported'],
    ]);
    expect(node.pod('unsafe').message).toBe('Pod was rejected: forbidden sysctl: "net.core.somaxconn" not allowlisted');
    expect(node.calls('runPodSandbox')).toHaveLength(1);
  });

  test('a running pod survives later changes of the node: less capacity, other labels, a taint, fewer sysctls', async () => {
    const securityContext = { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] };
    const admissionNode = { labels: { zone: 'a' }, sysctls: ['net.*'] };
    const pods = ['a', 'b', 'c'].map((name) => asking(name, '600m', { nodeSelector: { zone: 'a' }, securityContext }));
    const node = await simulatedNode({ pods, config: { ...config, admissionNode } });
    await node.advance('5s');
    const ids = ['a', 'b', 'c'].map((name) => node.containerId(name));
    node.reconfigure({
      capacity: { cpuMillis: 100, memoryBytes: 1, pods: 1 },
      admissionNode: { labels: {}, sysctls: [], taints: [{ key: 'broken', effect: 'NoExecute' }] },
    });
    await node.restartAgent();
    await node.advance('2m');
    expect(['a', 'b', 'c'].map((name) => node.containerId(name))).toEqual(ids);
    expect(['a', 'b', 'c'].map((name) => [node.pod(name).phase, node.container(name).restartCount])).toEqual([
      ['Running', 0],
      ['Running', 0],
      ['Running', 0],
    ]);
    node.apply(podWith('d'));
    await node.advance('3s');
    expect(node.pod('d')).toMatchObject({ phase: 'Failed', reason: 'OutOfpods' });
  });
});
