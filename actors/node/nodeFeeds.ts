/** Creates the feeds of a node: runtime health, runtime objects, sources, node addresses, watches, and a ticker. */

import type { Clock } from '../../base/time/clock.ts';
import type { EvictionInput } from '../../machines/eviction/context.ts';
import type { NodeFact, RuntimeHealth } from '../../machines/shared/events/events.ts';
import { createAlarm } from '../alarm.ts';
import type { NodeEnvironment } from '../boundary.ts';
import type { ClaimManager } from '../claims/claimManager.ts';
import { type ClusterCaches, clusterWatches } from '../cluster/watches.ts';
import { createAddressFeed, type HostAddresses } from '../feeds/addresses.ts';
import { createDevicePluginFeed } from '../feeds/devicePlugins.ts';
import { createLogindFeeds } from '../feeds/logind.ts';
import { createMemoryFeed } from '../feeds/memory.ts';
import type { OomWatcher } from '../feeds/oomWatcher.ts';
import { type CheckPodCidr, createPodCidrFeed } from '../feeds/podCidr.ts';
import { observeRuntime } from '../runtime/pleg.ts';
import type { RelistRequests } from '../runtime/relistRequests.ts';
import { watchRuntimeHealth } from '../runtime/runtimeHealth.ts';
import { createSourcesFeed, type SourceDependencies } from '../sources/sources.ts';
import type { Ownership } from '../store/ownership.ts';
import type { NodeParts } from './nodeParts.ts';
import type { ServiceActivity } from './nodeServices.ts';

type NodeFeeds = NodeEnvironment['feeds'];

const TICK_MS = 10_000;

interface FeedDependencies
  extends Omit<SourceDependencies, 'ownNode'>,
    ClusterCaches,
    Pick<
      NodeParts,
      'cri' | 'devicePlugins' | 'resourceMeter' | 'logind' | 'onServiceAction' | 'onRuntimeHealth' | 'onRelisted'
    > {
  readonly hostIps: HostAddresses;
  /** The configured pod CIDR, used until the Node object has one. */
  readonly podCidr?: string;
  /** Settings for the eviction of pods. Undefined if the node evicts none. */
  readonly eviction?: Pick<EvictionInput, 'thresholds'>;
  readonly ownership: Pick<Ownership, 'observe'>;
  readonly relistRequests: RelistRequests;
  readonly oomWatcher: OomWatcher;
  readonly claimManager: ClaimManager;
}

export const createNodeFeeds = (dependencies: FeedDependencies, serviceActivity: ServiceActivity): NodeFeeds => ({
  ...createRuntimeFeeds(dependencies, serviceActivity),
  sources: createSourcesFeed(dependencies),
  addresses: createAddressFeed(dependencies.hostIps, dependencies.clock),
  oomWatcher: dependencies.oomWatcher.feed,
  ticker: createTicker(dependencies.clock),
  watches: clusterWatches(dependencies),
  ...createLogindFeeds(dependencies),
  devicePlugins: createDevicePluginFeed(dependencies),
  drivers: dependencies.claimManager.feed,
  memory: createMemoryFeed({ ...dependencies, thresholds: dependencies.eviction?.thresholds ?? [] }),
});

/**
 * Creates the feeds for the runtime's health, the runtime's objects, and the pod CIDR. A broken event stream triggers a
 * health check. After an outage, the pod CIDR is sent to the runtime again.
 */
function createRuntimeFeeds(
  dependencies: FeedDependencies,
  serviceActivity: ServiceActivity,
): Pick<NodeFeeds, 'runtimeHealth' | 'pleg' | 'podCidr'> {
  const {
    cri,
    files,
    clock,
    ownership,
    ownNode,
    onError,
    onRuntimeHealth,
    onRelisted,
    relistRequests,
    onServiceAction,
    oomWatcher,
  } = dependencies;
  // Set once the podCidr feed has started.
  let checkPodCidr: CheckPodCidr = () => {};
  let isRuntimeSilent = false;
  ownNode.onChange = () => checkPodCidr({ again: false });
  // Set once the health feed has started.
  let queryHealth = () => {};
  return {
    runtimeHealth: (send, { signal }) => {
      const alarm = createAlarm(clock, signal);
      queryHealth = alarm.ring;
      const reportHealth = (health: RuntimeHealth) => {
        onRuntimeHealth?.(health);
        if (isRuntimeSilent && !health.isSilent) checkPodCidr({ again: true });
        isRuntimeSilent = health.isSilent === true;
        send({ type: 'runtime.healthChanged', health });
      };
      return watchRuntimeHealth({ cri, clock, signal, alarm, reportHealth });
    },
    podCidr: createPodCidrFeed({
      cri,
      clock,
      podCidr: () => ownNode.podCidr || (dependencies.podCidr ?? ''),
      onStart: (look) => {
        checkPodCidr = look;
      },
    }),
    pleg: (send, { signal }) => {
      const sendFact = (fact: NodeFact) =>
        send(fact.type === 'runtime.podsObserved' ? { ...fact, pods: ownership.observe(fact.pods) } : fact);
      return observeRuntime({
        cri,
        files,
        findOomKill: oomWatcher.find,
        clock,
        signal,
        onError,
        onRelisted,
        relistRequests,
        onServiceAction,
        ...serviceActivity,
        sendFact,
        onStreamBroken: () => queryHealth(),
      });
    },
  };
}

const createTicker =
  (clock: Clock): NodeFeeds['ticker'] =>
  async (send, { signal }) => {
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      await alarm.waitUntil(clock.now() + TICK_MS);
      send({ type: 'node.ticked', at: clock.now() });
    }
  };
