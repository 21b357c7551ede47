/**
 * The metrics of a node. It looks on from the node's beginning and keeps a few numbers for each series; what only has to be
 * counted is counted when somebody scrapes.
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
import { FollowedPods } from '../pods/followedPods.ts';
import { PodMetrics } from '../pods/podMetrics.ts';
import { ProbeMetrics } from '../pods/probeMetrics.ts';
import { ResizeMetrics } from '../pods/resizeMetrics.ts';
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
import { gateMetrics, type ShownGate } from './gateMetrics.ts';
import { healthMetrics } from './healthMetrics.ts';
import { type NodeGaugesParts, nodeGauges } from './nodeGauges.ts';
import { nodeStartup } from './nodeStartup.ts';
import { processMetrics, startGauge } from './processMetrics.ts';
import { serviceActionMetrics } from './serviceActionMetrics.ts';

export interface NodeMetrics {
  /** What is told of the node to it. */
  readonly observers: {
    readonly [K in 'answers' | 'moves' | 'decisions' | 'serviceActions' | 'onRelisted']-?: NonNullable<NodeParts[K]>;
  };
  /** Told of each call of the runtime. */
  readonly runtimeCall: (call: TimedCall) => void;
  /** Counts the requests to an API server, and what becomes of the credentials for it. */
  readonly cluster: {
    readonly requestsTo: (host: string) => RequestObserver;
    readonly credentials: CredentialObserver;
  };
  /** Told of each request to a server of the node. */
  readonly servedRequest: (server: 'readonly' | 'readwrite') => RequestListener;
  readonly check: CheckListener;
  readonly providers: ProviderObserver;
  readonly access: AccessObserver;
  readonly podResources: PodResourcesListener;
  /** To be called once the node is there, before it starts. */
  start(agent: NodeAgent, about: AboutNode): void;
  /** To be called once, where it is known what logs take. */
  showLogs(usages: () => Promise<readonly LogUsage[]>): void;
  /** What the paths show: `/metrics`, `/metrics/probes`, `/metrics/slis`. */
  readonly paths: { readonly [K in 'all' | 'probes' | 'slis']: Registry };
}

/** What there is to say of it beside its actors. */
type AboutNode = Omit<NodeGaugesParts, 'agent' | 'now'> & Omit<AgentGaugesParts, 'agent' | 'monotonic'>;

export interface NodeMetricsParts {
  readonly clock: { now(): number; monotonic(): number };
  /** Whether there is an API server that statuses are told. */
  readonly isInCluster: boolean;
  /** When the host was booted, in seconds since the epoch. */
  readonly bootedAt?: (() => number | undefined) | undefined;
  /** The feature gates that the node acts on. */
  readonly gates?: readonly ShownGate[];
  /** Told of what could not be looked up for a scrape. */
  readonly onError: (error: unknown) => void;
}

export function nodeMetrics({ clock, isInCluster, bootedAt, gates = [], onError }: NodeMetricsParts): NodeMetrics {
  const [all, probes, slis] = [new Registry(onError), new Registry(onError), new Registry(onError)];
  const pods = new FollowedPods();
  const resizes = new ResizeMetrics(all);
  const followed = podObservers(
    { registry: all, probeRegistry: probes, pods, resizes },
    { clock, isInCluster, bootedAt },
  );
  for (const registry of [probes, slis]) startGauge(registry);
  processMetrics(all);
  gateMetrics(all, gates);
  const now = () => clock.now();
  return {
    observers: { ...followed.observers, serviceActions: serviceActionMetrics(all), onRelisted: relists(all) },
    runtimeCall: runtimeCalls(all),
    cluster: { requestsTo: kubeRequests(all), credentials: credentialMetrics(all, now) },
    servedRequest: servedRequests(all),
    check: healthMetrics(slis),
    providers: providerMetrics(all),
    access: accessMetrics(all, clock),
    podResources: podResourcesMetrics(all),
    start: (agent, about) => {
      agent.subscribe(followed.changed);
      const gauges = [
        nodeGauges(all, { ...about, agent, now }),
        agentGauges(all, { ...about, agent, monotonic: () => clock.monotonic() }),
      ];
      all.collect(() => {
        const counts = agent.counts();
        for (const set of gauges) set(counts);
        resizes.collect(agent.pods());
        followed.sweep();
      });
      probes.collect(followed.sweep);
      registeredMetrics(all, [all, probes, slis]);
    },
    showLogs: (usages) => logGauge(all, usages),
    paths: { all, probes, slis },
  };
}

interface PodRegistries {
  readonly registry: Registry;
  readonly probeRegistry: Registry;
  readonly pods: FollowedPods;
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
      calls.answered(answer);
      certificates(answer);
      startup(answer);
    },
    moves: (move) => podMetrics.moved(move),
    decisions: (decision) => podMetrics.decided(decision),
  };
  /** Forgets whatever is left of pods that are gone. */
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
      // Nobody may ever scrape.
      sweep();
    },
    sweep,
  };
}
