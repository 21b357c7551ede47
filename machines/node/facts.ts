/** Collects the node's details for the actor tree. */
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { FeedView, ReportedDetails } from '../../show/actors/actorNode.ts';
import { deadlineOf } from '../pod/termination.ts';
import type { RuntimeHealth } from '../shared/events/events.ts';
import type { ActorInfo, Deadlines } from '../shared/stateMeta.ts';
import { childrenOf } from '../shared/views/actorTree.ts';
import type { PodRef } from '../shared/views/views.ts';
import { clusterFeeds } from './cluster/clusterFeeds.ts';
import type { NodeContext } from './context.ts';
import { sourceView } from './pods/source.ts';
import { oomWatchViews } from './runtime/oomWatch.ts';
import { plegView } from './runtime/pleg.ts';
import { podCidrViews } from './runtime/podCidr.ts';

/**
 * Returns the deadlines of the states in which the node waits. A draining node waits until the last pod's grace period
 * has passed. The runtime then kills the remaining processes.
 */
export function deadlines({ snapshot }: ActorInfo<NodeContext>): Deadlines {
  const podDeadlines = childrenOf<PodRef>(snapshot, 'pod/').flatMap((child) => {
    const pod = child.getSnapshot();
    const { termination } = pod.context;
    return termination && pod.hasTag('inGrace') ? [deadlineOf(termination)] : [];
  });
  return podDeadlines.length > 0 ? { deadline: Math.max(...podDeadlines) } : {};
}

export function facts({ since, snapshot: { context } }: ActorInfo<NodeContext>): ReportedDetails {
  const { nodeName, health, pleg, sources, sourceStates, desired, brokenFeeds } = context;
  const sourceViews = sources.map((source) =>
    sourceView(source, lookUp(sourceStates, source), { startedAt: since, hasListed: Object.hasOwn(desired, source) }),
  );
  const feedViews = {
    runtimeHealth: [runtimeFeedView(health, since)],
    pleg: [plegView(pleg, since)],
    sources: sourceViews,
    watches: clusterFeeds(context, since),
    podCidr: podCidrViews(context.podCidr),
    oomWatcher: oomWatchViews(context.oomWatch),
  };
  const brokenFeedViews = Object.entries(brokenFeeds).map(([feed, failure]) => [feed, [brokenFeedView(feed, failure)]]);
  const feeds = { ...feedViews, ...Object.fromEntries(brokenFeedViews) };
  return { kind: 'node', name: nodeName, feedViews: feeds };
}

const brokenFeedView = (name: string, failure: Failure): FeedView => ({
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
function runtimeFeedView(
  { name, version, ready, since, message = NO_REASON, networkNotReady }: RuntimeHealth,
  startedAt: number,
): FeedView {
  const awaitedCondition = ready ? networkNotReady && `its network: ${networkNotReady}` : `it to be ready: ${message}`;
  return {
    kind: 'runtime',
    name: name || 'unknown',
    path: 'runtimeHealth',
    since: since || startedAt,
    ...(ready ? { state: 'ready', tags: ['steady'] } : { state: 'not ready', tags: ['retrying'] }),
    ...(awaitedCondition === undefined ? {} : { waitingFor: awaitedCondition }),
    facts: version === '' ? [] : [version],
  };
}
