import type { Logger } from 'pino';
import type { Redaction } from '../../actors/replay/redaction.ts';
import { messageOf } from '../../base/failure.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { InspectedNode } from '../../inspect/inspected.ts';
import type { Audience } from '../../inspect/live/audience.ts';
import { FollowedActors } from '../../inspect/live/followedActors.ts';
import { createLiveNode } from '../../inspect/live/liveNode.ts';
import { LiveView } from '../../inspect/live/liveView.ts';
import { RecordedSpan } from '../../inspect/past/replay/recordedSpan.ts';
import { PastThread } from '../../inspect/past/worker/pastThread.ts';
import { allTrees } from '../../inspect/shown.ts';
import { StatelySockets } from '../../inspect/stately/statelySockets.ts';
import type { FlightRecorder } from '../../recording/flightRecorder.ts';
import type { AgentPort } from '../../socket/agent.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { packageVersion, recordingDirectory } from '../host/paths.ts';
import { machinesDigest } from '../start/observation/machinesDigest.ts';

interface InspectedNodeDependencies {
  readonly agent: AgentPort;
  readonly audience: Audience;
  /** The flight recorder. Undefined if nothing is recorded. */
  readonly flightRecorder: FlightRecorder | undefined;
  readonly config: NodeConfig;
  readonly redaction: Redaction;
  readonly logger: Pick<Logger, 'error'>;
}

/** Creates the view of the node for its page. Called when the page is opened for the first time. */
export function createInspectedNode({
  agent,
  audience,
  flightRecorder,
  config,
  redaction,
  logger,
}: InspectedNodeDependencies): InspectedNode {
  const { now } = systemClock;
  const redactedAgent = { ...agent, redact: redaction.redact };
  const pastThread = flightRecorder && createPastThread(flightRecorder, config);
  const recordedSpan = pastThread && new RecordedSpan({ past: pastThread, clock: systemClock });
  const followedActors = new FollowedActors({
    agent,
    audience,
    recordedPast: pastThread,
    clock: systemClock,
    isWatched: () => liveView.isFollowed,
  });
  const liveView: LiveView = new LiveView({
    agent: redactedAgent,
    audience,
    clock: systemClock,
    version: packageVersion(),
    recordedSpan: () => recordedSpan?.now(),
    onUnwatched: () => followedActors.forget(),
    onError: (error) => logger.error({ err: error }, `cannot create a frame for the page: ${messageOf(error)}`),
  });
  const statelySockets = new StatelySockets({
    audience,
    clock: systemClock,
    trees: () => allTrees(agent.explainNode().node, agent.trees()).values(),
  });
  const node = createLiveNode({
    agent: redactedAgent,
    view: liveView,
    followedActors,
    past: pastThread,
    now,
    stately: (request, connection, head) => statelySockets.add(request, connection, head),
    close: async () => {
      statelySockets.close();
      followedActors.forget();
      pastThread?.close();
    },
  });
  return { ...node, live: recordedSpan?.addTo(liveView) ?? liveView };
}

function createPastThread(
  flightRecorder: FlightRecorder,
  { rootDirectory }: Pick<NodeConfig, 'rootDirectory'>,
): PastThread {
  const path = recordingDirectory(rootDirectory);
  return new PastThread({
    path,
    machines: machinesDigest(),
    mode: 'past',
    beforeRequest: flightRecorder.waitUntilWritten,
    clock: systemClock,
  });
}
