/** Explains the node itself: the actors that serve all pods, as `explain` shows those of one pod. */
import { humanDuration } from '../api/duration.ts';
import type { Failure } from '../failure.ts';
import type { ForeignPod } from '../lifecycle/observed.ts';
import { lookUp } from '../lookUp.ts';
import { type ExplainedActor, explained } from './explain.ts';
import type { NodeView, SharedLimiterView } from './view.ts';

/** Why the node is where it is, as plain JSON. */
export interface NodeExplanation {
  readonly name: string;
  /** The moment that it explains, in milliseconds since the epoch. */
  readonly at: number;
  /** One sentence: what the node waits for, or that it runs. */
  readonly answer: string;
  readonly node: ExplainedActor;
  /** The pods of others that it leaves alone. */
  readonly foreign: readonly ForeignPod[];
  /** Manifests that are not used, and why: one sentence each with file and field. */
  readonly manifestProblems?: readonly string[];
  /** What is odd in those that are, and about where they are looked for. */
  readonly manifestWarnings?: readonly string[];
  readonly addresses?: readonly string[];
  /** A sentence for each resource: how much of it is asked for, of how much there is for pods. */
  readonly use?: readonly string[];
}

/** Explains a node from the states of its own actors alone. */
export function explainNode(view: NodeView, now: number): NodeExplanation {
  const { name, admissions, parts, limiters } = view;
  return {
    name,
    at: now,
    answer: answerOf(view, now),
    foreign: view.foreign,
    node: {
      ...explained('node', name, view),
      children: [
        runtimeOf(view),
        ...limiters.map((limiter) => limiterOf(limiter, view)),
        ...admissions.map((admission) => ({
          ...explained('actor', admission.name, admission),
          notes: [`${admission.admitted} admitted`],
          ...lined(admission.waiting),
          ...(admission.refused.length > 0 ? { refused: admission.refused } : {}),
        })),
        ...parts.map((part) => ({ ...explained('actor', part.name, part), notes: part.notes ?? [] })),
      ],
    },
  };
}

/** The explanation with one more of the node's own parts. */
const withPart = ({ node, ...explanation }: NodeExplanation, part: ExplainedActor): NodeExplanation => ({
  ...explanation,
  node: { ...node, children: [...node.children, part] },
});

/** The explanation of a node that has facts it could not write: it keeps them and tries again, so a restart may not lose them. */
export function withUnwritten(
  explanation: NodeExplanation,
  trouble:
    | { readonly facts: number; readonly failure: Failure; readonly since: number; readonly retryAt: number }
    | undefined,
): NodeExplanation {
  if (trouble === undefined) return explanation;
  const { facts, failure, since, retryAt: until } = trouble;
  const state = { state: 'retrying', tags: ['retrying'], since };
  const view = { path: 'store', ...state, waitingFor: 'the disk', until, lastFailure: failure };
  const store = {
    ...explained('actor', 'store', view),
    notes: [`${facts} ${facts === 1 ? 'fact' : 'facts'} not written`],
  };
  const words = `${facts} durable ${facts === 1 ? 'fact' : 'facts'} cannot be written: ${failure.message}`;
  return withPart({ ...explanation, answer: `${explanation.answer}; ${words}` }, store);
}

/** That the directory in which the agent keeps what has to outlive a restart is gone. */
export interface LostRoot {
  readonly message: string;
  readonly since: number;
}

/** The explanation of a node from which its root directory was taken. */
export function withLostRoot(explanation: NodeExplanation, lost: LostRoot | undefined): NodeExplanation {
  if (lost === undefined) return explanation;
  const { message, since } = lost;
  const view = {
    path: 'rootDirectory',
    state: 'lost',
    tags: ['failed'],
    since,
    waitingFor: 'the directory to be there again',
  };
  const answer = `${explanation.answer}; ${message}`;
  return withPart({ ...explanation, answer }, explained('actor', 'root directory', view));
}

function answerOf({ name, state, runtime, waitingFor, until, limiters, pods }: NodeView, now: number): string {
  const count = Object.keys(pods).length;
  if (state === 'draining' && count > 0) {
    const held = runtime.ready ? '' : `; the container runtime is not ready: ${troubleOf(runtime)}`;
    return `node ${name} drains: ${endingText(count, until, now)}${held}`;
  }
  if (!runtime.ready) return `node ${name} waits for the container runtime, which is not ready: ${troubleOf(runtime)}`;
  if (waitingFor !== undefined) return `node ${name} waits for ${waitingFor}`;
  if (runtime.networkNotReady !== undefined) {
    return `node ${name} runs, but its pods wait for a network: ${runtime.networkNotReady}`;
  }
  const queues = limiters.flatMap(({ name: limiter, queue }) =>
    queue.length > 0 ? [`${queue.length} in the ${limiter} queue`] : [],
  );
  return `node ${name} runs with ${count} ${count === 1 ? 'pod' : 'pods'}${queues.length > 0 ? `; ${queues.join(', ')}` : ''}`;
}

const troubleOf = ({ message = 'it does not say why' }: NodeView['runtime']): string => message;

/** `3 pods ending, up to 57s`: for as long as the last of them has to be waited for, where that is known. */
export function endingText(pods: number, until: number | undefined, now: number): string {
  const left = until !== undefined && until > now ? `, up to ${humanDuration(until - now)}` : '';
  return `${pods} ${pods === 1 ? 'pod' : 'pods'} ending${left}`;
}

function runtimeOf({ runtime, since: sinceNode }: NodeView): ExplainedActor {
  const { name, version, ready, since = sinceNode, networkNotReady } = runtime;
  const actor = {
    ...{ path: 'nodeAgent/runtimeHealth', since },
    ...(ready ? { state: 'ready', tags: ['steady'] } : { state: 'not ready', tags: ['retrying'] }),
  };
  const waits = ready ? networkNotReady && `its network: ${networkNotReady}` : `it to be ready: ${troubleOf(runtime)}`;
  return {
    ...explained('runtime', name || 'unknown', waits === undefined ? actor : { ...actor, waitingFor: waits }),
    notes: version === '' ? [] : [version],
  };
}

function limiterOf(limiter: SharedLimiterView, { pods }: NodeView): ExplainedActor {
  const { name, capacity, held, slow = [], queue } = limiter;
  const named = (keys: readonly string[]) => keys.map((key) => claimantOf(key, pods));
  return {
    ...explained('limiter', name, limiter),
    notes: [
      `${held.length - slow.length}${Number.isFinite(capacity) ? ` of ${capacity}` : ''} held`,
      ...(slow.length > 0 ? [`and ${slow.length} slow ${slow.length === 1 ? 'one' : 'ones'} besides`] : []),
    ],
    ...(held.length > 0 ? { holders: named(held) } : {}),
    ...lined(named(queue)),
  };
}

const lined = (line: readonly string[]): Pick<ExplainedActor, 'line'> => (line.length > 0 ? { line } : {});

/** `default/web (app)`: who stands behind the key of a claim at a limiter. */
function claimantOf(key: string, pods: NodeView['pods']): string {
  const [uid = '', actor = ''] = key.split('/');
  return `${lookUp(pods, uid) ?? uid} (${actor.replace(/^:/, '')})`;
}
