/** Tests the metrics of port calls for pods. */
import { expect, test } from '@jest/globals';
import type { PortOutcome } from '../../../../actors/portOutcome.ts';
import { NodeFailure, toFailure } from '../../../../base/failure.ts';
import { nodeMetrics } from '../../../../kubelet-api/metrics/agent/nodeMetrics.ts';
import { pluginName } from '../../../../kubelet-api/metrics/pods/volumeMetrics.ts';
import { sizeLabel } from '../../../../kubelet-api/metrics/requests/callMetrics.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';
import { samplesOf } from '../support/scraped.ts';

const failed = (reason: 'CreateContainerError' | 'ErrImagePull' | 'PostStartHookError', message = 'no') =>
  toFailure(new NodeFailure(reason, message), 0);
const pod = podWith('web', {
  initContainers: [containerWith('setup')],
  containers: [containerWith('main', { volumeMounts: [{ name: 'tools', mountPath: '/t' }] })],
  volumes: [
    { name: 'tools', image: { reference: 'example.com/tools:1' } },
    { name: 'scratch', emptyDir: {} },
  ],
});
const sandbox = {
  id: 's',
  podUid: '',
  namespace: '',
  podName: '',
  attempt: 0,
  createdAt: 0,
  state: 'ready',
  ips: [],
  owner: '',
} as const;
const create = { pod, attempt: 0, imageRef: '', volumes: {}, sandbox };
const known = { pod, id: 'c', attempt: 0 };

async function counted(answers: readonly PortOutcome[]): Promise<Map<string, number>> {
  const metrics = nodeMetrics({ clock: { now: () => 0, monotonic: () => 0 }, isInCluster: true, onError: () => {} });
  for (const answer of answers) metrics.observers.onPortOutcome(answer);
  return samplesOf(metrics.registries.all);
}

test('container starts are counted, and their failures by reason', async () => {
  const hook = { ...known, container: 'main', podIp: undefined, graceSeconds: 1, deadline: undefined };
  const hookFailed = { deadline: 0, failure: failed('PostStartHookError') };
  const now = await counted([
    { port: 'createContainer', input: { ...create, container: 'setup' }, ms: 1, output: { id: 'a' } },
    {
      port: 'createContainer',
      input: { ...create, container: 'main' },
      ms: 1,
      failure: failed('CreateContainerError'),
    },
    { port: 'runHook', input: { ...hook, hook: 'postStart' }, ms: 1, output: hookFailed },
    { port: 'runHook', input: { ...hook, hook: 'preStop' }, ms: 1, output: hookFailed },
    {
      port: 'pullImage',
      input: { pod, image: containerWith('').image, limitMs: 1 },
      ms: 1,
      failure: failed('ErrImagePull'),
    },
  ]);
  const started = (type: string) => now.get(`kubelet_started_containers_total{container_type="${type}"}`);
  expect([started('container'), started('init_container')]).toEqual([1, 2]);
  const errors = [...now].filter(([name]) => name.startsWith('kubelet_started_containers_errors_total'));
  expect(Object.fromEntries(errors)).toEqual({
    'kubelet_started_containers_errors_total{container_type="container",code="CreateContainerError"}': 1,
    'kubelet_started_containers_errors_total{container_type="container",code="PostStartHookError"}': 1,
    'kubelet_started_containers_errors_total{container_type="init_container",code="ErrImagePull"}': 1,
  });
});

test('pods in a user namespace are counted, with those whose sandbox or first containers failed', async () => {
  const pods = ['good', 'late', 'bad'].map((name) =>
    podWith(name, { hostUsers: false, containers: [containerWith('one'), containerWith('two')] }),
  );
  const running = { ...known, sandboxId: 's', podUid: '', name: 'one', state: 'running', createdAt: 0 } as const;
  const shown = { ...running, hash: '', image: '', imageRef: '' };
  const [good, late, bad] = pods.map((each): readonly PortOutcome[] => {
    const starts = (container: string, refusal?: { readonly message: string }): PortOutcome => ({
      port: 'startContainer',
      input: { pod: each, id: 'c', attempt: 0, container },
      ms: 1,
      output: refusal ? { ...shown, refusal } : shown,
    });
    const run: PortOutcome = {
      port: 'runSandbox',
      input: { pod: each, attempt: 0 },
      ms: 1,
      output: { ...sandbox, madeAt: 0 },
    };
    const no = { message: 'no' };
    if (each.metadata.name === 'good') return [run, starts('one'), starts('two')];
    // A start that fails only after all containers have started is not a failed start of the pod.
    if (each.metadata.name === 'late') return [run, starts('one'), starts('two'), starts('one', no)];
    return [run, starts('one', no), starts('two', no)];
  });
  const failedSandbox: PortOutcome = {
    port: 'runSandbox',
    input: { pod: pods[0] ?? pod, attempt: 1 },
    ms: 1,
    failure: failed('CreateContainerError'),
  };
  const onHost: PortOutcome = {
    port: 'runSandbox',
    input: { pod, attempt: 0 },
    ms: 1,
    output: { ...sandbox, madeAt: 0 },
  };
  const now = await counted([...(good ?? []), ...(late ?? []), ...(bad ?? []), failedSandbox, onHost]);
  expect(now.get('kubelet_started_user_namespaced_pods_total')).toBe(4);
  expect(now.get('kubelet_started_user_namespaced_pods_errors_total')).toBe(2);
  expect(now.get('kubelet_started_pods_total')).toBe(5);
  const refused = 'kubelet_started_containers_errors_total{container_type="container",code="RunContainerError"}';
  expect(now.get(refused)).toBe(3);
});

test('image volumes are counted as requested, mounted and failed', async () => {
  const input = { ...create, container: 'main' };
  const now = await counted([
    { port: 'createContainer', input, ms: 1, output: { id: 'a' } },
    { port: 'createContainer', input, ms: 1, failure: failed('CreateContainerError', 'ImageVolumeMountFailed: no') },
    { port: 'createContainer', input: { ...create, container: 'setup' }, ms: 1, output: { id: 'a' } },
  ]);
  const of = (what: string) => now.get(`kubelet_image_volume_${what}_total`);
  expect([of('requested'), of('mounted_succeed'), of('mounted_errors')]).toEqual([2, 1, 1]);
});

test('volumes are counted by plugin, cgroups by operation, and failed certificate requests', async () => {
  const mount = { pod, volume: 'scratch', limitMs: 1 };
  const now = await counted([
    { port: 'mountVolume', input: mount, ms: 300, failure: failed('CreateContainerError') },
    { port: 'unmountVolume', input: mount, ms: 1, output: null },
    { port: 'prepareCgroup', input: { pod }, ms: 1, output: null },
    { port: 'removeCgroup', input: { pod, ran: [] }, ms: 1, output: null },
    {
      port: 'resizePod',
      input: { pod, appliedPod: undefined, sandboxId: 's', containers: [] },
      ms: 20,
      output: { pod, resized: [] },
    },
    {
      port: 'awaitCertificate',
      input: { name: 'serving', request: '', uid: '', limitMs: 1 },
      ms: 1,
      failure: failed('ErrImagePull'),
    },
  ]);
  const storage = (operation: string, status: string) =>
    now.get(
      `storage_operation_duration_seconds_count{volume_plugin="kubernetes.io/empty-dir",operation_name="${operation}",status="${status}",migrated="false"}`,
    );
  expect([storage('volume_mount', 'fail-unknown'), storage('volume_unmount', 'success')]).toEqual([1, 1]);
  const cgroups = (type: string) => now.get(`kubelet_cgroup_manager_duration_seconds_count{operation_type="${type}"}`);
  expect(['create', 'update', 'destroy'].map(cgroups)).toEqual([1, 1, 1]);
  expect(now.get('kubelet_pod_worker_duration_seconds_count{operation_type="update"}')).toBe(1);
  expect(now.get('kubelet_server_expiration_renew_errors')).toBe(1);
  expect(now.get('kubelet_certificate_manager_client_expiration_renew_errors')).toBe(0);
});

test('sizes of images and kinds of volumes have the labels of a kubelet', () => {
  const MIB = 2 ** 20;
  expect([0, 1, 10 * MIB, 10 * MIB + 1, 6_000 * MIB, 200_000 * MIB].map(sizeLabel)).toEqual([
    'N/A',
    '0-10MB',
    '0-10MB',
    '10MB-100MB',
    '5GB-10GB',
    'GT100GB',
  ]);
  expect(
    [{ name: 'a', hostPath: { path: '/', type: '' as const } }, { name: 'b', configMap: {} }, undefined].map(
      pluginName,
    ),
  ).toEqual(['kubernetes.io/host-path', 'kubernetes.io/configmap', 'N/A']);
});

test('C42: image lookups are counted by policy, and by whether the image was present and had to be pulled', async () => {
  const looked = (
    policy: string,
    output?: { imageRef: string | null; at: number; isUnproven?: boolean },
  ): PortOutcome => ({
    port: 'findImage',
    input: { pod, image: 'a', policy },
    ms: 1,
    ...(output ? { output } : { failure: failed('ErrImagePull') }),
  });
  const now = await counted([
    looked('IfNotPresent', { imageRef: 'a', at: 0 }),
    looked('IfNotPresent', { imageRef: null, at: 0 }),
    looked('IfNotPresent', { imageRef: 'a', at: 0, isUnproven: true }),
    looked('Always', { imageRef: 'a', at: 0 }),
    looked('Never', { imageRef: null, at: 0 }),
    looked('Never'),
  ]);
  const of = (present: string, policy: string, required: string) =>
    now.get(
      `kubelet_image_manager_ensure_image_requests_total{present_locally="${present}",pull_policy="${policy}",pull_required="${required}"}`,
    );
  expect(of('true', 'IfNotPresent', 'false')).toBe(1);
  expect(of('false', 'IfNotPresent', 'true')).toBe(1);
  expect(of('true', 'IfNotPresent', 'true')).toBe(1);
  expect(of('unknown', 'Always', 'true')).toBe(1);
  expect(of('false', 'Never', 'unknown')).toBe(1);
  expect(of('unknown', 'Never', 'unknown')).toBe(1);
});

test('C42: sleep hooks that ended early and HTTPS hooks that fell back to HTTP are counted', async () => {
  const sleeping = podWith('web', {
    containers: [containerWith('main', { lifecycle: { preStop: { sleep: { seconds: 5 } } } })],
  });
  const hook = { ...known, pod: sleeping, container: 'main', hook: 'preStop', podIp: undefined } as const;
  const input = { ...hook, graceSeconds: 1, deadline: undefined };
  const output = { deadline: 0, failure: null };
  const warnings = [{ reason: 'LifecycleHTTPFallback', message: '' }];
  const now = await counted([
    { port: 'runHook', input, ms: 5_000, output },
    { port: 'runHook', input, ms: 1_000, output },
    { port: 'runHook', input: { ...input, pod }, ms: 1, output: { ...output, warnings } },
  ]);
  expect(now.get('kubelet_sleep_action_terminated_early_total')).toBe(1);
  expect(now.get('kubelet_lifecycle_handler_http_fallbacks_total')).toBe(1);
});
