/** Tests what a node counts while pods start, restart, fail and are removed, on the simulated runtime. */
import { expect, jest, test } from '@jest/globals';
import { nodeMetrics } from '../../../../kubelet-api/metrics/agent/nodeMetrics.ts';
import { TrackedPods } from '../../../../kubelet-api/metrics/pods/trackedPods.ts';
import { CallMetrics } from '../../../../kubelet-api/metrics/requests/callMetrics.ts';
import { boundPod, PODS } from '../../../fakes/joinedNode.ts';
import { containerWith, podRunning, podWith } from '../../../fakes/pods.ts';
import { countedNode, samplesOf, scraped } from '../support/scraped.ts';

test('C42: a pod that starts, restarts, fails its probe and is removed is counted', async () => {
  const { node, metrics, errors } = await countedNode({ runtime: { images: { anyPullable: true } } });
  const { all, probes } = metrics.registries;
  node.apply(
    podWith('web', {
      containers: [
        containerWith('main', {
          image: 'example.com/new:1',
          readinessProbe: { exec: { command: ['false'] }, periodSeconds: 5 },
          livenessProbe: { exec: { command: ['true'] }, periodSeconds: 5 },
        }),
      ],
      volumes: [{ name: 'scratch', emptyDir: {} }],
    }),
    podRunning('bad', 'sleep 2; exit 3'),
  );
  await node.advance('9s');
  let now = await samplesOf(all);
  expect(now.get('kubelet_started_pods_total')).toBe(2);
  expect(now.get('kubelet_started_containers_total{container_type="container"}')).toBe(3);
  expect(now.get('kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"}')).toBe(
    undefined,
  );
  const ended = 'kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"}';
  expect(now.get(ended)).toBe(2);
  expect(now.get('kubelet_running_pods')).toBe(2);
  expect(now.get('kubelet_desired_pods{static=""}')).toBe(2);
  expect(now.get('kubelet_active_pods{static=""}')).toBe(2);
  expect(now.get('kubelet_working_pods{lifecycle="sync",config="desired",static=""}')).toBe(2);
  expect(now.get('kubelet_pod_start_duration_seconds_count')).toBe(2);
  expect(now.get('kubelet_pod_worker_start_duration_seconds_count')).toBe(2);
  expect(now.get('kubelet_pod_worker_duration_seconds_count{operation_type="create"}')).toBe(2);
  expect(now.get('kubelet_pod_worker_duration_seconds_count{operation_type="sync"}')).toBe(1);
  expect(now.get('kubelet_containers_per_pod_count_sum')).toBe(2);
  expect([...now.keys()].filter((name) => name.startsWith('kubelet_image_pull_duration_seconds_count'))).toHaveLength(
    1,
  );
  const mounts =
    'volume_plugin="kubernetes.io/empty-dir",operation_name="volume_mount",status="success",migrated="false"';
  expect(now.get(`storage_operation_duration_seconds_count{${mounts}}`)).toBe(1);
  const volumes = (state: string) =>
    `volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="${state}"}`;
  expect(now.get(volumes('actual_state_of_world'))).toBe(1);
  expect(now.get(volumes('desired_state_of_world'))).toBe(1);
  expect(now.get('kubelet_pleg_relist_duration_seconds_count')).toBeGreaterThan(0);
  expect(now.get('kubelet_pleg_last_seen_seconds')).toBeGreaterThan(1_767_225_000);
  expect(now.get('statelet_actors{machine="pod",state="active"}')).toBe(2);
  expect(now.get('statelet_limiter_queue{limiter="start"}')).toBe(0);
  expect(now.get('statelet_stream_sessions{kind="exec"}')).toBe(1);
  const of = 'container="main",pod="web",namespace="default"';
  const probed = await samplesOf(probes);
  expect(probed.get(`prober_probe_total{probe_type="Readiness",result="failed",${of},pod_uid="web-uid"}`)).toBe(2);
  expect(probed.get(`prober_probe_total{probe_type="Liveness",result="successful",${of},pod_uid="web-uid"}`)).toBe(2);
  // Failed probes have no duration, as in the kubelet.
  expect(probed.has(`prober_probe_duration_seconds_count{probe_type="Readiness",${of}}`)).toBe(false);
  expect(probed.get(`prober_probe_duration_seconds_count{probe_type="Liveness",${of}}`)).toBe(2);
  expect([...now.values()].filter(Number.isNaN)).toEqual([]);
  node.remove('web', 'bad');
  await node.advance('40s');
  now = await samplesOf(all);
  expect(now.get('kubelet_desired_pods{static=""}')).toBe(0);
  expect(now.get('kubelet_running_pods')).toBe(0);
  expect(now.get('kubelet_pod_worker_duration_seconds_count{operation_type="kill"}')).toBe(2);
  expect(now.get(volumes('actual_state_of_world'))).toBe(undefined);
  expect([...(await samplesOf(probes)).keys()]).toEqual(['process_start_time_seconds']);
  expect(errors).toEqual([]);
});

test('a start, an unavailable image and a rejected pod are counted as reported to the API server', async () => {
  const { node, metrics, cluster } = await countedNode({ inCluster: true });
  const { all } = metrics.registries;
  await cluster?.ask('POST', PODS, boundPod('web'));
  await cluster?.ask('POST', PODS, boundPod('lost', { containers: [{ name: 'main', image: 'example.com/none:1' }] }));
  const cpu = { requests: { cpu: '1000' } };
  await cluster?.ask('POST', PODS, boundPod('large', { containers: [{ ...containerWith('main'), resources: cpu }] }));
  await node.advance('8s');
  const now = await samplesOf(all);
  expect(now.get('kubelet_pod_start_total_duration_seconds_count')).toBe(1);
  expect(now.get('kubelet_pod_start_sli_duration_seconds_count')).toBe(1);
  expect(now.get('kubelet_pod_status_sync_duration_seconds_count')).toBeGreaterThan(2);
  expect(now.get('kubelet_admission_rejections_total{reason="OutOfcpu"}')).toBe(1);
  const failed = 'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"}';
  expect(now.get(failed)).toBe(1);
  expect(now.get('kubelet_active_pods{static=""}')).toBe(2);
  expect(now.get('kubelet_certificate_manager_client_ttl_seconds')).toBe(Number.POSITIVE_INFINITY);
});

test('an agent that adopts pods counts neither their starts nor earlier exits', async () => {
  const { node, metrics } = await countedNode();
  node.apply(podRunning('bad', 'exit 4', { restartPolicy: 'Never' }), podWith('web'));
  await node.advance('3s');
  const again = nodeMetrics({ clock: node.clock, isInCluster: false, onError: () => {} });
  node.withParts(again.observers);
  await node.advance('2s');
  await node.restartAgent();
  again.start(node.agent, { nodeName: 'node-1', version: { kubelet: '', platform: '' }, sessions: () => [] });
  node.tellSource();
  await node.advance('3s');
  const [before, after] = [await samplesOf(metrics.registries.all), await samplesOf(again.registries.all)];
  const ended = 'kubelet_terminated_containers_total{container_type="container",exit_code="4",reason="Error"}';
  expect(before.get(ended)).toBe(1);
  expect(after.get(ended)).toBe(undefined);
  expect(after.get('kubelet_running_containers{container_state="running"}')).toBe(1);
  expect(after.get('kubelet_pod_worker_duration_seconds_count{operation_type="create"}')).toBe(undefined);
});

test('C42: pods that start and terminate leave no series behind', async () => {
  const { node, metrics } = await countedNode();
  const lines = async () => {
    const families = [...(await scraped(metrics.registries.all)), ...(await scraped(metrics.registries.probes))];
    return families.reduce((sum, [, { samples }]) => sum + samples.size, 0);
  };
  const generation = async (round: number) => {
    const names = Array.from({ length: 20 }, (_, at) => `pod-${round}-${at}`);
    const probe = { exec: { command: ['true'] }, periodSeconds: 1 };
    node.apply(
      ...names.map((name) => podWith(name, { containers: [containerWith('main', { livenessProbe: probe })] })),
    );
    await node.advance('4s');
    expect(await lines()).toBeGreaterThan(400);
    node.remove(...names);
    await node.advance('40s');
    return lines();
  };
  const first = await generation(0);
  const later: number[] = [];
  for (let round = 1; round < 4; round += 1) later.push(await generation(round));
  expect(later).toEqual([first, first, first]);
}, 60_000);

test('a report about a pod after its removal is forgotten with the next removed pod, even without a scrape', async () => {
  const begun = jest.spyOn(TrackedPods.prototype, 'track');
  const { node, metrics } = await countedNode();
  node.apply(podRunning('web', 'sleep 1000'));
  await node.advance('5s');
  const [followed] = begun.mock.contexts.filter((each) => each instanceof TrackedPods);
  metrics.observers.onStateChange({ actor: 'pod/late', state: 'terminated', at: node.clock.now() });
  expect(followed?.size).toBe(2);
  await node.advance('70s');
  node.remove('web');
  await node.advance('40s');
  expect(followed?.size).toBe(0);
  begun.mockRestore();
});

test('data about the calls for a pod is dropped with the pod, not only with its cgroup, which it may not have', async () => {
  const { node } = await countedNode({});
  node.apply(podWith('web'));
  await node.advance('5s');
  const forget = jest.spyOn(CallMetrics.prototype, 'forget');
  node.remove('web');
  await node.advance('2m');
  const { uid } = podWith('web').metadata;
  expect(forget.mock.calls).toEqual([[uid], [uid]]);
  forget.mockRestore();
});

test('C42: the requested memory of active pods counts as protected, by QoS class', async () => {
  const { node, metrics } = await countedNode();
  const amounts = { cpu: '100m', memory: '64Mi' };
  node.apply(
    podWith('strict', { containers: [containerWith('main', { resources: { requests: amounts, limits: amounts } })] }),
    podWith('loose', { containers: [containerWith('main', { resources: { requests: { memory: '32Mi' } } })] }),
  );
  await node.advance('5s');
  const protectedBytes = async () => {
    const samples = await samplesOf(metrics.registries.all);
    return ['min', 'low'].map((kind) => samples.get(`kubelet_memory_qos_node_memory_${kind}_bytes`));
  };
  expect(await protectedBytes()).toEqual([64 * 2 ** 20, 32 * 2 ** 20]);
  node.remove('strict');
  await node.advance('120s');
  expect(await protectedBytes()).toEqual([0, 32 * 2 ** 20]);
});
