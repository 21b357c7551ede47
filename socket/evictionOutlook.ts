import { messageOf } from '../base/failure.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { evictionSentences, type HypotheticalShortage } from '../show/explain/explainEviction.ts';
import type { AgentPort } from './agent.ts';

/** Timeout for measuring the pods in order to predict evictions, in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Returns sentences about the pods that would be evicted first or, given a hypothetical shortage, because of it. If the
 * pods cannot be measured, returns the reason. Returns undefined if no shortage is given and the node never evicts
 * pods.
 */
export async function evictionOutlook(
  agent: Pick<AgentPort, 'evictionFigures' | 'pods'>,
  shortage?: HypotheticalShortage,
): Promise<readonly string[] | undefined> {
  const timeLimit = startTimeLimit(TIMEOUT_MS);
  try {
    const figures = await agent.evictionFigures(timeLimit.signal);
    if (figures !== undefined) return evictionSentences(agent.pods(), figures, shortage);
    return shortage === undefined ? undefined : ['this node evicts no pods'];
  } catch (error) {
    return [`evictions cannot be predicted: ${messageOf(error)}`];
  } finally {
    timeLimit.clear();
  }
}
