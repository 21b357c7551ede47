/** Explains the state of the node itself, as opposed to that of a pod, based on the actors that serve all pods. */

import type { Failure } from '../../base/failure.ts';
import { humanDuration } from '../../base/time/duration.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { ForeignPod } from '../../kubernetes/lifecycle/observed.ts';
import type { ActorNode, ActorView, NodeView } from '../actors/actorNode.ts';
import type { ExplainedActor } from '../explain.ts';

/** The reason for the node's current state, as plain JSON. */
export interface NodeExplanation {
  readonly name: string;
  /** Time that the explanation refers to, in milliseconds since the epoch. */
  readonly at: number;
  /** One sentence that says what the node is waiting for, or that it is running. */
  readonly answer: string;
  readonly node: ExplainedActor;
  /** Pods that this agent did not create and does not touch. */
  readonly foreign: readonly ForeignPod[];
  /** Errors in rejected manifests. Each is one sentence that names the file and the field. */
  readonly manifestProblems?: readonly string[];
  /** Warnings about accepted manifests and about the manifest directory. */
  readonly manifestWarnings?: readonly string[];
  readonly addresses?: readonly string[];
  /** One sentence per resource with the requested and the allocatable amount. */
  readonly use?: readonly string[];
  /** Sentences about the pods that would be evicted. Undefined if the node never evicts pods. */
  readonly eviction?: readonly string[];
}

/** Explains a node from the tree of the node's own actors, its runtime and its pods. */
export function explainNode(view: NodeView, now: number): NodeExplanation {
  const { tree, pods, foreign } = view;
  const children = tree.children.map((actor) => (actor.kind === 'limiter' ? withPodNames(actor, pods) : actor));
  return { name: tree.name, at: now, answer: nodeAnswer(view, now), foreign, node: { ...tree, children } };
}

/** Adds an entry for a part of the node, e.g. its API, below the node's own entry. */
export const withPart = ({ node, ...explanation }: NodeExplanation, part: ExplainedActor): NodeExplanation => ({
  ...explanation,
  node: { ...node, children: [...node.children, part] },
});

/** Creates the entry for a part of the node that has no actor, e.g. the root directory. */
export const nodePart = (name: string, state: Omit<ActorView, 'path'>): ExplainedActor => ({
  id: name,
  machine: name,
  kind: name,
  name,
  path: name,
  ...state,
  facts: [],
  children: [],
});

/**
 * Adds the state files that could not be written to an explanation. The node retries the writes. If it restarts before
 * they succeed, the data may be lost.
 */
export function withUnwrittenFiles(
  explanation: NodeExplanation,
  unwrittenFiles:
    | {
        readonly factCount: number;
        readonly lastFailure: Failure;
        readonly failingSince: number;
        readonly nextRetryAt: number;
      }
    | undefined,
): NodeExplanation {
  if (unwrittenFiles === undefined) return explanation;
  const { factCount, lastFailure, failingSince, nextRetryAt: until } = unwrittenFiles;
  const state = {
    state: 'retrying',
    tags: ['retrying'],
    since: failingSince,
    waitingFor: 'the disk',
    until,
    lastFailure,
  };
  const storePart = {
    ...nodePart('store', state),
    facts: [`${factCount} ${factCount === 1 ? 'file' : 'files'} not written`],
  };
  const problemText = `${factCount} state ${factCount === 1 ? 'file' : 'files'} cannot be written: ${lastFailure.message}`;
  return withPart({ ...explanation, answer: `${explanation.answer}; ${problemText}` }, storePart);
}

/** The loss of the agent's root directory, which contains all persistent state. */
export interface LostRoot {
  readonly message: string;
  readonly since: number;
  /** Time of the next check of the directory, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** Adds the loss of the root directory to an explanation. */
export function withLostRoot(explanation: NodeExplanation, lostRoot: LostRoot | undefined): NodeExplanation {
  if (lostRoot === undefined) return explanation;
  const { message, since, retryAt: until } = lostRoot;
  const state = { state: 'lost', tags: ['retrying'], since, waitingFor: 'the directory to be restored', until };
  const answer = `${explanation.answer}; ${message}`;
  return withPart({ ...explanation, answer }, nodePart('root directory', state));
}

function nodeAnswer({ tree, runtime, pods, ended }: NodeView, now: number): string {
  const { name, tags, waitingFor, until, children } = tree;
  const podCount = Object.keys(pods).length;
  const failureNotes = children.flatMap(({ kind, lastFailure }) => {
    const consequence = lookUp<string>(CLUSTER_CONSEQUENCES, kind);
    return consequence === undefined || lastFailure === undefined ? [] : [`; ${consequence}: ${lastFailure.message}`];
  });
  const brokenActorNotes = children.flatMap(({ name: part, tags: own, lastFailure }) =>
    own.includes('broken') ? [`; ${part} is broken${lastFailure ? `: ${lastFailure.message}` : ''}`] : [],
  );
  if (tags.includes('ending') && podCount > 0) {
    const runtimeNote = runtime.ready ? '' : `; the container runtime is not ready: ${runtimeMessage(runtime)}`;
    return `node ${name} is draining: ${drainProgressText(podCount, until, now)}${runtimeNote}`;
  }
  if (!runtime.ready)
    return `node ${name} is waiting for the container runtime, which is not ready: ${runtimeMessage(runtime)}`;
  if (waitingFor !== undefined) return `node ${name} is waiting for ${waitingFor}`;
  if (runtime.networkNotReady !== undefined) {
    return `node ${name} is running, but its pods are waiting for the network: ${runtime.networkNotReady}`;
  }
  const queueLengths = children.flatMap(({ kind, name: limiter, lists }) => {
    const { length } = lists?.[QUEUED_LIST_KEY] ?? [];
    return kind === 'limiter' && length > 0 ? [`${length} in the ${limiter} queue`] : [];
  });
  const endedPodsNote = ended > 0 ? [`; ${ended} more ${ended === 1 ? 'has' : 'have'} ended or been rejected`] : [];
  const queueNote = queueLengths.length > 0 ? [`; ${queueLengths.join(', ')}`] : [];
  const notes = [...endedPodsNote, ...queueNote, ...failureNotes.slice(0, 1), ...brokenActorNotes];
  return [`node ${name} is running ${podCountText(podCount - ended)}`, ...notes].join('');
}

const QUEUED_LIST_KEY = 'queued';

/** Consequences of a failed actor for the node's membership in its cluster, by kind of actor. */
const CLUSTER_CONSEQUENCES: Readonly<Record<string, string>> = {
  registration: 'it cannot be registered in its cluster',
  lease: 'its lease cannot be renewed, so its cluster will take it for dead',
};

const runtimeMessage = ({ message = 'no reason given' }: NodeView['runtime']): string => message;

const podCountText = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'}`;

/**
 * Formats the progress of a drain, e.g. `3 pods terminating, up to 57s`. The time is the remaining grace period of the
 * slowest pod, if known.
 */
export function drainProgressText(pods: number, until: number | undefined, now: number): string {
  const timeLeftText = until !== undefined && until > now ? `, up to ${humanDuration(until - now)}` : '';
  return `${podCountText(pods)} terminating${timeLeftText}`;
}

/** Replaces the keys of a limiter's requests with the names of their pods. */
function withPodNames(limiter: ActorNode, pods: NodeView['pods']): ActorNode {
  const lists = Object.entries(limiter.lists ?? {});
  return {
    ...limiter,
    lists: Object.fromEntries(lists.map(([list, keys]) => [list, keys.map((key) => requesterName(key, pods))])),
  };
}

/** Returns the pod and actor that a limiter's key identifies, e.g. `default/web (app)`. */
function requesterName(key: string, pods: NodeView['pods']): string {
  const [uid = '', actor = ''] = key.split('/');
  return `${lookUp(pods, uid) ?? uid} (${actor.replace(/^:/, '')})`;
}
