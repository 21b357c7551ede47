/** Explains the node itself from the actors that serve all pods. */
import { humanDuration } from '../../base/duration.ts';
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { ForeignPod } from '../../kubernetes/lifecycle/observed.ts';
import type { ActorNode, ActorView, NodeView } from '../actors/actorNode.ts';
import type { ExplainedActor } from '../explain.ts';

/** The reason for the node's current state, as plain JSON. */
export interface NodeExplanation {
  readonly name: string;
  /** Time that the explanation refers to, in milliseconds since the epoch. */
  readonly at: number;
  /** One sentence that says what the node is waiting for, or that it runs. */
  readonly answer: string;
  readonly node: ExplainedActor;
  /** Pods that this agent did not create and leaves alone. */
  readonly foreign: readonly ForeignPod[];
  /** Errors of rejected manifests, one sentence each with file and field. */
  readonly manifestProblems?: readonly string[];
  /** Warnings about accepted manifests and about the manifest directory. */
  readonly manifestWarnings?: readonly string[];
  readonly addresses?: readonly string[];
  /** One sentence per resource with the requested and the allocatable amount. */
  readonly use?: readonly string[];
}

/** Explains a node from the tree of its own actors, its runtime and its pods. */
export function explainNode(view: NodeView, now: number): NodeExplanation {
  const { tree, pods, foreign } = view;
  const children = tree.children.map((actor) => (actor.kind === 'limiter' ? withPodNames(actor, pods) : actor));
  return { name: tree.name, at: now, answer: nodeAnswer(view, now), foreign, node: { ...tree, children } };
}

/** Adds a part of the node to an explanation. */
export const withPart = ({ node, ...explanation }: NodeExplanation, part: ExplainedActor): NodeExplanation => ({
  ...explanation,
  node: { ...node, children: [...node.children, part] },
});

/** Creates the entry of a part of the node that is not an actor of a machine. */
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
 * Adds the state files that could not be written. The node retries the writes, and a restart before they succeed may
 * lose those files.
 */
export function withUnwrittenFiles(
  explanation: NodeExplanation,
  unwritten:
    | { readonly facts: number; readonly failure: Failure; readonly since: number; readonly retryAt: number }
    | undefined,
): NodeExplanation {
  if (unwritten === undefined) return explanation;
  const { facts, failure, since, retryAt: until } = unwritten;
  const state = { state: 'retrying', tags: ['retrying'], since, waitingFor: 'the disk', until, lastFailure: failure };
  const store = { ...nodePart('store', state), facts: [`${facts} ${facts === 1 ? 'file' : 'files'} not written`] };
  const text = `${facts} state ${facts === 1 ? 'file' : 'files'} cannot be written: ${failure.message}`;
  return withPart({ ...explanation, answer: `${explanation.answer}; ${text}` }, store);
}

/** Reports that the root directory of the agent, which contains all persistent state, has been removed. */
export interface LostRoot {
  readonly message: string;
  readonly since: number;
  /** Time of the next check for the directory, in milliseconds since the epoch. */
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
  const count = Object.keys(pods).length;
  const failures = children.flatMap(({ kind, lastFailure }) => {
    const consequence = lookUp<string>(CLUSTER_CONSEQUENCES, kind);
    return consequence === undefined || lastFailure === undefined ? [] : [`; ${consequence}: ${lastFailure.message}`];
  });
  const brokenParts = children.flatMap(({ name: part, tags: own, lastFailure }) =>
    own.includes('broken') ? [`; ${part} is broken${lastFailure ? `: ${lastFailure.message}` : ''}`] : [],
  );
  if (tags.includes('ending') && count > 0) {
    const runtimeNote = runtime.ready ? '' : `; the container runtime is not ready: ${runtimeMessage(runtime)}`;
    return `node ${name} is draining: ${drainProgress(count, until, now)}${runtimeNote}`;
  }
  if (!runtime.ready)
    return `node ${name} is waiting for the container runtime, which is not ready: ${runtimeMessage(runtime)}`;
  if (waitingFor !== undefined) return `node ${name} is waiting for ${waitingFor}`;
  if (runtime.networkNotReady !== undefined) {
    return `node ${name} is running, but its pods are waiting for the network: ${runtime.networkNotReady}`;
  }
  const queues = children.flatMap(({ kind, name: limiter, lists }) => {
    const { length } = lists?.[QUEUED_LIST] ?? [];
    return kind === 'limiter' && length > 0 ? [`${length} in the ${limiter} queue`] : [];
  });
  const endedPods = ended > 0 ? [`; ${ended} more ${ended === 1 ? 'has' : 'have'} ended or been rejected`] : [];
  const queueNote = queues.length > 0 ? [`; ${queues.join(', ')}`] : [];
  const notes = [...endedPods, ...queueNote, ...failures.slice(0, 1), ...brokenParts];
  return [`node ${name} is running ${podCount(count - ended)}`, ...notes].join('');
}

const QUEUED_LIST = 'queued';

/** Consequences of a failed actor for the node's membership in its cluster, by kind of actor. */
const CLUSTER_CONSEQUENCES: Readonly<Record<string, string>> = {
  registration: 'it cannot be registered in its cluster',
  lease: 'its lease cannot be renewed, so its cluster will take it for dead',
};

const runtimeMessage = ({ message = 'no reason given' }: NodeView['runtime']): string => message;

const podCount = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'}`;

/**
 * Formats the progress of a drain, e.g. `3 pods terminating, up to 57s`. The time is the remaining grace period of the
 * slowest pod, if known.
 */
export function drainProgress(pods: number, until: number | undefined, now: number): string {
  const timeLeft = until !== undefined && until > now ? `, up to ${humanDuration(until - now)}` : '';
  return `${podCount(pods)} terminating${timeLeft}`;
}

/** Replaces the keys of a limiter's requests with the names of their pods. */
function withPodNames(limiter: ActorNode, pods: NodeView['pods']): ActorNode {
  const lists = Object.entries(limiter.lists ?? {});
  return {
    ...limiter,
    lists: Object.fromEntries(lists.map(([of, keys]) => [of, keys.map((key) => requesterName(key, pods))])),
  };
}

/** Returns the pod and actor behind a key of a limiter, e.g. `default/web (app)`. */
function requesterName(key: string, pods: NodeView['pods']): string {
  const [uid = '', actor = ''] = key.split('/');
  return `${lookUp(pods, uid) ?? uid} (${actor.replace(/^:/, '')})`;
}
