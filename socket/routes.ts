import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { Explanation } from '../show/explain.ts';
import { withUse } from '../show/explainNodeUse.ts';
import { type PartExplanation, type PodPart, partNames } from '../show/explainPart.ts';
import { formatExplanation, formatNodeExplanation, formatPartExplanation } from '../show/formatExplanation.ts';
import { podList } from '../show/podList.ts';
import { ambiguityMessage, findPodsByName } from '../show/podsByName.ts';
import type { AgentPort } from './agent.ts';
import { nearestPod, problemSentence, problemsOf } from './manifestProblems.ts';
import { failure } from './status.ts';

/** What a route answers: an object as JSON, or plain text. */
export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

/** With what is wrong with its manifest or, when there is none, the pod that was likely meant. */
function notFound(name: string, problems: readonly string[] = [], meant?: string): Answer {
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const why = problems.length > 0 ? `; its manifest was rejected: ${problems.join('; ')}` : hint;
  return { code: 404, body: failure(404, 'NotFound', `pods "${name}" not found${why}`) };
}

const nodeList = (agent: AgentPort): Answer => ({
  code: 200,
  body: { apiVersion: 'v1', kind: 'NodeList', metadata: { resourceVersion: '' }, items: [agent.nodeObject()] },
});

const eventList = (agent: AgentPort, namespace?: string): Answer => ({
  code: 200,
  body: {
    apiVersion: 'v1',
    kind: 'EventList',
    metadata: { resourceVersion: '' },
    items: agent.events().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  },
});

async function usageOf(agent: AgentPort): Promise<Answer> {
  const usage = await agent.usage(new AbortController().signal);
  if (usage !== undefined) return { code: 200, body: usage };
  const message = "usage is not measured, because the node's API is turned off (enableServer: false)";
  return { code: 404, body: failure(404, 'NotFound', message) };
}

function onePod(agent: AgentPort, namespace: string, name: string): Answer {
  const pod = agent.pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return pod ? { code: 200, body: pod } : notFound(name);
}

function places(agent: AgentPort, uid: string): Answer {
  const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
  const found = pod && agent.places(uid);
  return found ? { code: 200, body: { pod, ...found } } : notFound(uid);
}

interface Asked {
  readonly name: string;
  /** Whether the name is a UID, whatever other pods are called. */
  readonly isUid?: boolean;
  /** Any, when absent. */
  readonly namespace: string | undefined;
  /** Of the pod, where only that is asked for. */
  readonly part?: PodPart;
}

/** With what its failed containers said last. */
async function explained(agent: AgentPort, { metadata: { uid } }: Pod): Promise<Explanation | undefined> {
  return agent.explain(uid, await agent.logTails(uid));
}

/** Of the one pod that is asked for; a Status where there is none, or more than one. */
async function explanationOf(agent: AgentPort, { name, namespace, isUid }: Asked): Promise<Explanation | Answer> {
  const pods = agent.pods().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  const called = isUid ? pods.filter(({ metadata }) => metadata.uid === name) : findPodsByName(name, pods);
  const why = ambiguityMessage(called);
  if (why !== undefined) return { code: 400, body: failure(400, 'BadRequest', why) };
  const [pod] = called;
  const { problems, warnings, name: node } = agent.node();
  const found = pod && (await explained(agent, pod));
  if (!found) {
    const [elsewhere] = findPodsByName(name, agent.pods());
    const near = () => nearestPod(name, { node, namespace }, pods, problems);
    const meant = elsewhere ? `the one in namespace ${elsewhere.metadata.namespace}` : near();
    return notFound(name, problemsOf(name, { node, namespace }, problems), meant);
  }
  const place = { node, namespace: found.namespace };
  return {
    ...found,
    ...manifestSentences(problemsOf(found.name, place, problems), problemsOf(found.name, place, warnings)),
  };
}

/** What is told of manifests, as far as there is anything. */
const manifestSentences = (manifestProblems: readonly string[], manifestWarnings: readonly string[]) => ({
  ...(manifestProblems.length > 0 ? { manifestProblems } : {}),
  ...(manifestWarnings.length > 0 ? { manifestWarnings } : {}),
});

async function partExplanation(
  agent: AgentPort,
  { uid, name }: Pick<Explanation, 'uid' | 'name'>,
  part: PodPart,
): Promise<PartExplanation | Answer> {
  const found = await agent.explainPart(uid, part);
  if (found !== undefined) return found;
  const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
  const tree = agent.trees().get(uid);
  const known = pod && tree ? partNames({ pod, tree }, part.kind) : [];
  const message = `pod ${name}: ${part.kind} "${part.name}" not found${known.length > 0 ? `; it has ${known.join(', ')}` : ''}`;
  return { code: 404, body: failure(404, 'NotFound', message) };
}

async function explanation(agent: AgentPort, asked: Asked, accept: string): Promise<Answer> {
  const [asText, width] = [accept.includes('text/plain'), widthIn(accept)];
  const found = await explanationOf(agent, asked);
  if ('code' in found) return found;
  if (asked.part) {
    const part = await partExplanation(agent, found, asked.part);
    if ('code' in part) return part;
    return asText ? labelled(agent, formatPartExplanation(part, width)) : { code: 200, body: part };
  }
  return asText ? labelled(agent, formatExplanation(found, width)) : { code: 200, body: found };
}

function nodeExplanation(agent: AgentPort, name: string | undefined, accept: string): Answer {
  const explained = withUse(agent.explainNode(), agent.nodeObject(), agent.pods());
  if (name !== undefined && name !== explained.name) {
    return { code: 404, body: failure(404, 'NotFound', `nodes "${name}" not found`) };
  }
  const { problems, warnings } = agent.node();
  const found = {
    ...explained,
    ...manifestSentences(problems.map(problemSentence), warnings.map(problemSentence)),
  };
  const [asText, width] = [accept.includes('text/plain'), widthIn(accept)];
  return asText ? labelled(agent, formatNodeExplanation(found, width)) : { code: 200, body: found };
}

function labelled(agent: AgentPort, text: string): Answer {
  const label = agent.node().simulated ? 'SIMULATED runtime: no real containers run\n' : '';
  return { code: 200, body: `${label}${text}` };
}

/**
 * What `/explain/pods/NAME`, `/explain/namespaces/NAMESPACE/pods/NAME` or `/explain/uids/UID` asks for, each perhaps with
 * `/containers/NAME` or `/volumes/NAME`.
 */
function askedFor(steps: readonly string[]): Asked | undefined {
  const [first, ...rest] = steps;
  if (first !== 'explain') return undefined;
  const namespace = rest[0] === 'namespaces' ? rest[1] : undefined;
  const [kind, name, ...more] = namespace ? rest.slice(2) : rest;
  const isUid = kind === 'uids' && namespace === undefined;
  if (!name || (kind !== 'pods' && !isUid)) return undefined;
  const asked = { name, namespace, isUid };
  if (more.length === 0) return asked;
  const part = partAskedFor(more);
  return part && { ...asked, part };
}

function partAskedFor([kinds, name, ...more]: readonly string[]): PodPart | undefined {
  const kind = (['container', 'volume'] as const).find((each) => kinds === `${each}s`);
  return kind && name && more.length === 0 ? { kind, name } : undefined;
}

/** Returns the width of the text that `Accept: text/plain; width=120` requests, or undefined if it has none. */
function widthIn(accept: string): number | undefined {
  const [, width] = /text\/plain; ?width=(\d{1,4})\b/.exec(accept) ?? [];
  return width === undefined ? undefined : Number(width);
}

/** Responds to one request for `path`. `Accept: text/plain` requests text for people. */
export async function answer(agent: AgentPort, path: string, accept: string): Promise<Answer> {
  const [, ...steps] = path.split('/').map(decodeURIComponent);
  const [first, second, third, fourth, fifth, sixth] = steps;
  if (path === '/node') return { code: 200, body: agent.node() };
  if (path === '/api/v1/pods') return { code: 200, body: podList(agent.pods()) };
  if (path === '/actors') return { code: 200, body: { simulated: agent.node().simulated, ...agent.actors() } };
  if (path === '/api/v1/events') return eventList(agent);
  if (path === '/api/v1/nodes') return nodeList(agent);
  if (path === '/stats/summary') return usageOf(agent);
  if (first === 'explain' && (second === 'node' || second === 'nodes') && steps.length <= 3) {
    return nodeExplanation(agent, third, accept);
  }
  if (first === 'places' && second === 'uids' && third && steps.length === 3) return places(agent, third);
  const asked = askedFor(steps);
  if (asked) return explanation(agent, asked, accept);
  if (first === 'api' && second === 'v1' && third === 'namespaces' && fourth) {
    if (fifth === 'pods' && sixth && steps.length === 6) return onePod(agent, fourth, sixth);
    if (fifth === 'events' && steps.length === 5) return eventList(agent, fourth);
  }
  return { code: 404, body: failure(404, 'NotFound', `nothing found at ${path}`) };
}
