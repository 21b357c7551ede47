/** The log as a sink: what becomes of each pod, and what fails on the way, once each. */
import type { Logger } from 'pino';
import type { Failure } from '../pod/failure.ts';
import type { Pod } from '../pod/schema/pod.ts';
import type { ActorView, PodView } from '../pod/view.ts';
import type { AgentPort } from '../server/agent.ts';
import { shownName } from './shownName.ts';

/** Logs every change of a pod's phase and readiness (info) and every new failure of one of its actors (warning). */
export function logStatuses(agent: AgentPort, logger: Logger): () => void {
  const told = new Map<string, string>();
  const failures = new Map<string, Failure>();
  return agent.subscribe(({ uid, pod, view, removed }) => {
    const { namespace, name } = pod.metadata;
    for (const actor of actorsOf(view)) tellFailure(logger, failures, actor, pod.metadata);
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    const now = removed ? 'gone' : `${pod.status?.phase ?? 'Unknown'}${ready ? ', ready' : ''}${whyOf(pod)}`;
    const before = told.get(uid);
    if (before === now) return;
    logger.info(
      { pod: `${namespace}/${name}`, uid },
      `pod ${shownName(pod.metadata)}: ${before === undefined ? '' : `${before} → `}${now}`,
    );
    if (!removed) return void told.set(uid, now);
    told.delete(uid);
    for (const path of failures.keys()) if (path.startsWith(view.path)) failures.delete(path);
  });
}

/** Why a pod is refused, evicted or otherwise ended by its node. */
function whyOf({ status: { reason, message } = {} }: Pod): string {
  return reason ? ` (${message ? `${reason}: ${message}` : reason})` : '';
}

const actorsOf = (view: PodView): readonly ActorView[] => [view, ...view.volumes, ...view.containers];

function tellFailure(logger: Logger, told: Map<string, Failure>, actor: ActorView, metadata: Pod['metadata']): void {
  const { path, lastFailure } = actor;
  const before = told.get(path);
  if (lastFailure === undefined) return void told.delete(path);
  const { reason, message } = lastFailure;
  // What is tried again and fails as before is told already.
  if (before?.reason === reason && before.message === message) return;
  told.set(path, lastFailure);
  const who = path.split('/').slice(2).join(' ') || 'pod';
  const pod = `${metadata.namespace}/${metadata.name}`;
  logger.warn({ pod, actor: path, reason }, `pod ${shownName(metadata)}, ${who}: ${reason}: ${message}`);
}
