/**
 * Assembles the metrics of a node. Observers update counters and histograms from the start of the node, whereas gauges
 * are computed at each scrape.
 */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import type { PluginSocketState } from '../../../actors/plugins/pluginRegistry.ts';
import type { TimedCall } from '../../../cri/client/timedCri.ts';
import type { RequestObserver } from '../../../kubeclient/requestObserver.ts';
import type { LogUsage } from '../../../stats/pods/logUsages.ts';
import type { AccessObserver } from '../../access/accessObserver.ts';
import type { CheckListener } from '../../listener/health.ts';
import type { RequestListener } from '../../listener/server.ts';
import type { PodResourcesListener } from '../../podResources/server.ts';
import { registerLogGauge } from '../logGauge.ts';
import { PodMetrics } from '../pods/podMetrics.ts';
import { ProbeMetrics } from '../pods/probeMetrics.ts';
import { ResizeMetrics } from '../pods/resizeMetrics.ts';
import { TrackedPods } from '../pods/trackedPods.ts';
import { VolumeMetrics } from '../pods/volumeMetrics.ts';
import { Registry, registerMetricCounts, stable } from '../registry.ts';
import { registerAccessMetrics } from '../requests/accessMetrics.ts';
import { CallMetrics } from '../requests/callMetrics.ts';
import { registerCertificateMetrics } from '../requests/certificateMetrics.ts';
import { type CredentialObserver, registerCredentialMetrics } from '../requests/credentialMetrics.ts';
import { registerPodResourcesMetrics } from '../requests/podResourcesMetrics.ts';
import { type ProviderObserver, registerProviderMetrics } from '../requests/providerMetrics.ts';
import {
  registerKubeRequestMetrics,
  registerServedRequestMetrics,
  registerTransportMetrics,
} from '../requests/requestMetrics.ts';
import { registerRelistMetrics, registerRuntimeCallMetrics } from '../requests/runtimeMetrics.ts';
import { type AgentGaugesParts, registerAgentGauges } from './agentGauges.ts';
import { type ClaimMetrics, registerClaimMetrics } from './claimMetrics.ts';
import { type CpuMetrics, type ManagerPolicies, registerCpuMetrics } from './cpuMetrics.ts';
import { type DeviceMetrics, registerDeviceMetrics } from './deviceMetrics.ts';
import { type FeatureGate, registerGateMetrics } from './gateMetrics.ts';
import { type NodeGaugesParts, registerNodeGauges } from './nodeGauges.ts';
import { registerPluginGauge } from './pluginMetrics.ts';
import { registerProcessMetrics, registerStartTimeGauge } from './processMetrics.ts';
import { registerServiceActionMetrics } from './serviceActionMetrics.ts';
import { registerShutdownMetrics } from './shutdownMetrics.ts';
import { registerStartupMetrics } from './startupMetrics.ts';

export interface NodeMetrics {
  /** Observers to pass to `createNode`. */
  readonly observers: {
    readonly [K in 'onPortOutcome' | 'onStateChange' | 'onDecision' | 'onServiceAction' | 'onRelisted']-?: NonNullable<
      NodeParts[K]
    >;
  };
  /** Called after each CRI call. */
  readonly onRuntimeCall: (call: TimedCall) => void;
  /** Observers of the requests to an API server, and of the credentials used for them. */
  readonly cluster: {
    readonly createRequestObserver: (host: string) => RequestObserver;
    readonly credentials: CredentialObserver;
    readonly onTransportCreated: () => void;
  };
  /** Creates the listener for requests to one of the node's HTTP servers. */
  readonly observeServedRequests: (server: 'readonly' | 'readwrite') => RequestListener;
  readonly checkListener: CheckListener;
  readonly providerObserver: ProviderObserver;
  readonly accessObserver: AccessObserver;
  readonly podResourcesListener: PodResourcesListener;
  /** Starts observing the agent. Must be called before the agent starts. */
  start(agent: NodeAgent, details: NodeDetails): void;
  /** Registers the gauge of the disk usage by container logs. Must be called at most once. */
  addLogUsage(usages: () => Promise<readonly LogUsage[]>): void;
  /** Registers the gauge of plugin sockets. Must be called at most once. */
  addPlugins(sockets: () => readonly PluginSocketState[]): void;
  /** The registries behind `/metrics`, `/metrics/probes` and `/metrics/slis`. */
  readonly registries: { readonly [K in 'all' | 'probes' | 'slis']: Registry };
}

type NodeDetails = Omit<NodeGaugesParts, 'agent' | 'now'> & Omit<AgentGaugesParts, 'agent' | 'monotonic'>;

export interface NodeMetricsParts {
  readonly clock: { now(): number; monotonic(): number };
  /** Whether statuses are reported to an API server. */
  readonly isInCluster: boolean;
  /** The boot time of the host, in seconds since the epoch. Undefined if unknown. */
  readonly bootedAt?: (() => number | undefined) | undefined;
  /** The feature gates that take effect on this node. */
  readonly gates?: readonly FeatureGate[];
  /** The policies of the CPU and topology managers. Undefined if both are `none`. */
  readonly managerPolicies?: ManagerPolicies | undefined;
  /** Called with each error of a collector during a scrape. */
  readonly onError: (error: unknown) => void;
}

export function nodeMetrics({
  clock,
  isInCluster,
  bootedAt,
  gates = [],
  managerPolicies,
  onError,
}: NodeMetricsParts): NodeMetrics {
  const [nodeRegistry, probes, slis] = [new Registry(onError), new Registry(onError), new Registry(onError)];
  const pods = new TrackedPods();
  const resizeMetrics = new ResizeMetrics(nodeRegistry);
  const cpuMetrics = registerCpuMetrics(nodeRegistry, managerPolicies);
  const deviceMetrics = registerDeviceMetrics(nodeRegistry);
  const claimMetrics = registerClaimMetrics(nodeRegistry);
  const podTracking = createPodObservers(
    { registry: nodeRegistry, probeRegistry: probes, pods, resizeMetrics, cpuMetrics, deviceMetrics, claimMetrics },
    { clock, isInCluster, bootedAt },
  );
  for (const registry of [probes, slis]) registerStartTimeGauge(registry);
  registerProcessMetrics(nodeRegistry);
  registerGateMetrics(nodeRegistry, gates);
  const observeServiceAction = registerServiceActionMetrics(nodeRegistry);
  const now = () => clock.now();
  return {
    observers: {
      ...podTracking.observers,
      onServiceAction: (action) => {
        observeServiceAction(action);
        deviceMetrics.onServiceAction(action);
      },
      onRelisted: registerRelistMetrics(nodeRegistry),
    },
    onRuntimeCall: registerRuntimeCallMetrics(nodeRegistry),
    cluster: {
      createRequestObserver: registerKubeRequestMetrics(nodeRegistry),
      credentials: registerCredentialMetrics(nodeRegistry, now),
      onTransportCreated: registerTransportMetrics(nodeRegistry),
    },
    observeServedRequests: registerServedRequestMetrics(nodeRegistry),
    checkListener: registerHealthMetrics(slis),
    providerObserver: registerProviderMetrics(nodeRegistry),
    accessObserver: registerAccessMetrics(nodeRegistry, clock),
    podResourcesListener: registerPodResourcesMetrics(nodeRegistry),
    start: (agent, details) => {
      agent.subscribe(podTracking.changed);
      const gaugeUpdaters = [
        registerNodeGauges(nodeRegistry, { ...details, agent, now }),
        registerShutdownMetrics(nodeRegistry),
        registerAgentGauges(nodeRegistry, { ...details, agent, monotonic: () => clock.monotonic() }),
      ];
      nodeRegistry.collect(() => {
        const agentCounts = agent.counts();
        for (const update of gaugeUpdaters) update(agentCounts);
        cpuMetrics.update(agentCounts);
        claimMetrics.update(agentCounts);
        resizeMetrics.collect(agent.pods());
        podTracking.sweep();
      });
      probes.collect(podTracking.sweep);
      registerMetricCounts(nodeRegistry, [nodeRegistry, probes, slis]);
    },
    addLogUsage: (usages) => registerLogGauge(nodeRegistry, usages),
    addPlugins: (sockets) => registerPluginGauge(nodeRegistry, sockets),
    registries: { all: nodeRegistry, probes, slis },
  };
}

interface PodRegistries {
  readonly registry: Registry;
  readonly probeRegistry: Registry;
  readonly pods: TrackedPods;
  readonly resizeMetrics: ResizeMetrics;
  readonly cpuMetrics: CpuMetrics;
  readonly deviceMetrics: DeviceMetrics;
  readonly claimMetrics: ClaimMetrics;
}

function createPodObservers(
  { registry, probeRegistry, pods, resizeMetrics, cpuMetrics, deviceMetrics, claimMetrics }: PodRegistries,
  { clock, isInCluster, bootedAt = () => undefined }: Pick<NodeMetricsParts, 'clock' | 'isInCluster' | 'bootedAt'>,
) {
  const podMetrics = new PodMetrics({ registry, pods, resizeMetrics, now: () => clock.now(), isInCluster });
  const probeMetrics = new ProbeMetrics(probeRegistry, pods);
  const callMetrics = new CallMetrics({
    registry,
    pods,
    podMetrics,
    probeMetrics,
    resizeMetrics,
    volumes: new VolumeMetrics(registry, clock),
  });
  const certificates = registerCertificateMetrics(registry);
  const observeStartup = registerStartupMetrics(registry, { now: () => clock.now(), bootedAt });
  const observers: Pick<NodeMetrics['observers'], 'onPortOutcome' | 'onStateChange' | 'onDecision'> = {
    onPortOutcome: (answer) => {
      callMetrics.recordPortOutcome(answer);
      claimMetrics.recordPortOutcome(answer);
      certificates(answer);
      observeStartup(answer);
      deviceMetrics.onPortOutcome(answer);
    },
    onStateChange: (move) => podMetrics.recordStateChange(move),
    onDecision: (decision) => {
      podMetrics.recordDecision(decision);
      if (decision.decision === 'resourcesAllocated') cpuMetrics.allocated(decision.counts);
    },
  };
  /** Drops the data of pods that were removed some time ago. */
  const removeOldPods = () => {
    pods.sweep(clock.now());
    probeMetrics.sweep();
  };
  return {
    observers,
    changed: (change: Parameters<PodMetrics['recordPodChange']>[0]) => {
      podMetrics.recordPodChange(change);
      if (!change.removed) return;
      probeMetrics.forget(change.uid);
      callMetrics.forget(change.uid);
      // Drop old data here as well, because it would accumulate if nothing scraped the metrics.
      removeOldPods();
    },
    sweep: removeOldPods,
  };
}

/**
 * Counts the results of the checks behind `/healthz` (`component-base/metrics/prometheus/slis/metrics.go`). Returns the
 * listener that is called after each check.
 */
function registerHealthMetrics(registry: Registry): CheckListener {
  const lastResultGauge = registry.gauge(
    stable('kubernetes_healthcheck', 'Result of the last check: 1 if it passed.', ['name', 'type']),
  );
  const checksCounter = registry.counter(
    stable('kubernetes_healthchecks_total', 'Checks, by result.', ['name', 'type', 'status']),
  );
  return (name, isGood) => {
    lastResultGauge.set([name, 'healthz'], isGood ? 1 : 0);
    checksCounter.add([name, 'healthz', isGood ? 'success' : 'error']);
  };
}
