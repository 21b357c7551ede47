/** Logs the statuses, events and failures of pods, each change once. */
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
 * Logs each change in a pod's phase or readiness at info level, and each new failure of an actor at warn level unless
 * an event has reported it. Events are logged at debug level, except for the first occurrence of a Warning. Returns a
 * function that stops the logging.
 */
export function logStatuses(agent: AgentPort, logger: Logger): () => void {
  const loggedStatuses = new Map<string, string>();
  const failuresByPod = new Map<string, Map<string, Failure>>();
  /**
   * The actors of each pod at its last change. Changed actors are detected by identity, because an unchanged actor
   * remains the same object.
   */
  const previousActors = new Map<string, ReadonlySet<ActorNode>>();
  const warningsByPod = new Map<string, string[]>();
  const unsubscribeEvents = agent.subscribeEvents(({ event, removed }) => {
    if (!removed) logEvent(logger, warningsByPod, event);
  });
  const unsubscribeStatuses = agent.subscribe((change) => {
    const { uid, pod, removed } = change;
    const { namespace, name } = pod.metadata;
    if (change.hasFailures) {
      const loggedFailures = failuresByPod.get(uid) ?? new Map<string, Failure>();
      failuresByPod.set(uid, loggedFailures);
      const [actors, before] = [listActors(change), previousActors.get(uid)];
      previousActors.set(uid, new Set(actors));
      for (const actor of actors) {
        if (before?.has(actor)) continue;
        if (!isFailureReported(warningsByPod.get(uid), actor))
          logFailure({ agent, logger }, loggedFailures, actor, pod.metadata);
      }
    } else {
      failuresByPod.delete(uid);
      previousActors.delete(uid);
    }
    const isReady = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    const now = removed
      ? 'gone'
      : `${pod.status?.phase ?? 'Unknown'}${isReady ? ', ready' : ''}${reasonSuffix(pod, warningsByPod.get(uid))}`;
    const previousStatus = loggedStatuses.get(uid);
    if (previousStatus === now) return;
    logger.info(
      { pod: `${namespace}/${name}`, uid },
      `pod ${displayName(pod.metadata)}: ${previousStatus === undefined ? '' : `${previousStatus} → `}${now}`,
    );
    if (!removed) return void loggedStatuses.set(uid, now);
    loggedStatuses.delete(uid);
    warningsByPod.delete(uid);
    failuresByPod.delete(uid);
    previousActors.delete(uid);
  });
  return () => {
    unsubscribeEvents();
    unsubscribeStatuses();
  };
}

/**
 * Reason of an event that a node without cluster DNS records about itself and about its pods. The events about pods are
 * logged only at debug level.
 */
const NODE_WIDE_REASON = 'MissingClusterDNS';
/** Number of recent warnings of a pod that are compared with the failures of its actors. */
const MAX_WARNINGS = 8;

function logEvent(logger: Logger, warnings: Map<string, string[]>, event: CoreEvent): void {
  const { involvedObject, type, reason, message, count } = event;
  const { kind, namespace, name, uid, fieldPath } = involvedObject;
  const container = /\{(.*)\}/.exec(fieldPath ?? '')?.[1];
  const eventSubject = kind === 'Pod' ? `pod ${displayName({ namespace: namespace ?? '', name })}` : `node ${name}`;
  const logMessage = `${eventSubject}${container ? `, container ${container}` : ''}: ${reason}: ${message}`;
  const isFirstWarning = type === 'Warning' && count === 1;
  const level = !isFirstWarning ? 'debug' : reason !== NODE_WIDE_REASON ? 'warn' : kind === 'Pod' ? 'debug' : 'info';
  logger[level]({ reason, object: namespace === undefined ? name : `${namespace}/${name}` }, logMessage);
  if (type === 'Warning') warnings.set(uid, [...(warnings.get(uid) ?? []), message].slice(-MAX_WARNINGS));
}

/** Whether the message of a logged event contains the message of the actor's failure. */
const isFailureReported = (messages: readonly string[] = [], { lastFailure }: ActorNode): boolean =>
  lastFailure !== undefined && messages.some((message) => message.includes(lastFailure.message));

/** Returns why the node has rejected, evicted or terminated a pod, unless a logged warning already says so. */
function reasonSuffix({ status: { reason, message } = {} }: Pod, warnings: readonly string[] = []): string {
  if (message !== undefined && warnings.some((warning) => message.includes(warning))) return '';
  return reason ? ` (${message ? `${reason}: ${message}` : reason})` : '';
}

function listActors(pod: PodWithTree): readonly ActorNode[] {
  const { tree, volumes, containers } = podActors(pod);
  return [tree, ...volumes, ...containers.map(({ actor }) => actor)];
}

function logFailure(
  { agent, logger }: { readonly agent: Pick<AgentPort, 'node'>; readonly logger: Logger },
  loggedFailures: Map<string, Failure>,
  actor: ActorNode,
  metadata: Pod['metadata'],
): void {
  const { path, lastFailure } = actor;
  const previousFailure = loggedFailures.get(path);
  if (lastFailure === undefined) return void loggedFailures.delete(path);
  const { reason, message } = lastFailure;
  // Skip a retry that fails in the same way, because its failure has already been logged.
  if (previousFailure?.reason === reason && previousFailure.message === message) return;
  // An unreachable runtime is reported once for all pods by another log line, but a call timeout is reported here if
  // the runtime is ready.
  const isRuntimeFailure =
    reason === 'RuntimeUnavailable' && !(isCallTimeoutMessage(message) && agent.node().runtime.state === 'ready');
  const level = isRuntimeFailure ? 'debug' : 'warn';
  loggedFailures.set(path, lastFailure);
  const actorName = path.split('/').slice(2).join(' ') || 'pod';
  const pod = `${metadata.namespace}/${metadata.name}`;
  logger[level]({ pod, actor: path, reason }, `pod ${displayName(metadata)}, ${actorName}: ${reason}: ${message}`);
}
