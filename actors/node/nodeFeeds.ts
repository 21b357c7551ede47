/** Creates the feeds of a node: runtime health, runtime objects, sources, node addresses, watches, and a ticker. */

import type { Clock } from '../../base/clock.ts';
import type { NodeFact, RuntimeHealth } from '../../machines/shared/events.ts';
import { createAlarm } from '../alarm.ts';
import type { World } from '../boundary.ts';
import { type ClusterCaches, clusterWatches } from '../cluster/watches.ts';
import { addressesFeed, type HostAddresses } from '../feeds/addresses.ts';
import { type CheckPodCidr, podCidrFeed } from '../feeds/podCidr.ts';
import { observeRuntime } from '../runtime/pleg.ts';
import type { RelistRequests } from '../runtime/relist.ts';
import { watchRuntimeHealth } from '../runtime/runtimeHealth.ts';
import { type SourceParts, sourcesFeed } from '../sources/sources.ts';
import type { Ownership } from '../store/ownership.ts';
import type { NodeParts } from './nodeParts.ts';
import type { ServiceActivity } from './nodeServices.ts';

type Feeds = World['feeds'];

const TICK_MS = 10_000;

interface FeedDependencies
  extends Omit<SourceParts, 'ownNode'>,
    ClusterCaches,
    Pick<NodeParts, 'cri' | 'serviceActions' | 'onRuntimeHealth' | 'onRelisted'> {
  readonly hostIps: HostAddresses;
  /** The configured address range of pods, used until the Node object has one. */
  readonly podCidr?: string;
  readonly ownership: Pick<Ownership, 'observe'>;
  readonly relistRequests: RelistRequests;
}

export const nodeFeeds = (parts: FeedDependencies, serviceActivity: ServiceActivity): Feeds => ({
  ...runtimeFeeds(parts, serviceActivity),
  sources: sourcesFeed(parts),
  addresses: addressesFeed(parts.hostIps, parts.clock),
  ticker: ticker(parts.clock),
  watches: clusterWatches(parts),
});

/**
 * Creates the feeds of the runtime's health, its objects, and the pod address range. A broken event stream triggers a
 * health check. After an outage, the address range is sent to the runtime again.
 */
function runtimeFeeds(
  parts: FeedDependencies,
  serviceActivity: ServiceActivity,
): Pick<Feeds, 'runtimeHealth' | 'pleg' | 'podCidr'> {
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
    serviceActions,
  } = parts;
  // Set once the podCidr feed has started.
  let checkPodCidr: CheckPodCidr = () => {};
  let isSilent = false;
  ownNode.onChange = () => checkPodCidr({ again: false });
  // Set once the health feed has started.
  let queryHealth = () => {};
  return {
    runtimeHealth: (send, { signal }) => {
      const alarm = createAlarm(clock, signal);
      queryHealth = alarm.ring;
      const report = (health: RuntimeHealth) => {
        onRuntimeHealth?.(health);
        if (isSilent && !health.isSilent) checkPodCidr({ again: true });
        isSilent = health.isSilent === true;
        send({ type: 'runtime.healthChanged', health });
      };
      return watchRuntimeHealth({ cri, clock, signal, alarm, report });
    },
    podCidr: podCidrFeed({
      cri,
      clock,
      podCidr: () => ownNode.podCidr || (parts.podCidr ?? ''),
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
        clock,
        signal,
        onError,
        onRelisted,
        relistRequests,
        serviceActions,
        ...serviceActivity,
        send: sendFact,
        onStreamBroken: () => queryHealth(),
      });
    },
  };
}

const ticker =
  (clock: Clock): Feeds['ticker'] =>
  async (send, { signal }) => {
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      await alarm.wait(clock.now() + TICK_MS);
      send({ type: 'node.ticked', at: clock.now() });
    }
  };
