import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { parseQuantity, wholeValue } from '../kubernetes/api/values/quantity.ts';
import { isSignal, SIGNALS } from '../kubernetes/eviction/signals.ts';
import type { HypotheticalShortage } from '../show/explain/explainEviction.ts';
import { withResourceUse } from '../show/explain/explainNodeUse.ts';
import { type PartExplanation, type PodPart, partNames } from '../show/explain/explainPart.ts';
import { formatExplanation, formatNodeExplanation, formatPartExplanation } from '../show/explain/formatExplanation.ts';
import type { Explanation } from '../show/explain.ts';
import { podList } from '../show/tables/podList.ts';
import { ambiguityMessage, findPodsByName } from '../show/tables/podsByName.ts';
import type { AgentPort } from './agent.ts';
import { evictionOutlook } from './evictionOutlook.ts';
import { formatProblem, listPodProblems, suggestPod } from './manifestProblems.ts';
import { failureStatus } from './status.ts';

/** A response, whose body is sent as JSON or, if it is a string, as plain text. */
export interface RouteResponse {
  readonly code: number;
  readonly body: unknown;
}

/**
 * Returns a 404 response that mentions the problems of the requested pod's manifest, or else the pod that the user
 * probably meant.
 */
function createNotFoundResponse(name: string, problems: readonly string[] = [], suggestedPod?: string): RouteResponse {
  const hint = suggestedPod === undefined ? '' : `; did you mean ${suggestedPod}?`;
  const reasonSuffix = problems.length > 0 ? `; its manifest was rejected: ${problems.join('; ')}` : hint;
  return { code: 404, body: failureStatus(404, 'NotFound', `pods "${name}" not found${reasonSuffix}`) };
}

const nodeList = (agent: AgentPort): RouteResponse => ({
  code: 200,
  body: { apiVersion: 'v1', kind: 'NodeList', metadata: { resourceVersion: '' }, items: [agent.nodeObject()] },
});

const eventList = (agent: AgentPort, namespace?: string): RouteResponse => ({
  code: 200,
  body: {
    apiVersion: 'v1',
    kind: 'EventList',
    metadata: { resourceVersion: '' },
    items: agent.events().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  },
});

async function createUsageResponse(agent: AgentPort): Promise<RouteResponse> {
  const usage = await agent.usage(new AbortController().signal);
  if (usage !== undefined) return { code: 200, body: usage };
  const message = "usage is not measured, because the node's API is turned off (enableServer: false)";
  return { code: 404, body: failureStatus(404, 'NotFound', message) };
}

async function createImagesResponse(agent: AgentPort): Promise<RouteResponse> {
  return { code: 200, body: { images: await agent.imageUses(new AbortController().signal) } };
}

function podResponse(agent: AgentPort, namespace: string, name: string): RouteResponse {
  const pod = agent.pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return pod ? { code: 200, body: pod } : createNotFoundResponse(name);
}

function podPathsResponse(agent: AgentPort, uid: string): RouteResponse {
  const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
  const podPaths = pod && agent.podPaths(uid);
  return podPaths ? { code: 200, body: { pod, ...podPaths } } : createNotFoundResponse(uid);
}

interface ExplainTarget {
  readonly name: string;
  /** Whether `name` is a UID. A UID is not compared with the names of pods. */
  readonly isUid?: boolean;
  /** Namespace of the pod. All namespaces if undefined. */
  readonly namespace: string | undefined;
  /** The container or volume to explain instead of the pod. */
  readonly part?: PodPart;
}

/** Explains a pod and includes the last log lines of its failed containers. */
async function explainPod(agent: AgentPort, { metadata: { uid } }: Pod): Promise<Explanation | undefined> {
  return agent.explain(uid, await agent.logTails(uid));
}

/** Explains the matching pod. Returns an error response unless exactly one pod matches. */
async function explainMatchingPod(
  agent: AgentPort,
  { name, namespace, isUid }: ExplainTarget,
): Promise<Explanation | RouteResponse> {
  const pods = agent.pods().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  const matchingPods = isUid ? pods.filter(({ metadata }) => metadata.uid === name) : findPodsByName(name, pods);
  const why = ambiguityMessage(matchingPods);
  if (why !== undefined) return { code: 400, body: failureStatus(400, 'BadRequest', why) };
  const [pod] = matchingPods;
  const { problems, warnings, name: node } = agent.node();
  const explanation = pod && (await explainPod(agent, pod));
  if (!explanation) {
    const [podInOtherNamespace] = findPodsByName(name, agent.pods());
    const findSuggestion = () => suggestPod(name, { node, namespace }, pods, problems);
    const suggestedPod = podInOtherNamespace
      ? `the one in namespace ${podInOtherNamespace.metadata.namespace}`
      : findSuggestion();
    return createNotFoundResponse(name, listPodProblems(name, { node, namespace }, problems), suggestedPod);
  }
  const scope = { node, namespace: explanation.namespace };
  return {
    ...explanation,
    ...omitEmptyProblems(
      listPodProblems(explanation.name, scope, problems),
      listPodProblems(explanation.name, scope, warnings),
    ),
  };
}

/** Returns the problems and warnings. Omits fields with empty lists. */
const omitEmptyProblems = (manifestProblems: readonly string[], manifestWarnings: readonly string[]) => ({
  ...(manifestProblems.length > 0 ? { manifestProblems } : {}),
  ...(manifestWarnings.length > 0 ? { manifestWarnings } : {}),
});

async function explainPodPart(
  agent: AgentPort,
  { uid, name }: Pick<Explanation, 'uid' | 'name'>,
  part: PodPart,
): Promise<PartExplanation | RouteResponse> {
  const explanation = await agent.explainPart(uid, part);
  if (explanation !== undefined) return explanation;
  const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
  const tree = agent.trees().get(uid);
  const existingNames = pod && tree ? partNames({ pod, tree }, part.kind) : [];
  const message = `pod ${name}: ${part.kind} "${part.name}" not found${existingNames.length > 0 ? `; it has ${existingNames.join(', ')}` : ''}`;
  return { code: 404, body: failureStatus(404, 'NotFound', message) };
}

async function createExplanationResponse(
  agent: AgentPort,
  target: ExplainTarget,
  accept: string,
): Promise<RouteResponse> {
  const [asText, width] = [accept.includes('text/plain'), parseWidth(accept)];
  const explanation = await explainMatchingPod(agent, target);
  if ('code' in explanation) return explanation;
  if (target.part) {
    const explainedPart = await explainPodPart(agent, explanation, target.part);
    if ('code' in explainedPart) return explainedPart;
    return asText
      ? createTextResponse(agent, formatPartExplanation(explainedPart, width))
      : { code: 200, body: explainedPart };
  }
  return asText ? createTextResponse(agent, formatExplanation(explanation, width)) : { code: 200, body: explanation };
}

/** Explains the node. `shortage` is a hypothetical shortage such as `memory.available=50Mi`. */
async function nodeExplanationResponse(
  agent: AgentPort,
  { name, shortage: shortageText }: { readonly name: string | undefined; readonly shortage: string | null },
  accept: string,
): Promise<RouteResponse> {
  const shortage = shortageText === null ? undefined : parseShortage(shortageText);
  if (shortage === null)
    return { code: 400, body: failureStatus(400, 'BadRequest', shortageProblem(shortageText ?? '')) };
  const ownExplanation = withResourceUse(agent.explainNode(), agent.nodeObject(), agent.pods());
  const eviction = await evictionOutlook(agent, { shortage });
  const explanation = eviction === undefined ? ownExplanation : { ...ownExplanation, eviction };
  if (name !== undefined && name !== explanation.name) {
    return { code: 404, body: failureStatus(404, 'NotFound', `nodes "${name}" not found`) };
  }
  const { problems, warnings } = agent.node();
  const explanationWithProblems = {
    ...explanation,
    ...omitEmptyProblems(problems.map(formatProblem), warnings.map(formatProblem)),
  };
  const [asText, width] = [accept.includes('text/plain'), parseWidth(accept)];
  return asText
    ? createTextResponse(agent, formatNodeExplanation(explanationWithProblems, width))
    : { code: 200, body: explanationWithProblems };
}

/**
 * Parses an eviction signal and the hypothetical remaining amount of its resource. Returns null if the text is invalid.
 */
function parseShortage(text: string): HypotheticalShortage | null {
  const [signal = '', amount = '', ...rest] = text.split('=');
  const nanos = parseQuantity(amount);
  if (!isSignal(signal) || nanos === undefined || nanos < 0n || rest.length > 0) return null;
  return { signal, available: wholeValue(amount) };
}

const shortageProblem = (text: string): string =>
  `"${text}": expected a signal and a quantity such as memory.available=50Mi; the signals are ${SIGNALS.join(', ')}`;

function createTextResponse(agent: AgentPort, text: string): RouteResponse {
  const label = agent.node().simulated ? 'SIMULATED runtime: no real containers run\n' : '';
  return { code: 200, body: `${label}${text}` };
}

/**
 * Parses `/explain/pods/NAME`, `/explain/namespaces/NAMESPACE/pods/NAME` or `/explain/uids/UID`, each optionally
 * followed by `/containers/NAME` or `/volumes/NAME`.
 */
function parseExplainPath(segments: readonly string[]): ExplainTarget | undefined {
  const [first, ...rest] = segments;
  if (first !== 'explain') return undefined;
  const namespace = rest[0] === 'namespaces' ? rest[1] : undefined;
  const [kind, name, ...more] = namespace ? rest.slice(2) : rest;
  const isUid = kind === 'uids' && namespace === undefined;
  if (!name || (kind !== 'pods' && !isUid)) return undefined;
  const target = { name, namespace, isUid };
  if (more.length === 0) return target;
  const part = parsePart(more);
  return part && { ...target, part };
}

function parsePart([kinds, name, ...extraSegments]: readonly string[]): PodPart | undefined {
  const kind = (['container', 'volume'] as const).find((each) => kinds === `${each}s`);
  return kind && name && extraSegments.length === 0 ? { kind, name } : undefined;
}

/**
 * Returns the width that an Accept header such as `text/plain; width=120` requests, or undefined if it requests none.
 */
function parseWidth(accept: string): number | undefined {
  const [, width] = /text\/plain; ?width=(\d{1,4})\b/.exec(accept) ?? [];
  return width === undefined ? undefined : Number(width);
}

/** Responds to a GET request for `path`. `Accept: text/plain` requests human-readable text. */
export async function routeRequest(agent: AgentPort, path: string, accept: string): Promise<RouteResponse> {
  const { pathname, searchParams } = new URL(path, 'http://agent');
  const [, ...segments] = pathname.split('/').map(decodeURIComponent);
  const [first, second, third, fourth, fifth, sixth] = segments;
  if (pathname === '/node') return { code: 200, body: agent.node() };
  if (pathname === '/api/v1/pods') return { code: 200, body: podList(agent.pods()) };
  if (pathname === '/actors') return { code: 200, body: { simulated: agent.node().simulated, ...agent.actors() } };
  if (pathname === '/api/v1/events') return eventList(agent);
  if (pathname === '/api/v1/nodes') return nodeList(agent);
  if (pathname === '/images') return createImagesResponse(agent);
  if (pathname === '/stats/summary') return createUsageResponse(agent);
  if (first === 'explain' && (second === 'node' || second === 'nodes') && segments.length <= 3) {
    return nodeExplanationResponse(agent, { name: third, shortage: searchParams.get('if') }, accept);
  }
  if (first === 'places' && second === 'uids' && third && segments.length === 3) return podPathsResponse(agent, third);
  const target = parseExplainPath(segments);
  if (target) return createExplanationResponse(agent, target, accept);
  if (first === 'api' && second === 'v1' && third === 'namespaces' && fourth) {
    if (fifth === 'pods' && sixth && segments.length === 6) return podResponse(agent, fourth, sixth);
    if (fifth === 'events' && segments.length === 5) return eventList(agent, fourth);
  }
  return { code: 404, body: failureStatus(404, 'NotFound', `nothing found at ${pathname}`) };
}
