/** Plays an agent's life again, and says where the replay has come to something else. */
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { createReplay } from '../actors/replay.ts';
import type { Recording } from './recording.ts';
import { nextTask } from './schedule.ts';

/** What a node shows that does not depend on when it is looked at. */
const shown = (agent: NodeAgent) => ({
  pods: agent.pods(),
  trees: Object.fromEntries(agent.trees()),
  overview: agent.overview(),
  node: agent.explainNode().node,
});

/** The first difference between an agent and the replay of what entered it; undefined where there is none. */
export async function differenceOfReplay(agent: NodeAgent, recording: Recording): Promise<string | undefined> {
  // As it is read from a file.
  const { input, entries }: Recording = JSON.parse(JSON.stringify(recording));
  const replay = createReplay(input, entries, { nextTurn: nextTask });
  const unplaced = await replay.play();
  const difference = differenceBetween(inJson(shown(agent)), inJson(shown(replay.agent)), '');
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
