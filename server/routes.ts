import type { Explanation } from '../pod/explain.ts';
import { formatExplanation } from '../pod/formatExplanation.ts';
import type { AgentPort } from './agent.ts';
import { failure } from './status.ts';

/** What a route answers: an object as JSON, or plain text. */
export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

const notFound = (name: string): Answer => ({
  code: 404,
  body: failure(404, 'NotFound', `pods "${name}" not found`),
});

function podList(agent: AgentPort): Answer {
  return {
    code: 200,
    body: { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '' }, items: agent.pods() },
  };
}

function onePod(agent: AgentPort, namespace: string, name: string): Answer {
  const pod = agent.pods().find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  return pod ? { code: 200, body: pod } : notFound(name);
}

/** By the pod's full name, or by its manifest's name, which lacks the node's. */
function explanationOf(agent: AgentPort, name: string): Explanation | undefined {
  return agent.explain(name) ?? agent.explain(`${name}-${agent.node().name}`);
}

function explanation(agent: AgentPort, name: string, asText: boolean): Answer {
  const found = explanationOf(agent, name);
  if (!found) return notFound(name);
  if (!asText) return { code: 200, body: found };
  const label = agent.node().simulated ? 'SIMULATED runtime: no real containers run\n' : '';
  return { code: 200, body: `${label}${formatExplanation(found)}` };
}

/** Answers one request for `path`; a text is asked for by `Accept: text/plain`. */
export function answer(agent: AgentPort, path: string, accept: string): Answer {
  const [, ...steps] = path.split('/').map(decodeURIComponent);
  const [first, second, third, fourth, fifth, sixth] = steps;
  if (path === '/node') return { code: 200, body: agent.node() };
  if (path === '/api/v1/pods') return podList(agent);
  if (first === 'explain' && second === 'pods' && third && steps.length === 3) {
    return explanation(agent, third, accept.includes('text/plain'));
  }
  if (
    first === 'api' &&
    second === 'v1' &&
    third === 'namespaces' &&
    fourth &&
    fifth === 'pods' &&
    sixth &&
    steps.length === 6
  ) {
    return onePod(agent, fourth, sixth);
  }
  return { code: 404, body: failure(404, 'NotFound', `there is nothing at ${path}`) };
}
