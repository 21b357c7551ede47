/**
 * Assembles the metrics of a node. Observers update counters and histograms from the start of the node. Gauges are
 * computed at each scrape.
 */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import type { TimedCall } from '../../../cri/client/timedCri.ts';
import type { RequestObserver } from '../../../kubeclient/requestObserver.ts';
import type { LogUsage } from '../../../stats/pods/logUsages.ts';
import type { AccessObserver } from '../../access/accessObserver.ts';
import type { CheckListener } from '../../listener/health.ts';
import type { RequestListener } from '../../listener/server.ts';
import type { PodResourcesListener } from '../../podResources/server.ts';
import { logGauge } from '../logGauge.ts';
import { PodMetrics } from '../pods/podMetrics.ts';
import { ProbeMetrics } from '../pods/probeMetrics.ts';
import { ResizeMetrics } from '../pods/resizeMetrics.ts';
import { TrackedPods } from '../pods/trackedPods.ts';
import { VolumeMetrics } from '../pods/volumeMetrics.ts';
import { Registry, registeredMetrics } from '../registry.ts';
import { accessMetrics } from '../requests/accessMetrics.ts';
import { CallMetrics } from '../requests/callMetrics.ts';
import { certificateMetrics } from '../requests/certificateMetrics.ts';
import { type CredentialObserver, credentialMetrics } from '../requests/credentialMetrics.ts';
import { podResourcesMetrics } from '../requests/podResourcesMetrics.ts';
import { type ProviderObserver, providerMetrics } from '../requests/providerMetrics.ts';
import { kubeRequests, servedRequests } from '../requests/requestMetrics.ts';
import { relists, runtimeCalls } from '../requests/runtimeMetrics.ts';
import { type AgentGaugesParts, agentGauges } from './agentGauges.ts';
import { type FeatureGate, gateMetrics } from './gateMetrics.ts';
import { healthMetrics } from './healthMetrics.ts';
import { type NodeGaugesParts, nodeGauges } from './nodeGauges.ts';
import { nodeStartup } from './nodeStartup.ts';
import { processMetrics, startGauge } from './processMetrics.ts';
import { serviceActionMetrics } from './serviceActionMetrics.ts';

export interface NodeMetrics {
  /** Observers to pass to `createNode`. */
  readonly observers: {
    readonly [K in 'answers' | 'moves' | 'decisions' | 'serviceActions' | 'onRelisted']-?: NonNullable<NodeParts[K]>;
  };
  /** Called after each CRI call. */
  readonly runtimeCall: (call: TimedCall) => void;
  /** Observers of the requests to an API server, and of the credentials used for them. */
  readonly cluster: {
    readonly requestsTo: (host: string) => RequestObserver;
    readonly credentials: CredentialObserver;
  };
  /** Creates the listener for requests to one of the node's HTTP servers. */
  readonly servedRequest: (server: 'readonly' | 'readwrite') => RequestListener;
  readonly check: CheckListener;
  readonly providers: ProviderObserver;
  readonly access: AccessObserver;
  readonly podResources: PodResourcesListener;
  /** Connects the created node. Must be called before the node starts. */
  start(agent: NodeAgent, details: NodeDetails): void;
  /** Registers the gauge of log usage. Must be called at most once. */
  addLogUsage(usages: () => Promise<readonly LogUsage[]>): void;
  /** The families of `/metrics`, `/metrics/probes` and `/metrics/slis`. */
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
  /** Receives the errors of collectors at a scrape. */
  readonly onError: (error: unknown) => void;
}

export function nodeMetrics({ clock, isInCluster, bootedAt, gates = [], onError }: NodeMetricsParts): NodeMetrics {
  const [all, probes, slis] = [new Registry(onError), new Registry(onError), new Registry(onError)];
  const pods = new TrackedPods();
  const resizes = new ResizeMetrics(all);
  const podTracking = podObservers(
    { registry: all, probeRegistry: probes, pods, resizes },
    { clock, isInCluster, bootedAt },
  );
  for (const registry of [probes, slis]) startGauge(registry);
  processMetrics(all);
  gateMetrics(all, gates);
  const now = () => clock.now();
  return {
    observers: { ...podTracking.observers, serviceActions: serviceActionMetrics(all), onRelisted: relists(all) },
    runtimeCall: runtimeCalls(all),
    cluster: { requestsTo: kubeRequests(all), credentials: credentialMetrics(all, now) },
    servedRequest: servedRequests(all),
    check: healthMetrics(slis),
    providers: providerMetrics(all),
    access: accessMetrics(all, clock),
    podResources: podResourcesMetrics(all),
    start: (agent, details) => {
      agent.subscribe(podTracking.changed);
      const gauges = [
        nodeGauges(all, { ...details, agent, now }),
        agentGauges(all, { ...details, agent, monotonic: () => clock.monotonic() }),
      ];
      all.collect(() => {
        const counts = agent.counts();
        for (const update of gauges) update(counts);
        resizes.collect(agent.pods());
        podTracking.sweep();
      });
      probes.collect(podTracking.sweep);
      registeredMetrics(all, [all, probes, slis]);
    },
    addLogUsage: (usages) => logGauge(all, usages),
    registries: { all, probes, slis },
  };
}

interface PodRegistries {
  readonly registry: Registry;
  readonly probeRegistry: Registry;
  readonly pods: TrackedPods;
  readonly resizes: ResizeMetrics;
}

function podObservers(
  { registry, probeRegistry, pods, resizes }: PodRegistries,
  { clock, isInCluster, bootedAt = () => undefined }: Pick<NodeMetricsParts, 'clock' | 'isInCluster' | 'bootedAt'>,
) {
  const podMetrics = new PodMetrics({ registry, pods, resizes, now: () => clock.now(), isInCluster });
  const probes = new ProbeMetrics(probeRegistry, pods);
  const calls = new CallMetrics({
    registry,
    pods,
    podMetrics,
    probes,
    resizes,
    volumes: new VolumeMetrics(registry, clock),
  });
  const certificates = certificateMetrics(registry);
  const startup = nodeStartup(registry, { now: () => clock.now(), bootedAt });
  const observers: Pick<NodeMetrics['observers'], 'answers' | 'moves' | 'decisions'> = {
    answers: (answer) => {
      calls.portCompleted(answer);
      certificates(answer);
      startup(answer);
    },
    moves: (move) => podMetrics.moved(move),
    decisions: (decision) => podMetrics.decided(decision),
  };
  /** Drops the data of removed pods. */
  const sweep = () => {
    pods.sweep(clock.now());
    probes.sweep();
  };
  return {
    observers,
    changed: (change: Parameters<PodMetrics['changed']>[0]) => {
      podMetrics.changed(change);
      if (!change.removed) return;
      probes.forget(change.uid);
      calls.forget(change.uid);
      // Also drop the data here, because it must not accumulate if nothing scrapes the metrics.
      sweep();
    },
    sweep,
  };
}
