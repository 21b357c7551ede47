import { messageOf } from '../base/failure.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { evictionSentences, type HypotheticalShortage } from '../show/explain/explainEviction.ts';
import type { AgentPort } from './agent.ts';

/** Default timeout for measuring the pods in order to predict evictions, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 5_000;

interface OutlookOptions {
  readonly shortage?: HypotheticalShortage | undefined;
  readonly timeoutMs?: number;
}

/**
 * Returns sentences about the pods that the node would evict first or, with a hypothetical shortage, about the pods
 * that it would evict in this shortage. If the pods cannot be measured, returns the reason. Without a shortage, returns
 * undefined if the node never evicts pods.
 */
export async function evictionOutlook(
  agent: Pick<AgentPort, 'evictionFigures' | 'pods'>,
  { shortage, timeoutMs = DEFAULT_TIMEOUT_MS }: OutlookOptions = {},
): Promise<readonly string[] | undefined> {
  const timeLimit = startTimeLimit(timeoutMs);
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
