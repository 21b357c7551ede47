/**
 * Registers the gauges of the node's pods, containers and volumes under the kubelet's names. Their values are computed
 * at each scrape.
 */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import { type MemoryQos, protectedMemory } from '../../../kubernetes/resources/memoryQos.ts';
import type { CountedPod, NodeCounts } from '../../../machines/node/counts.ts';
import { pluginName } from '../pods/volumeMetrics.ts';
import { alpha, beta, type Gauge, type Registry } from '../registry.ts';
import { registerCertificateGauges } from '../requests/certificateMetrics.ts';

export interface NodeGaugesParts {
  readonly agent: Pick<NodeAgent, 'counts' | 'pods'>;
  readonly nodeName: string;
  /** Undefined if unknown. */
  readonly cgroupVersion?: 1 | 2 | undefined;
  /** Whether requested memory is protected. Undefined if the feature gate MemoryQoS is off. */
  readonly memoryQos?: Pick<MemoryQos, 'isTiered'> | undefined;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly version: { readonly kubelet: string; readonly platform: string };
}

/** Registers the gauges and returns the function that updates them on each scrape. */
export function registerNodeGauges(registry: Registry, parts: NodeGaugesParts): (counts: NodeCounts) => void {
  setConstantGauges(registry, parts);
  const updatePods = registerPodGauges(registry, parts);
  const updateVolumes = registerVolumeGauge(registry, parts);
  const updateMemory = registerProtectedMemory(registry, parts);
  const updateCertificates = registerCertificateGauges(registry, parts.now);
  return (counts) => {
    updatePods(counts);
    updateVolumes(counts.pods);
    updateMemory(counts.pods);
    updateCertificates(counts);
  };
}

function setConstantGauges(registry: Registry, { nodeName, cgroupVersion, version }: NodeGaugesParts): void {
  registry.gauge(alpha('kubelet_node_name', "The node's name, with the value 1.", ['node'])).set([nodeName], 1);
  if (cgroupVersion !== undefined)
    registry.gauge(alpha('kubelet_cgroup_version', "The version of the host's cgroups.")).set([], cgroupVersion);
  const providerMetric = alpha('kubelet_metrics_provider', 'Source of the usage of containers, with the value 1.', [
    'provider',
  ]);
  // Report `cadvisor` as the source, because this process reads the cgroups itself, as cAdvisor does within the
  // kubelet.
  registry.gauge(providerMetric).set(['cadvisor'], 1);
  const [major = '', minor = ''] = KUBERNETES_VERSION.split('.');
  const labels = [
    'major',
    'minor',
    'git_version',
    'git_commit',
    'git_tree_state',
    'build_date',
    'go_version',
    'compiler',
    'platform',
  ];
  // Leave the labels for Go and the build empty, because this is not a Go program.
  const versionLabels = [major, minor, version.kubelet, '', '', '', '', '', version.platform];
  registry
    .gauge(beta('kubernetes_build_info', 'The Kubernetes version that the node implements, with the value 1.', labels))
    .set(versionLabels, 1);
}

const toBooleanLabel = (condition: boolean): string => (condition ? 'true' : '');
const POD_LIFECYCLES = ['sync', 'terminating', 'terminated'] as const;

/**
 * Counts pods and containers in the same way as the kubelet (`pkg/kubelet/kubelet_pods.go`,
 * `pkg/kubelet/pleg/generic.go`).
 */
function registerPodGauges(registry: Registry, { agent }: NodeGaugesParts): (counts: NodeCounts) => void {
  const createGauge = (name: string, help: string, labels?: readonly string[]) =>
    registry.gauge(alpha(name, help, labels));
  const runningPodsGauge = createGauge('kubelet_running_pods', 'Pods with a ready sandbox at the last relist.');
  const runningContainersGauge = createGauge('kubelet_running_containers', 'Containers at the last relist.', [
    'container_state',
  ]);
  const desiredPodsGauge = createGauge('kubelet_desired_pods', 'Pods that the sources want the node to run.', [
    'static',
  ]);
  const activePodsGauge = createGauge('kubelet_active_pods', 'Desired pods that have not terminated.', ['static']);
  const mirrorPodsGauge = createGauge('kubelet_mirror_pods', 'Mirror pods of static pods at the API server.');
  const ephemeralContainersGauge = createGauge(
    'kubelet_managed_ephemeral_containers',
    'Ephemeral containers of the pods.',
  );
  const workingPodsGauge = createGauge('kubelet_working_pods', 'Pods that have actors.', [
    'lifecycle',
    'config',
    'static',
  ]);
  return (counts) => {
    runningPodsGauge.set([], counts.runningPods);
    for (const state of ['created', 'exited', 'running', 'unknown'])
      setIfDefined(runningContainersGauge, state, counts.containers.get(state));
    for (const isStatic of [false, true]) {
      const pods = counts.pods.filter((pod) => pod.isStatic === isStatic);
      desiredPodsGauge.set([toBooleanLabel(isStatic)], pods.filter(({ isDesired }) => isDesired).length);
      activePodsGauge.set(
        [toBooleanLabel(isStatic)],
        pods.filter((pod) => pod.isDesired && pod.lifecycle !== 'terminated').length,
      );
      for (const lifecycle of POD_LIFECYCLES) setWorkingPods(workingPodsGauge, lifecycle, isStatic, pods);
    }
    mirrorPodsGauge.set([], counts.mirrors);
    ephemeralContainersGauge.set(
      [],
      agent.pods().reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0),
    );
  };
}

/** Sets the gauge's value for a state. Like the kubelet, omits the series until the state has occurred. */
function setIfDefined(gauge: Gauge, label: string, count: number | undefined): void {
  if (count !== undefined || gauge.has([label])) gauge.set([label], count ?? 0);
}

function setWorkingPods(
  gauge: Gauge,
  lifecycle: CountedPod['lifecycle'],
  isStatic: boolean,
  pods: readonly CountedPod[],
) {
  const matchingPods = pods.filter((pod) => pod.lifecycle === lifecycle);
  const desiredCount = matchingPods.filter(({ isDesired }) => isDesired).length;
  gauge.set([lifecycle, 'desired', toBooleanLabel(isStatic)], desiredCount);
  gauge.set([lifecycle, 'orphan', toBooleanLabel(isStatic)], matchingPods.length - desiredCount);
}

/** Registers the gauges of protected memory, which the kubelet has only if the feature gate MemoryQoS is enabled. */
function registerProtectedMemory(
  registry: Registry,
  { agent, memoryQos }: NodeGaugesParts,
): (pods: readonly CountedPod[]) => void {
  if (memoryQos === undefined) return () => {};
  const minGauge = registry.gauge(
    alpha('kubelet_memory_qos_node_memory_min_bytes', 'Memory of Guaranteed pods that the kernel never reclaims.'),
  );
  const lowGauge = registry.gauge(
    alpha('kubelet_memory_qos_node_memory_low_bytes', 'Memory of Burstable pods that the kernel reclaims last.'),
  );
  return (countedPods) => {
    const activeUids = new Set(countedPods.flatMap(({ uid, lifecycle }) => (lifecycle === 'terminated' ? [] : [uid])));
    const activePods = agent.pods().filter(({ metadata }) => activeUids.has(metadata.uid));
    const memory = protectedMemory(
      activePods.map(({ spec }) => spec),
      { memoryQos },
    );
    minGauge.set([], memory?.guaranteedBytes ?? 0);
    lowGauge.set([], memory?.burstableBytes ?? 0);
  };
}

/** Counts volumes in the same way as the kubelet (`pkg/kubelet/volumemanager/metrics/metrics.go`). */
function registerVolumeGauge(registry: Registry, { agent }: NodeGaugesParts): (pods: readonly CountedPod[]) => void {
  const labels = ['plugin_name', 'state'];
  const volumesGauge = registry.gauge(alpha('volume_manager_total_volumes', 'Volumes, wanted and mounted.', labels));
  return (countedPods) => {
    volumesGauge.clear();
    const podsByUid = new Map(agent.pods().map((pod) => [pod.metadata.uid, pod]));
    for (const { uid, isDesired, lifecycle, volumes } of countedPods) {
      for (const volume of getVolumes(podsByUid.get(uid))) {
        const volumePlugin = pluginName(volume);
        if (isDesired && lifecycle !== 'terminated') volumesGauge.add([volumePlugin, 'desired_state_of_world'], 1);
        if (volumes.get(volume.name)) volumesGauge.add([volumePlugin, 'actual_state_of_world'], 1);
      }
    }
  };
}

const getVolumes = (pod: Pod | undefined) => pod?.spec.volumes ?? [];
