import type { Refusal } from '../admission/refusal.ts';
import type { PodPhase } from '../api/schema/status.ts';
import { podStatus } from '../status/status.ts';
import type { ActorNode } from './actorNode.ts';
import { answerOf } from './explainAnswer.ts';
import { AWAITS_ROOM, failureText, type QueuePlace, queuePlace } from './explainText.ts';
import { type LogTail, type LogTails, withLogTails } from './logTail.ts';
import { podRow } from './table.ts';
import type { ActorView, ContainerView, LimiterView, PodView, TerminatedRun } from './view.ts';
import { withWaitObjects } from './waitObject.ts';

/** One actor as an explanation shows it; times are milliseconds since the epoch. */
export interface ExplainedActor extends ActorNode {
  readonly queue?: QueuePlace;
  readonly lastRun?: TerminatedRun;
  /** How the log of its last failed run ends. */
  readonly log?: LogTail;
  readonly children: readonly ExplainedActor[];
}

/** Why a pod is where it is, as plain JSON. */
export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The moment that it explains, in milliseconds since the epoch. */
  readonly at: number;
  readonly phase: PodPhase;
  /** The words of kubectl's columns STATUS and READY. */
  readonly status: string;
  readonly ready: string;
  /** One sentence: why it is not running, or that it is. */
  readonly answer: string;
  readonly addresses: readonly string[];
  /** What is wrong with its manifest as it is now, a sentence each; its last good version goes on. */
  readonly manifestProblems?: readonly string[];
  /** What is odd in the manifest that is in use. */
  readonly manifestWarnings?: readonly string[];
  readonly pod: ExplainedActor;
}

/** What else an explanation takes into account. */
interface Surroundings {
  readonly limiters?: readonly LimiterView[];
  readonly runtimeNotReady?: string | undefined;
  /** How the logs of its failed containers end. */
  readonly logs?: LogTails | undefined;
}

/**
 * Explains a pod from the states of its actors alone, and from what of the node it may wait for: the limiters where it may
 * stand in line, and the runtime. `runtimeNotReady` says why that itself is not ready, be its network as it may.
 */
export function explainPod(
  seen: PodView,
  now: number,
  { limiters = [], runtimeNotReady, logs = new Map() }: Surroundings = {},
): Explanation {
  const view = withWaitObjects(withLogTails(seen, logs));
  const { namespace, name, uid } = view.pod.metadata;
  const status = podStatus(view, { now, hostIps: [], runtimeName: 'cri' });
  const ending = view.termination ? { deletionTimestamp: new Date(view.termination.at).toISOString() } : {};
  const row = podRow({ ...view.pod, metadata: { ...view.pod.metadata, ...ending }, status }, now);
  return {
    namespace,
    name,
    uid,
    at: now,
    phase: status.phase ?? 'Unknown',
    status: row.status,
    ready: row.ready,
    answer: answerOf({ view, now, limiters, status, runtimeNotReady }),
    addresses: view.sandbox?.ips ?? [],
    pod: {
      ...explained('pod', name, view, queuePlace(view, limiters)),
      facts: updateNotes(view),
      children: [
        ...view.volumes.map((volume) => explained('volume', volume.name, volume)),
        ...view.containers.map((container) => {
          const log = logs.get(container.name);
          return { ...explainContainer(view, container, limiters), ...(log ? { log } : {}) };
        }),
      ],
    },
  };
}

function updateNotes({ unadmitted, awaitsRoom }: PodView): string[] {
  if (unadmitted) return [`update not admitted: ${refusalText(unadmitted)}`];
  return awaitsRoom ? [AWAITS_ROOM] : [];
}

const refusalText = ({ reason, message, cause }: Refusal): string => failureText({ reason, message: cause ?? message });

function explainContainer(view: PodView, container: ContainerView, limiters: readonly LimiterView[]): ExplainedActor {
  const { now, last, ready, restartCount, role } = container;
  const lasting = role === 'sidecar' || role === 'regular';
  const lastRun = now.kind === 'terminated' ? now.run : last;
  return {
    ...explained(role, container.name, container, queuePlace(view, limiters, container.name)),
    facts: [
      ...(lasting && now.kind === 'running' ? [ready ? 'ready' : 'not ready'] : []),
      ...(restartCount > 0 ? [`${restartCount} ${restartCount === 1 ? 'restart' : 'restarts'}`] : []),
    ],
    ...(lastRun ? { lastRun } : {}),
    children: (container.probes ?? []).map((probe) => explained('probe', probe.kind, probe)),
  };
}

/** What all actors show of themselves. */
export function explained(kind: string, name: string, actor: ActorView, queue?: QueuePlace): ExplainedActor {
  const { path, state, tags, since, waitingFor, until, lastFailure } = actor;
  return {
    ...{ id: `${kind}/${name}`, machine: kind, kind, name, path, state, tags, since, facts: [] },
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until }),
    ...(queue ? { queue } : {}),
    ...(lastFailure ? { lastFailure } : {}),
    children: [],
  };
}
