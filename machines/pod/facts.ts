/** Collects the pod's details for the actor tree. */
import type { ActorRefFrom } from 'xstate';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { failureText, KIND_NAMES, UPDATE_AWAITS_ROOM } from '../../show/explain/explainText.ts';
import type { containerMachine } from '../container/chart.ts';
import { childrenOf } from '../shared/actorTree.ts';
import type { Seen } from '../shared/stateMeta.ts';
import type { PodContext } from './context.ts';
import { blockedBy } from './launchOrder.ts';
import { awaitsResources } from './resizing.ts';
import type { PodTag } from './setup.ts';

type SeenPod = Seen<PodContext, PodTag>;

export function facts({ snapshot }: SeenPod): ReportedDetails {
  const { allocated, refused, termination } = snapshot.context;
  return {
    name: allocated.metadata.name,
    facts: updateNotes(snapshot),
    ...(refused ? { refused } : {}),
    // A pod that completed was not terminated by a command.
    ...(termination && termination.reason !== 'Completed' ? { termination } : {}),
    waits: snapshot.hasTag('active') ? waitsInLine(snapshot) : {},
  };
}

function updateNotes(snapshot: SeenPod['snapshot']): string[] {
  const { unadmitted } = snapshot.context;
  if (unadmitted) return [`update not admitted: ${refusalText(unadmitted)}`];
  return snapshot.hasTag('active') && awaitsResources(snapshot.context) ? [UPDATE_AWAITS_ROOM] : [];
}

const refusalText = ({ reason, message, cause }: Refusal): string => failureText({ reason, message: cause ?? message });

/** Returns the launchable containers, each with the container that it waits for (C9). */
function waitsInLine({ context, children }: SeenPod['snapshot']): Readonly<Record<string, string>> {
  const containers = childrenOf<ActorRefFrom<typeof containerMachine>>({ children }, 'container/');
  const heldUp = blockedBy(context);
  const first = containers.find((ref) => ref.getSnapshot().context.name === heldUp)?.getSnapshot();
  if (first === undefined) return {};
  const whom = `${KIND_NAMES[first.context.role]} ${first.context.name}`;
  const wait = first.hasTag('runningPostStart') ? `${whom}'s postStart hook` : `${whom}, which starts before it`;
  const others = containers.filter((ref) => ref.getSnapshot().context.name !== heldUp);
  const waiting = others.filter((ref) => ref.getSnapshot().hasTag('readyToCreate'));
  return Object.fromEntries(waiting.map(({ id }) => [id, wait]));
}
