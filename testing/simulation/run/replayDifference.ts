/** Replays the recording of an agent and compares the result. */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { Redaction } from '../../../actors/replay/redaction.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import { firstDifference } from '../../../base/values/firstDifference.ts';
import type { Recording } from './recording.ts';
import { nextTask } from './schedule.ts';

/** Returns the state of a node that does not depend on the time of the query, without the omitted pods. */
function comparableState(agent: NodeAgent, omitted: readonly string[]) {
  const { children, ...node } = agent.explainNode().node;
  return {
    pods: agent.pods().filter(({ metadata }) => !omitted.includes(metadata.uid)),
    trees: Object.fromEntries([...agent.trees()].filter(([uid]) => !omitted.includes(uid))),
    overview: agent.overview(),
    // The store is outside the boundary. Its failures enter no actor.
    node: { ...node, children: children.filter(({ machine }) => machine !== 'store') },
  };
}

/**
 * Returns the first difference between an agent and a replay of its entries, or undefined if there is none. `redact` is
 * the redaction with which they were recorded.
 */
export async function replayDifference(
  agent: NodeAgent,
  recording: Recording,
  redact: Redaction['redact'],
): Promise<string | undefined> {
  // The replay gets the recording as if it had been read from a file.
  const { input, entries }: Recording = JSON.parse(JSON.stringify(recording));
  const replay = createReplay(input, entries, { nextTurn: nextTask });
  const unexpected = await replay.playEntries();
  // A replay does not wait for the disk, so pods whose statuses are still being written are omitted. Values that were
  // recorded in clear text may have turned out to be secret since, so both sides are redacted.
  const [live, replayed] = [agent, replay.agent].map((each) =>
    toJson(redact(comparableState(each, agent.unpublishedUids()))),
  );
  const difference = firstDifference(live, replayed);
  void replay.agent.stop();
  if (difference !== undefined) {
    const { path, left, right } = difference;
    return `${path}: ${JSON.stringify(left)}, replayed ${JSON.stringify(right)}`;
  }
  const [first] = unexpected;
  return first && `no actor waited for the ${first.kind} of ${first.source} at ${first.actor}`;
}

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
