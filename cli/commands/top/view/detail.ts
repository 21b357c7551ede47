/** What is asked of one actor beside its row: why it is so, how its log ends, what was recorded of it. */
import { messageOf } from '../../../../base/failure.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import type { LogTail } from '../../../../show/logTail.ts';
import type { AgentClient } from '../../../../socket/client.ts';
import { readEventList } from '../../get/readEvents.ts';
import { readAnswer } from '../../get/readExplanation.ts';
import { type Told, toldEvents } from './story.ts';

/** What is known of an actor that somebody looks at. */
export interface Detail {
  /** Of the actor. */
  readonly path: string;
  /** In one sentence; absent where only its state tells. */
  readonly answer?: string;
  readonly log?: LogTail;
  readonly events: readonly Told[];
}

/** The container or volume that an actor is, or that it is a part of. */
function partOf({ path }: ActorRow['actor']): { readonly kind: string; readonly name: string } | undefined {
  const [, , kind, name] = path.split('/');
  return name !== undefined && (kind === 'container' || kind === 'volume') ? { kind, name } : undefined;
}

function resourceOf({ actor, pod }: ActorRow): string | undefined {
  if (pod === undefined) return actor.machine === 'nodeAgent' ? '/explain/node' : undefined;
  const part = partOf(actor);
  const below = part ? `/${part.kind}s/${encodeURIComponent(part.name)}` : '';
  return `/explain/uids/${encodeURIComponent(pod.uid)}${below}`;
}

/** Asks the agent for what its actors do not show. */
export async function askDetail(agent: AgentClient, row: ActorRow): Promise<Detail> {
  const { actor, pod } = row;
  const resource = resourceOf(row);
  const part = partOf(actor);
  try {
    const explained = resource === undefined ? {} : readAnswer(await agent.json(resource));
    const events = pod ? readEventList(await agent.json('/api/v1/events')) : [];
    const container = part?.kind === 'container' ? part.name : undefined;
    return {
      path: actor.path,
      ...explained,
      events: pod ? toldEvents(events, pod.uid, container) : [],
    };
  } catch (error) {
    return { path: actor.path, answer: messageOf(error), events: [] };
  }
}
