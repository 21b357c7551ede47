/** The log as a sink: what becomes of each pod, what its events tell, and what else fails on the way, once each. */
import type { Logger } from 'pino';
import type { Failure } from '../../base/failure.ts';
import { isCallTimeoutMessage } from '../../cri/client/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import { displayName } from '../../kubernetes/shownName.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import { type PodWithTree, podActors } from '../../show/actors/podActors.ts';
import type { AgentPort } from '../../socket/agent.ts';

/**
 * Logs every change of a pod's phase and readiness (info), every event (a warning that is new as such, the others for
 * debugging), and every new failure of an actor that no event has told (warning).
 */
export function logStatuses(agent: AgentPort, logger: Logger): () => void {
  const logged = new Map<string, string>();
  const failures = new Map<string, Map<string, Failure>>();
  /** The actors of each pod at its last change: what an actor shows is another object once it has changed. */
  const seen = new Map<string, ReadonlySet<ActorNode>>();
  const events = new Map<string, string[]>();
  const endEvents = agent.subscribeEvents(({ event, removed }) => {
    if (!removed) tellEvent(logger, events, event);
  });
  const endStatuses = agent.subscribe((change) => {
    const { uid, pod, removed } = change;
    const { namespace, name } = pod.metadata;
    if (change.hasFailures) {
      const known = failures.get(uid) ?? new Map<string, Failure>();
      failures.set(uid, known);
      const [actors, before] = [actorsOf(change), seen.get(uid)];
      seen.set(uid, new Set(actors));
      for (const actor of actors) {
        if (before?.has(actor)) continue;
        if (!isTold(events.get(uid), actor)) logFailure({ agent, logger }, known, actor, pod.metadata);
      }
    } else {
      failures.delete(uid);
      seen.delete(uid);
    }
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    const now = removed
      ? 'gone'
      : `${pod.status?.phase ?? 'Unknown'}${ready ? ', ready' : ''}${whyOf(pod, events.get(uid))}`;
    const before = logged.get(uid);
    if (before === now) return;
    logger.info(
      { pod: `${namespace}/${name}`, uid },
      `pod ${displayName(pod.metadata)}: ${before === undefined ? '' : `${before} → `}${now}`,
    );
    if (!removed) return void logged.set(uid, now);
    logged.delete(uid);
    events.delete(uid);
    failures.delete(uid);
    seen.delete(uid);
  });
  return () => {
    endEvents();
    endStatuses();
  };
}

/** What a node without a cluster DNS tells of itself, once, is no news when a pod's event says it again. */
const NO_NEWS = 'MissingClusterDNS';
/** How many of a pod's last warnings are compared with the failures of its actors. */
const COMPARED = 8;

function tellEvent(logger: Logger, told: Map<string, string[]>, event: CoreEvent): void {
  const { involvedObject, type, reason, message, count } = event;
  const { kind, namespace, name, uid, fieldPath } = involvedObject;
  const container = /\{(.*)\}/.exec(fieldPath ?? '')?.[1];
  const who = kind === 'Pod' ? `pod ${displayName({ namespace: namespace ?? '', name })}` : `node ${name}`;
  const sentence = `${who}${container ? `, container ${container}` : ''}: ${reason}: ${message}`;
  const isNews = type === 'Warning' && count === 1;
  const level = !isNews ? 'debug' : reason !== NO_NEWS ? 'warn' : kind === 'Pod' ? 'debug' : 'info';
  logger[level]({ reason, object: namespace === undefined ? name : `${namespace}/${name}` }, sentence);
  if (type === 'Warning') told.set(uid, [...(told.get(uid) ?? []), message].slice(-COMPARED));
}

/** Whether an event has told the failure: its words carry those of the failure. */
const isTold = (messages: readonly string[] = [], { lastFailure }: ActorNode): boolean =>
  lastFailure !== undefined && messages.some((message) => message.includes(lastFailure.message));

/** Why a pod is refused, evicted or otherwise ended by its node. */
function whyOf({ status: { reason, message } = {} }: Pod, told: readonly string[] = []): string {
  if (message !== undefined && told.some((words) => message.includes(words))) return '';
  return reason ? ` (${message ? `${reason}: ${message}` : reason})` : '';
}

function actorsOf(seen: PodWithTree): readonly ActorNode[] {
  const { tree, volumes, containers } = podActors(seen);
  return [tree, ...volumes, ...containers.map(({ actor }) => actor)];
}

function logFailure(
  { agent, logger }: { readonly agent: Pick<AgentPort, 'node'>; readonly logger: Logger },
  told: Map<string, Failure>,
  actor: ActorNode,
  metadata: Pod['metadata'],
): void {
  const { path, lastFailure } = actor;
  const before = told.get(path);
  if (lastFailure === undefined) return void told.delete(path);
  const { reason, message } = lastFailure;
  // A retry that fails in the same way is no news.
  if (before?.reason === reason && before.message === message) return;
  // A runtime that is away is reported once for all pods. One call that hangs is news if the runtime is ready otherwise.
  const isOfRuntime =
    reason === 'RuntimeUnavailable' && !(isCallTimeoutMessage(message) && agent.node().runtime.state === 'ready');
  const level = isOfRuntime ? 'debug' : 'warn';
  told.set(path, lastFailure);
  const who = path.split('/').slice(2).join(' ') || 'pod';
  const pod = `${metadata.namespace}/${metadata.name}`;
  logger[level]({ pod, actor: path, reason }, `pod ${displayName(metadata)}, ${who}: ${reason}: ${message}`);
}
