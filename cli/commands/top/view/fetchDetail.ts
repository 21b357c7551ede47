/** Fetches the detail of one actor: its explanation, the end of its log, and its events. */
import { messageOf } from '../../../../base/failure.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import type { LogTail } from '../../../../show/logTail.ts';
import type { AgentClient } from '../../../../socket/client.ts';
import { readEventList } from '../../get/readEvents.ts';
import { readAnswerAndLog } from '../../get/readExplanation.ts';
import { eventEntries, type StoryEntry } from './story.ts';

export interface ActorDetail {
  readonly path: string;
  /** The explanation in one sentence. Undefined for actors without an explanation. */
  readonly answer?: string;
  readonly log?: LogTail;
  readonly events: readonly StoryEntry[];
}

/** Returns the container or volume to which an actor belongs. */
function partOf({ path }: ActorRow['actor']): { readonly kind: string; readonly name: string } | undefined {
  const [, , kind, name] = path.split('/');
  return name !== undefined && (kind === 'container' || kind === 'volume') ? { kind, name } : undefined;
}

function explanationPathOf({ actor, pod }: ActorRow): string | undefined {
  if (pod === undefined) return actor.machine === 'nodeAgent' ? '/explain/node' : undefined;
  const podPart = partOf(actor);
  const partPath = podPart ? `/${podPart.kind}s/${encodeURIComponent(podPart.name)}` : '';
  return `/explain/uids/${encodeURIComponent(pod.uid)}${partPath}`;
}

/** Fetches the detail. If that fails, the explanation is the error message. */
export async function fetchDetail(agent: AgentClient, row: ActorRow): Promise<ActorDetail> {
  const { actor, pod } = row;
  const explanationPath = explanationPathOf(row);
  const part = partOf(actor);
  try {
    const answerAndLog = explanationPath === undefined ? {} : readAnswerAndLog(await agent.json(explanationPath));
    const events = pod ? readEventList(await agent.json('/api/v1/events')) : [];
    const container = part?.kind === 'container' ? part.name : undefined;
    return {
      path: actor.path,
      ...answerAndLog,
      events: pod ? eventEntries(events, pod.uid, container) : [],
    };
  } catch (error) {
    return { path: actor.path, answer: messageOf(error), events: [] };
  }
}
