/** What there is on the node at the moment of a scrape, under the kubelet's names. */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import type { CountedPod, NodeCounts } from '../../../machines/node/counts.ts';
import { pluginOf } from '../pods/volumeMetrics.ts';
import { alpha, beta, type Gauge, type Registry } from '../registry.ts';
import { certificateGauges } from '../requests/certificateMetrics.ts';

export interface NodeGaugesParts {
  readonly agent: Pick<NodeAgent, 'counts' | 'pods'>;
  readonly nodeName: string;
  /** Of the host; absent: it is not known. */
  readonly cgroupVersion?: 1 | 2 | undefined;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
  readonly version: { readonly kubelet: string; readonly platform: string };
}

/** Sets them from what the actors know; `counts` is what they were at this scrape. */
export function nodeGauges(registry: Registry, parts: NodeGaugesParts): (counts: NodeCounts) => void {
  fixedGauges(registry, parts);
  const ofPods = podGauges(registry, parts);
  const ofVolumes = volumeGauge(registry, parts);
  const ofCertificates = certificateGauges(registry, parts.now);
  return (counts) => {
    ofPods(counts);
    ofVolumes(counts.pods);
    ofCertificates(counts);
  };
}

/** What stays as it is. */
function fixedGauges(registry: Registry, { nodeName, cgroupVersion, version }: NodeGaugesParts): void {
  registry.gauge(alpha('kubelet_node_name', "The node's name, with the value 1.", ['node'])).set([nodeName], 1);
  if (cgroupVersion !== undefined)
    registry.gauge(alpha('kubelet_cgroup_version', "The version of the host's cgroups.")).set([], cgroupVersion);
  const provider = alpha('kubelet_metrics_provider', 'Source of the usage of containers, with the value 1.', [
    'provider',
  ]);
  // The cgroups are read by this process itself, as cAdvisor in a kubelet does.
  registry.gauge(provider).set(['cadvisor'], 1);
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
  // It is no Go program, and what it was built of is in its package.
  const values = [major, minor, version.kubelet, '', '', '', '', '', version.platform];
  registry.gauge(beta('kubernetes_build_info', 'Which version this is like, with the value 1.', labels)).set(values, 1);
}

const flag = (is: boolean): string => (is ? 'true' : '');
const LIFECYCLES = ['sync', 'terminating', 'terminated'] as const;

/** As `pkg/kubelet/kubelet_pods.go` and `pkg/kubelet/pleg/generic.go` count them. */
function podGauges(registry: Registry, { agent }: NodeGaugesParts): (counts: NodeCounts) => void {
  const gauge = (name: string, help: string, labels?: readonly string[]) => registry.gauge(alpha(name, help, labels));
  const running = gauge('kubelet_running_pods', 'Pods with a sandbox that is ready, as the runtime was listed last.');
  const containers = gauge('kubelet_running_containers', 'Containers at the runtime, as it was listed last.', [
    'container_state',
  ]);
  const desired = gauge('kubelet_desired_pods', 'Pods that the node is to run.', ['static']);
  const active = gauge('kubelet_active_pods', 'Those of them that have not ended.', ['static']);
  const mirrors = gauge('kubelet_mirror_pods', 'Mirror pods of the static ones at the API server.');
  const ephemeral = gauge('kubelet_managed_ephemeral_containers', 'Ephemeral containers of the pods.');
  const working = gauge('kubelet_working_pods', 'Pods that have actors.', ['lifecycle', 'config', 'static']);
  return (counts) => {
    running.set([], counts.runningPods);
    for (const state of ['created', 'exited', 'running', 'unknown'])
      setKnown(containers, state, counts.containers.get(state));
    for (const isStatic of [false, true]) {
      const own = counts.pods.filter((pod) => pod.isStatic === isStatic);
      desired.set([flag(isStatic)], own.filter(({ isWanted }) => isWanted).length);
      active.set([flag(isStatic)], own.filter((pod) => pod.isWanted && pod.lifecycle !== 'terminated').length);
      for (const lifecycle of LIFECYCLES) setWorking(working, lifecycle, isStatic, own);
    }
    mirrors.set([], counts.mirrors);
    ephemeral.set(
      [],
      agent.pods().reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0),
    );
  };
}

/** A kubelet shows no state that it has never seen. */
function setKnown(gauge: Gauge, label: string, count: number | undefined): void {
  if (count !== undefined || gauge.has([label])) gauge.set([label], count ?? 0);
}

function setWorking(gauge: Gauge, lifecycle: CountedPod['lifecycle'], isStatic: boolean, own: readonly CountedPod[]) {
  const those = own.filter((pod) => pod.lifecycle === lifecycle);
  const wanted = those.filter(({ isWanted }) => isWanted).length;
  gauge.set([lifecycle, 'desired', flag(isStatic)], wanted);
  gauge.set([lifecycle, 'orphan', flag(isStatic)], those.length - wanted);
}

/** As `pkg/kubelet/volumemanager/metrics/metrics.go`. */
function volumeGauge(registry: Registry, { agent }: NodeGaugesParts): (pods: readonly CountedPod[]) => void {
  const labels = ['plugin_name', 'state'];
  const total = registry.gauge(alpha('volume_manager_total_volumes', 'Volumes, wanted and mounted.', labels));
  return (counted) => {
    total.clear();
    const specs = new Map(agent.pods().map((pod) => [pod.metadata.uid, pod]));
    for (const { uid, isWanted, lifecycle, volumes } of counted) {
      for (const volume of volumesOf(specs.get(uid))) {
        const plugin = pluginOf(volume);
        if (isWanted && lifecycle !== 'terminated') total.add([plugin, 'desired_state_of_world'], 1);
        if (volumes.get(volume.name)) total.add([plugin, 'actual_state_of_world'], 1);
      }
    }
  };
}

const volumesOf = (pod: Pod | undefined) => pod?.spec.volumes ?? [];
