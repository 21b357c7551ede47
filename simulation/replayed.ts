/** Plays an agent's life again, and says where the replay has come to something else. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { createReplay } from '../actors/replay.ts';
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

/** The first difference between an agent and the replay of what entered it; undefined where there is none. */
export async function differenceOfReplay(agent: NodeAgent, recording: Recording): Promise<string | undefined> {
  // As it is read from a file.
  const { input, entries }: Recording = JSON.parse(JSON.stringify(recording));
  const replay = createReplay(input, entries, { nextTurn: nextTask });
  const unplaced = await replay.play();
  // A replay waits for no disk.
  const [live, replayed] = [agent, replay.agent].map((each) => inJson(shown(each, agent.untold())));
  const difference = differenceBetween(live, replayed, '');
  void replay.agent.stop();
  if (difference !== undefined) return difference;
  const [first] = unplaced;
  return first && `nobody waited for the ${first.kind} of ${first.source} at ${first.actor}`;
}

const inJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The path and the two values. */
function differenceBetween(live: unknown, replayed: unknown, path: string): string | undefined {
  if (Object.is(live, replayed)) return undefined;
  if (!isObject(live) || !isObject(replayed))
    return `${path}: ${JSON.stringify(live)}, replayed ${JSON.stringify(replayed)}`;
  const keys = new Set([...Object.keys(live), ...Object.keys(replayed)]);
  for (const key of keys) {
    const difference = differenceBetween(Reflect.get(live, key), Reflect.get(replayed, key), `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
