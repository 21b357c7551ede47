/**
 * Tests the metrics of pods, which depend on the states of actors and on statuses, and that nothing of a removed pod
 * remains.
 */
import { expect, test } from '@jest/globals';
import { PodMetrics } from '../../../../kubelet-api/metrics/pods/podMetrics.ts';
import { rejectionLabel, startTimes, sumPullMs } from '../../../../kubelet-api/metrics/pods/podStarts.ts';
import { ProbeMetrics } from '../../../../kubelet-api/metrics/pods/probeMetrics.ts';
import {
  hasFinishedFirstRound,
  hasRunBefore,
  hasStarted,
  initMs,
  newTerminations,
} from '../../../../kubelet-api/metrics/pods/statusChanges.ts';
import { TrackedPods } from '../../../../kubelet-api/metrics/pods/trackedPods.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import type { PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import { podWith } from '../../../fakes/pods.ts';
import { samplesOf } from '../support/scraped.ts';

const NOW = Date.UTC(2026, 0, 1);
const iso = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();
const status = (state: object, more: object = {}): NonNullable<PodStatus['containerStatuses']>[number] => ({
  name: 'main',
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
  state,
  ...more,
});
const ended = (containerID: string, at = 5) => ({
  terminated: { exitCode: 1, reason: 'Error', containerID, finishedAt: iso(at), startedAt: iso(at - 1) },
});
const of = (...containerStatuses: NonNullable<PodStatus['containerStatuses']>): PodStatus => ({ containerStatuses });

test('a terminated run counts once, whichever state shows it', () => {
  const running = of(status({ running: { startedAt: iso(1) } }));
  const over = of(status(ended('a')));
  const waiting = of(status({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: ended('a') }));
  const again = of(status(ended('b', 7), { lastState: ended('a') }));
  const ids = (before: PodStatus | undefined, now: PodStatus, since = NOW) =>
    newTerminations(before, now, since).map(({ run }) => run.containerID);
  expect(ids(running, over)).toEqual(['a']);
  expect(ids(running, waiting)).toEqual(['a']);
  expect(ids(over, waiting)).toEqual([]);
  expect(ids(waiting, again)).toEqual(['b']);
  // A runtime that has restarted may have renamed the container.
  expect(ids(over, of(status(ended('renamed'))))).toEqual([]);
  expect(ids(over, of(status(ended('next'), { restartCount: 1, lastState: ended('a') })))).toEqual(['next']);
  expect(ids(undefined, over)).toEqual(['a']);
  expect(ids(undefined, over, NOW + 6_000)).toEqual([]);
  // The times in a status have no fractions of a second.
  expect(ids(running, over, NOW + 5_900)).toEqual(['a']);
  expect(ids({}, { initContainerStatuses: over.containerStatuses ?? [] })).toEqual(['a']);
});

test('the first sync of a pod is complete when all its containers have started or failed', () => {
  const runs = status({ running: { startedAt: iso(1) } });
  const [creating, failing] = ['ContainerCreating', 'ErrImagePull'].map((reason) => status({ waiting: { reason } }));
  if (creating === undefined || failing === undefined) throw new Error('there are two');
  expect(hasFinishedFirstRound(of(runs, creating))).toBe(false);
  expect(hasFinishedFirstRound(of(runs, failing))).toBe(true);
  expect(hasFinishedFirstRound(of())).toBe(false);
  expect(hasFinishedFirstRound({ phase: 'Failed' })).toBe(true);
  expect(hasFinishedFirstRound({ initContainerStatuses: [runs], containerStatuses: [creating] })).toBe(true);
  expect(hasStarted(of(runs, creating))).toBe(false);
  expect(hasStarted(of(runs))).toBe(true);
  expect(hasStarted(of())).toBe(false);
  expect(hasRunBefore(of(runs), NOW + 1_900)).toBe(false);
  expect(hasRunBefore(of(runs), NOW + 2_000)).toBe(true);
  expect(initMs({ initContainerStatuses: [status(ended('a')), runs] })).toBe(1_000);
});

test('overlapping pulls count once, and they are excluded from the start SLI of pods with only ephemeral volumes', () => {
  const pulls = [[5, 8] as const, [0, 4] as const, [2, 6] as const];
  expect(sumPullMs(pulls)).toBe(8);
  const metadata = { creationTimestamp: iso(0) };
  const made = podWith('web', { volumes: [{ name: 'v', emptyDir: {} }] }, metadata);
  expect(startTimes(made, { pulls: [[NOW, NOW + 2_000]] }, NOW + 3_000)).toEqual({ totalMs: 3_000, sliMs: 1_000 });
  const kept = podWith('web', { volumes: [{ name: 'v', hostPath: { path: '/v', type: '' } }] }, metadata);
  expect(startTimes(kept, { pulls: [] }, NOW + 3_000)).toEqual({ totalMs: 3_000 });
  const annotations = { 'kubernetes.io/config.source': 'file' };
  expect(startTimes(podWith('web', {}, { ...metadata, annotations }), { pulls: [] }, NOW)).toBe(undefined);
});

test('rejection reasons are mapped to a limited set of labels', () => {
  expect(['OutOfcpu', 'OutOfexample.com/gpu', 'NodeAffinity', 'SysctlForbidden'].map(rejectionLabel)).toEqual([
    'OutOfcpu',
    'OutOfExtendedResources',
    'Other',
    'SysctlForbidden',
  ]);
});

test('thousands of pods that start and terminate leave nothing behind, even if their removal is not reported', async () => {
  let now = NOW;
  const [registry, probeRegistry, pods] = [new Registry(), new Registry(), new TrackedPods()];
  const metrics = new PodMetrics({
    registry,
    pods,
    resizeMetrics: { updated: () => {}, infeasible: () => {}, deferredAccepted: () => {} },
    now: () => now,
    isInCluster: true,
  });
  const probes = new ProbeMetrics(probeRegistry, pods);
  const live = (name: string, isTold: boolean) => {
    const pod = {
      ...podWith(name),
      status: { ...of(status({ running: { startedAt: iso(1) } })), phase: 'Running' as const },
    };
    const { uid } = pod.metadata;
    const move = (state: string, part = '') =>
      metrics.recordStateChange({ actor: `pod/${uid}${part}`, state, at: now });
    for (const state of ['new', 'admitting', 'preparing', 'active.running.steady']) move(state);
    for (const state of ['launching.creatingContainer', 'running.ready']) move(state, '/container/main');
    metrics.recordPodChange({ uid, pod, removed: false });
    const input = { pod, container: 'main', kind: 'liveness', id: 'c', podIp: undefined } as const;
    const output = { result: 'success', message: '', startedAt: now, at: now + 3 } as const;
    probes.tried({ port: 'runProbe', input, ms: 3, output });
    move('terminating.stoppingSandbox');
    move('terminated');
    if (isTold) {
      metrics.recordPodChange({ uid, pod, removed: true });
      probes.forget(uid);
    }
    // This attempt was still in progress when the pod terminated.
    probes.tried({ port: 'runProbe', input, ms: 3, output });
  };
  for (let each = 0; each < 3_000; each += 1) live(`pod-${each}`, each % 2 === 0);
  expect(pods.size).toBe(1_500);
  // A late attempt leaves no series for a pod whose removal was reported.
  const tries = [...(await samplesOf(probeRegistry)).keys()].filter((each) => each.startsWith('prober_probe_total'));
  expect(tries).toHaveLength(1_500);
  now += 61_000;
  pods.sweep(now);
  probes.sweep();
  expect(pods.size).toBe(0);
  expect((await samplesOf(probeRegistry)).size).toBe(0);
  const samples = await samplesOf(registry);
  expect(samples.get('kubelet_pod_worker_duration_seconds_count{operation_type="create"}')).toBe(3_000);
  expect(samples.size).toBeLessThan(200);
});
