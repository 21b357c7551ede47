/** Plays an agent's life again, and says where the replay has come to something else. */
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { Redaction } from '../../../actors/replay/redaction.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import { firstDifference } from '../../../base/firstDifference.ts';
import type { Recording } from './recording.ts';
import { nextTask } from './schedule.ts';

/** What a node shows that does not depend on when it is looked at, but of these pods. */
function shown(agent: NodeAgent, omitted: readonly string[]) {
  const { children, ...node } = agent.explainNode().node;
  return {
    pods: agent.pods().filter(({ metadata }) => !omitted.includes(metadata.uid)),
    trees: Object.fromEntries([...agent.trees()].filter(([uid]) => !omitted.includes(uid))),
    overview: agent.overview(),
    // The store is on the other side of the boundary: what it suffers enters no actor.
    node: { ...node, children: children.filter(({ machine }) => machine !== 'store') },
  };
}

/**
 * The first difference between an agent and the replay of what entered it; undefined where there is none. What is secret
 * was not recorded: `redact` is what kept it out.
 */
export async function differenceOfReplay(
  agent: NodeAgent,
  recording: Recording,
  redact: Redaction['redact'],
): Promise<string | undefined> {
  // As it is read from a file.
  const { input, entries }: Recording = JSON.parse(JSON.stringify(recording));
  const replay = createReplay(input, entries, { nextTurn: nextTask });
  const unplaced = await replay.play();
  // A replay waits for no disk.
  // What was recorded in the open may have turned out to be secret since.
  const [live, replayed] = [agent, replay.agent].map((each) => inJson(redact(shown(each, agent.untold()))));
  const difference = firstDifference(live, replayed);
  void replay.agent.stop();
  if (difference !== undefined) {
    const { path, left, right } = difference;
    return `${path}: ${JSON.stringify(left)}, replayed ${JSON.stringify(right)}`;
  }
  const [first] = unplaced;
  return first && `nobody waited for the ${first.kind} of ${first.source} at ${first.actor}`;
}

const inJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
