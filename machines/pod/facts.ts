/** Collects the pod's details for the actor tree. */
import type { ActorRefFrom } from 'xstate';
import type { Refusal } from '../../kubernetes/admission/refusal.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { failureText, KIND_NAMES, UPDATE_AWAITS_ROOM } from '../../show/explain/explainText.ts';
import type { containerMachine } from '../container/chart.ts';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { childrenOf } from '../shared/views/actorTree.ts';
import { blockingContainer } from './containers/launchOrder.ts';
import type { PodContext } from './context.ts';
import { awaitsResources } from './resizing.ts';
import type { PodTag } from './setup.ts';

type PodInfo = ActorInfo<PodContext, PodTag>;

export function facts({ snapshot }: PodInfo): ReportedDetails {
  const { allocated, refusal, termination } = snapshot.context;
  return {
    name: allocated.metadata.name,
    facts: pendingUpdateNotes(snapshot),
    ...(refusal ? { refused: refusal } : {}),
    // A completion is not shown as a termination, because no command caused it.
    ...(termination && termination.reason !== 'Completed' ? { termination } : {}),
    waitDescriptions: snapshot.hasTag('active') ? launchWaitDescriptions(snapshot) : {},
  };
}

function pendingUpdateNotes(snapshot: PodInfo['snapshot']): string[] {
  const { updateRefusal } = snapshot.context;
  if (updateRefusal) return [`update not admitted: ${refusalText(updateRefusal)}`];
  return snapshot.hasTag('active') && awaitsResources(snapshot.context) ? [UPDATE_AWAITS_ROOM] : [];
}

const refusalText = ({ reason, message, cause }: Refusal): string => failureText({ reason, message: cause ?? message });

/**
 * Returns the wait descriptions of the launchable containers, by actor ID. Each description names the container that
 * has to be launched first (C9).
 */
function launchWaitDescriptions({ context, children }: PodInfo['snapshot']): Readonly<Record<string, string>> {
  const containers = childrenOf<ActorRefFrom<typeof containerMachine>>({ children }, 'container/');
  const blockerName = blockingContainer(context);
  const blocker = containers.find((ref) => ref.getSnapshot().context.name === blockerName)?.getSnapshot();
  if (blocker === undefined) return {};
  const blockerTitle = `${KIND_NAMES[blocker.context.role]} ${blocker.context.name}`;
  const waitDescription = blocker.hasTag('runningPostStart')
    ? `${blockerTitle}'s postStart hook`
    : `${blockerTitle}, which starts before it`;
  const otherContainers = containers.filter((ref) => ref.getSnapshot().context.name !== blockerName);
  const launchableContainers = otherContainers.filter((ref) => ref.getSnapshot().hasTag('readyToCreate'));
  return Object.fromEntries(launchableContainers.map(({ id }) => [id, waitDescription]));
}
