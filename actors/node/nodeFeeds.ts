/** What brings a node its facts: the health of the runtime, what it shows, the sources, and a tick. */

import type { Clock } from '../../base/clock.ts';
import type { NodeFact, RuntimeHealth } from '../../machines/shared/events.ts';
import { createAlarm } from '../alarm.ts';
import type { World } from '../boundary.ts';
import { type ClusterCaches, clusterWatches } from '../cluster/watches.ts';
import { addressesFeed, type HostAddresses } from '../feeds/addresses.ts';
import { type Look, podCidrFeed } from '../feeds/podCidr.ts';
import { observeRuntime } from '../runtime/pleg.ts';
import { watchRuntimeHealth } from '../runtime/runtimeHealth.ts';
import { type SourceParts, sourcesFeed } from '../sources/sources.ts';
import type { Ownership } from '../store/ownership.ts';
import type { NodeParts } from './nodeParts.ts';
import type { Doings } from './nodeServices.ts';

type Feeds = World['feeds'];

const TICK_MS = 10_000;

interface FeedParts
  extends Omit<SourceParts, 'ownNode'>,
    ClusterCaches,
    Pick<NodeParts, 'cri' | 'deeds' | 'onRuntimeHealth' | 'onRelisted'> {
  readonly hostIps: HostAddresses;
  /** The addresses of pods in the configuration, which hold until the Node has some. */
  readonly podCidr?: string;
  readonly ownership: Pick<Ownership, 'see'>;
}

export const nodeFeeds = (parts: FeedParts, doings: Doings): Feeds => ({
  ...runtimeFeeds(parts, doings),
  sources: sourcesFeed(parts),
  addresses: addressesFeed(parts.hostIps, parts.clock),
  ticker: ticker(parts.clock),
  watches: clusterWatches(parts),
});

/**
 * The feeds of the runtime's health, of its objects, and of the addresses of pods that it has. A broken event stream makes
 * the first look at once, and a runtime that has returned gets the addresses again.
 */
function runtimeFeeds(parts: FeedParts, doings: Doings): Pick<Feeds, 'runtimeHealth' | 'pleg' | 'podCidr'> {
  const { cri, files, clock, ownership, ownNode, onError, onRuntimeHealth, onRelisted, deeds } = parts;
  // Looks once the feed of the addresses has started.
  let lookAtPodCidr: Look = () => {};
  let isSilent = false;
  ownNode.onChange = () => lookAtPodCidr({ again: false });
  // Rings once the health is watched.
  let askHealth = () => {};
  return {
    runtimeHealth: (send, { signal }) => {
      const alarm = createAlarm(clock, signal);
      askHealth = alarm.ring;
      const tell = (health: RuntimeHealth) => {
        onRuntimeHealth?.(health);
        if (isSilent && !health.isSilent) lookAtPodCidr({ again: true });
        isSilent = health.isSilent === true;
        send({ type: 'runtime.healthChanged', health });
      };
      return watchRuntimeHealth({ cri, clock, signal, alarm, tell });
    },
    podCidr: podCidrFeed({
      cri,
      clock,
      podCidr: () => ownNode.podCidr || (parts.podCidr ?? ''),
      onStart: (look) => {
        lookAtPodCidr = look;
      },
    }),
    pleg: (send, { signal }) => {
      const tell = (fact: NodeFact) =>
        send(fact.type === 'runtime.podsObserved' ? { ...fact, pods: ownership.see(fact.pods) } : fact);
      return observeRuntime({
        cri,
        files,
        clock,
        signal,
        onError,
        onRelisted,
        deeds,
        ...doings,
        send: tell,
        onBreak: () => askHealth(),
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
