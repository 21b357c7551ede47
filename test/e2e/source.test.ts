/**
 * Pod changes that no manifest file can cause. They come from a source in the form that an API server uses, and their
 * effects are observed on a real containerd.
 */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { PodCondition } from '../../kubernetes/api/schema/status.ts';
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';
import { noAbort } from './support/containerd.ts';
import { forAllTests } from './support/forAllTests.ts';
import { freePort } from './support/freePort.ts';
import { apiPod, hearing, shell, steadily, stubbornly } from './support/manifests.ts';
import { containerOf } from './support/node.ts';
import { execIn } from './support/rawPod.ts';
import { sourceNode } from './support/sourceNode.ts';

const node = await forAllTests(sourceNode);
const { cri } = node.runtime;

/** Returns the name, attempt and state of each of the pod's containers at the runtime. */
async function containersAtRuntime(uid: string): Promise<string[]> {
  const filter = { id: '', state: undefined, podSandboxId: '', labelSelector: { 'io.kubernetes.pod.uid': uid } };
  const { containers } = await cri.listContainers({ filter }, { signal: noAbort });
  return containers.map(({ metadata, state }) => `${metadata?.name} ${metadata?.attempt} ${STATES[state]}`).sort();
}

const STATES = ['created', 'running', 'exited', 'unknown'];

const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((each) => each.type === type);

describe('an ephemeral container', () => {
  const main = hearing('main');
  const debugged = (...names: string[]) =>
    apiPod('debugged', [main], {
      ephemeralContainers: names.map((name) => ({
        // The shell has a PID above 1 only if it shares the process namespace of its target.
        ...shell(name, name === 'debug' ? 'read pid rest < /proc/self/stat; [ $pid -gt 1 ] && exit 3' : steadily()),
        targetContainerName: 'main',
      })),
    });
  const debugOf = ({ status }: Pod) => status?.ephemeralContainerStatuses?.find(({ name }) => name === 'debug');

  test('C5: runs once among the processes of its target when it is added, and never again', async () => {
    node.want(apiPod('debugged', [main]));
    const before = containerOf(await node.running('debugged'));
    node.want(debugged('debug'));
    const ended = await node.until('debug has ended', 'debugged', (pod) => debugOf(pod)?.state?.terminated && pod);
    expect(debugOf(ended)).toMatchObject({
      state: { terminated: { exitCode: 3, reason: 'Error' } },
      ready: false,
      restartCount: 0,
    });
    expect(ended.status).toMatchObject({ phase: 'Running', containerStatuses: [before] });
    expect(conditionOf(ended, 'Ready')?.status).toBe('True');

    // The target exits later and restarts, which shows that the debug container has not restarted.
    await execIn(cri, before.containerID?.replace('containerd://', '') ?? '', 'kill', '1').catch(() => {});
    const after = await node.until('main runs again', 'debugged', (pod) => {
      const { restartCount, state } = containerOf(pod);
      return restartCount === 1 && state?.running && pod;
    });
    expect(debugOf(after)).toEqual(debugOf(ended));

    node.want(debugged('debug', 'more'));
    const more = await node.until('more runs', 'debugged', (pod) => {
      return (
        pod.status?.ephemeralContainerStatuses?.some(({ name, state }) => name === 'more' && state?.running) && pod
      );
    });
    expect(debugOf(more)).toEqual(debugOf(ended));
    expect(await containersAtRuntime(more.metadata.uid)).toEqual([
      'debug 0 exited',
      'main 0 exited',
      'main 1 running',
      'more 0 running',
    ]);
  });
});

describe('C24: a critical pod that does not fit', () => {
  const MOST = node.cpuMillis - 100;
  const asking = (name: string, millis: number, spec: Partial<PodSpec> = {}, hostPort?: number) => {
    const ports = hostPort === undefined ? {} : { ports: [{ containerPort: 80, hostPort }] };
    const resources = { requests: { cpu: `${millis}m` } };
    return apiPod(name, [hearing('main', { resources, ...ports })], spec);
  };

  test('preempts another pod, which has the phase of its exits and the reason, and its resources and port are released', async () => {
    const port = await freePort();
    const [small, large] = [asking('small', 50), asking('large', MOST, {}, port)];
    node.want(small, large);
    await Promise.all([node.running('small'), node.running('large')]);
    const critical = asking('critical', MOST, { priority: 2_000_000_000 });
    node.want(small, large, critical);
    await node.running('critical');
    const victim = await node.until('has ended', 'large', (pod) => pod.status?.phase === 'Succeeded' && pod);
    expect(victim.status).toMatchObject({
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } }, ready: false }],
    });
    // Reason and message belong to the phase Failed, which the exit codes override (`generateAPIPodStatus`).
    expect(victim.status).not.toHaveProperty('reason');
    expect(victim.metadata.deletionTimestamp).toBeUndefined();
    expect(conditionOf(victim, 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' });
    expect(await containersAtRuntime(victim.metadata.uid)).toEqual(['main 0 exited']);
    expect(containerOf(await node.running('small')).restartCount).toBe(0);

    node.want(small, large, critical, asking('next', 10, {}, port));
    await node.running('next');
    expect(await containersAtRuntime(victim.metadata.uid)).toEqual(['main 0 exited']);
  });
});

test('C15: a pod with a readiness gate is ready exactly as long as its condition is True', async () => {
  const conditionType = 'example.com/in-service';
  const gated = (status?: 'True' | 'False') => {
    const pod = apiPod('gated', [shell('main', steadily())], { readinessGates: [{ conditionType }] });
    const condition = { type: conditionType, lastTransitionTime: '2026-01-01T00:00:00Z' };
    return status === undefined ? pod : { ...pod, status: { conditions: [{ ...condition, status }] } };
  };
  const isReady = (status: 'True' | 'False') => (pod: Pod) => conditionOf(pod, 'Ready')?.status === status && pod;
  node.want(gated());
  const running = await node.running('gated');
  expect(conditionOf(running, 'ContainersReady')?.status).toBe('True');
  expect(conditionOf(running, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
  });
  node.want(gated('True'));
  const ready = await node.until('is ready', 'gated', isReady('True'));
  expect(conditionOf(ready, conditionType)).toMatchObject({
    status: 'True',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  node.want(gated('False'));
  const closed = await node.until('is not ready any more', 'gated', isReady('False'));
  expect(conditionOf(closed, 'Ready')?.message).toBe(
    `the status of pod readiness gate "${conditionType}" is not "True", but False`,
  );
  expect(containerOf(closed)).toMatchObject({ ready: true, restartCount: 0 });
});

describe('C10: a pod that is being deleted', () => {
  const patient = apiPod('patient', [shell('main', stubbornly)], { terminationGracePeriodSeconds: 600 });
  const deleted = (pod: Pod, deletionGracePeriodSeconds: number): Pod => {
    const deletionTimestamp = rfc3339(Date.now() + deletionGracePeriodSeconds * 1_000);
    return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds } };
  };

  test('terminates early when its grace period is shortened, and stays terminated until its source removes it', async () => {
    node.want(patient);
    await node.running('patient');
    node.want(deleted(patient, 500));
    const ending = await node.until(
      'is ending',
      'patient',
      (pod) => pod.metadata.deletionTimestamp !== undefined && pod,
    );
    expect(ending).toMatchObject({ metadata: { deletionGracePeriodSeconds: 500 }, status: { phase: 'Running' } });
    expect(containerOf(ending).state).toHaveProperty('running');
    // A later deletion with more grace than remains changes nothing.
    node.want(deleted(patient, 550));
    // Any change would take effect within one turn of the event loop.
    await setImmediate();
    const { metadata } = await node.until('is known', 'patient', (pod) => pod);
    expect(metadata).toEqual(ending.metadata);
    node.want(deleted(patient, 1));
    const ended = await node.until('has ended', 'patient', (pod) => pod.status?.phase === 'Failed' && pod);
    expect(containerOf(ended).state?.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
    expect(ended.metadata.deletionGracePeriodSeconds).toBe(1);
    expect(await containersAtRuntime(ended.metadata.uid)).toEqual(['main 0 exited']);
    node.want();
    await node.gone('patient');
    expect(await containersAtRuntime(ended.metadata.uid)).toEqual([]);
  });

  test('C5: is not started if it arrives only now', async () => {
    const late = apiPod('late', [shell('main', steadily())]);
    node.want(deleted(late, 30));
    await node.until('has ended', 'late', (pod) => pod.status?.phase === 'Failed' && pod);
    expect(await containersAtRuntime(late.metadata.uid)).toEqual([]);
  });
});
