/** Describes the state of the eviction machine for `explain` and the node's web page. */
import { roundedBytes } from '../../kubernetes/eviction/amounts.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { thresholdSentences } from '../../show/explain/explainEviction.ts';
import { clockTime } from '../../show/explain/explainText.ts';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { type EvictionContext, effectiveThresholds, type Reclaim } from './context.ts';

/** Describes how much of each resource is left, what was reclaimed last, and which pods are being evicted. */
export function facts({ snapshot: { context } }: ActorInfo<EvictionContext>): ReportedDetails {
  const { pressure, earlierObservations, reclaim, evictions, measuredAt } = context;
  const [oldest] = earlierObservations;
  return {
    facts: [
      ...thresholdSentences(effectiveThresholds(context), pressure.observations, oldest?.observations),
      ...(reclaim === undefined ? [] : [reclaimSentence(reclaim, measuredAt)]),
    ],
    lists: { evicted: evictions.map(({ involved }) => `${involved.namespace}/${involved.name}`) },
  };
}

function reclaimSentence({ signal, at, containerCount, imageCount, imageBytes }: Reclaim, now: number): string {
  const images = `${imageCount} ${imageCount === 1 ? 'image' : 'images'} of ${roundedBytes(imageBytes)}`;
  const containers = `${containerCount} dead ${containerCount === 1 ? 'container' : 'containers'}`;
  return `removed ${containers} and ${images} at ${clockTime(at, now)} because of ${signal}`;
}
