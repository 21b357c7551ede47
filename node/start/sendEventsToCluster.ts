import type { EventRecorder } from '../../actors/events/eventRecorder.ts';
import { EventSender } from '../../actors/events/eventSender.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { systemClock, systemJitter } from '../../base/time/clock.ts';
import type { JoinedCluster } from '../cluster/joinCluster.ts';

interface ClusterNode {
  readonly agent: Pick<NodeAgent, 'send' | 'hasQueuedStarts'>;
  readonly cluster: JoinedCluster | undefined;
}

interface ClusterEventDependencies {
  readonly recorder: Pick<EventRecorder, 'subscribe'>;
  readonly onError: (source: string, error: unknown) => void;
}

/**
 * Sends the recorded events to the API server of the cluster, if the node belongs to one. Returns a function that sends the
 * remaining events and closes the connections to the cluster.
 */
export function sendEventsToCluster(
  { agent, cluster }: ClusterNode,
  { recorder, onError }: ClusterEventDependencies,
): () => Promise<void> {
  if (cluster === undefined) return async () => {};
  const abortController = new AbortController();
  const eventSender = new EventSender({
    client: cluster.eventClient,
    clock: systemClock,
    jitter: systemJitter,
    onError,
    signal: abortController.signal,
    hasQueuedStarts: agent.hasQueuedStarts,
    onState: (state) => agent.send({ type: 'cluster.eventsChanged', state }),
  });
  cluster.followNodeUid((uid) => eventSender.setNodeUid(uid));
  recorder.subscribe(({ event, removed }) => {
    if (!removed) eventSender.send(event);
  });
  return async () => {
    await eventSender.finish();
    abortController.abort();
    cluster.close();
  };
}
