/** Collects the node's details for the actor tree. */
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { FeedView, ReportedDetails } from '../../show/actors/actorNode.ts';
import { deadlineOf } from '../pod/termination.ts';
import { childrenOf } from '../shared/actorTree.ts';
import type { RuntimeHealth } from '../shared/events.ts';
import type { Moments, Seen } from '../shared/stateMeta.ts';
import type { PodRef } from '../shared/views.ts';
import { clusterFeeds } from './clusterFeeds.ts';
import type { NodeContext } from './context.ts';
import { plegView } from './pleg.ts';
import { podCidrViews } from './podCidr.ts';
import { sourceView } from './source.ts';

/**
 * Returns the deadlines of the node's waits. A draining node waits until the last pod's grace period has passed. The
 * runtime then kills the remaining processes.
 */
export function moments({ snapshot }: Seen<NodeContext>): Moments {
  const ends = childrenOf<PodRef>(snapshot, 'pod/').flatMap((child) => {
    const pod = child.getSnapshot();
    const { termination } = pod.context;
    return termination && pod.hasTag('inGrace') ? [deadlineOf(termination)] : [];
  });
  return ends.length > 0 ? { deadline: Math.max(...ends) } : {};
}

export function facts({ since, snapshot: { context } }: Seen<NodeContext>): ReportedDetails {
  const { nodeName, health, pleg, sources, sourceStates, desired, brokenFeeds } = context;
  const sourceViews = sources.map((source) =>
    sourceView(source, lookUp(sourceStates, source), { begun: since, hasListed: Object.hasOwn(desired, source) }),
  );
  const feedViews = {
    runtimeHealth: [runtimeFeed(health, since)],
    pleg: [plegView(pleg, since)],
    sources: sourceViews,
    watches: clusterFeeds(context, since),
    podCidr: podCidrViews(context.podCidr),
  };
  const broken = Object.entries(brokenFeeds).map(([feed, failure]) => [feed, [brokenFeed(feed, failure)]]);
  const feeds = { ...feedViews, ...Object.fromEntries(broken) };
  return { kind: 'node', name: nodeName, feeds };
}

const brokenFeed = (name: string, failure: Failure): FeedView => ({
  name,
  path: `nodeAgent/${name}`,
  state: 'broken',
  tags: ['broken'],
  since: failure.at,
  waitingFor: 'a restart of the agent',
  lastFailure: failure,
});

const NO_REASON = 'no reason given';

/** Returns the container runtime as a feed, from its last health report. */
function runtimeFeed(
  { name, version, ready, since, message = NO_REASON, networkNotReady }: RuntimeHealth,
  begun: number,
): FeedView {
  const waits = ready ? networkNotReady && `its network: ${networkNotReady}` : `it to be ready: ${message}`;
  return {
    kind: 'runtime',
    name: name || 'unknown',
    path: 'runtimeHealth',
    since: since || begun,
    ...(ready ? { state: 'ready', tags: ['steady'] } : { state: 'not ready', tags: ['retrying'] }),
    ...(waits === undefined ? {} : { waitingFor: waits }),
    facts: version === '' ? [] : [version],
  };
}
