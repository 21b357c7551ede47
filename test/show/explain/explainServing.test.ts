import { expect, test } from '@jest/globals';
import { explainNode } from '../../../show/explain/explainNode.ts';
import { type ServedView, withServing } from '../../../show/explain/explainServing.ts';
import { formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import { NOW, nodeView } from '../../kubernetes/views.ts';

const SERVED: ServedView = { since: NOW - 3_600_000, port: 10_250, sessions: [], scrapes: [], reviews: {} };
const explanation = explainNode(nodeView('host'), NOW);
const explained = (view: Partial<ServedView>) => withServing(explanation, { ...SERVED, ...view });
const linesOf = (view: Partial<ServedView>) => {
  const lines = formatNodeExplanation(explained(view)).trimEnd().split('\n');
  return lines.slice(lines.findIndex((line) => line.includes('─ server')));
};
const counts = { requested: 12, cached: 40, shared: 2, failed: 0, underWay: 0 };
const session = {
  id: 7,
  kind: 'exec',
  namespace: 'shop',
  pod: 'web',
  container: 'main',
  caller: 'admin',
  since: NOW - 5_000,
};

test('a node without its own API does not mention one', () => {
  expect(withServing(explanation, undefined)).toBe(explanation);
  expect(linesOf({})).toEqual(['└─ server              serving  60m    port 10250']);
  expect(explained({}).answer).toBe(explanation.answer);
});

test('sessions, metrics scrapes and authorization requests are listed', () => {
  const lastFailure = { reason: 'InternalError', message: 'ECONNREFUSED', at: NOW - 600_000 } as const;
  const lines = linesOf({
    sessions: [session, { ...session, id: 8, kind: 'portForward', container: '' }, { ...session, id: 9, kind: 'logs' }],
    scrapes: [
      { path: '/metrics', count: 1, failed: 0, at: NOW - 3_000, caller: 'prometheus' },
      { path: '/metrics/cadvisor', count: 120, failed: 2, at: NOW - 4_000, caller: 'prometheus' },
    ],
    reviews: { tokens: { ...counts, failed: 1, lastFailure }, access: { ...counts, underWay: 3 } },
  });
  expect(lines).toEqual([
    '└─ server                       serving   60m    port 10250, 3 sessions',
    '   ├─ review tokens             answered  60m',
    '   │    12 requested, 42 from the cache, 1 failed',
    '   │    last failure, 10m ago: InternalError: ECONNREFUSED',
    '   ├─ review access             answered  60m',
    '   │    12 requested, 42 from the cache, 3 under way',
    '   ├─ scrape /metrics           answered  3s     once, by prometheus',
    '   ├─ scrape /metrics/cadvisor  answered  4s',
    '   │    120 times, 2 failed, by prometheus',
    '   ├─ exec web                  joined    5s     shop/web (main), by admin',
    '   ├─ port-forward web          joined    5s     shop/web, by admin',
    '   └─ log web                   followed  5s     shop/web (main), by admin',
  ]);
});

test('each part has its own path', () => {
  const { node } = explained({
    sessions: [session, { ...session, id: 8 }],
    scrapes: [{ path: '/metrics/cadvisor', count: 1, failed: 0, at: NOW, caller: '' }],
    reviews: { tokens: counts },
  });
  const server = node.children.at(-1);
  expect([server?.path, ...(server?.children.map(({ path }) => path) ?? [])]).toEqual([
    'server',
    'server/review/tokens',
    'server/scrape/metrics/cadvisor',
    'server/session/7',
    'server/session/8',
  ]);
});

test('the oldest sessions are listed, with the number of the others', () => {
  const sessions = Array.from({ length: 1_000 }, (_, id) => ({ ...session, id }));
  const lines = linesOf({ sessions });
  expect(lines).toHaveLength(52);
  expect(lines[0]).toContain('1000 sessions');
  expect(lines.at(-1)).toContain('950 more');
});

test('the answer mentions an API that is not served and failing reviews', () => {
  const lastFailure = { reason: 'AddressUnusable', message: ':10250 is in use', at: NOW - 2_000 } as const;
  expect(explained({ port: 0, lastFailure }).answer).toBe(
    `${explanation.answer}; its API is not served: :10250 is in use`,
  );
  expect(linesOf({ port: 0, lastFailure })).toEqual([
    '└─ server              retrying  60m',
    '     waiting for another attempt to serve',
    '     last failure, 2s ago: AddressUnusable: :10250 is in use',
  ]);
  const failing = (at: number) => ({
    reviews: { tokens: { ...counts, failingSince: NOW - 90_000, lastFailure: { ...lastFailure, at } } },
  });
  expect(explained(failing(NOW - 2_000)).answer).toContain('; it cannot ask who may use its API: :10250 is in use');
  expect(linesOf(failing(NOW - 2_000))[1]).toMatch(/failing +90s/);
  // The last request was more than a minute ago.
  expect(explained(failing(NOW - 61_000)).answer).toBe(explanation.answer);
});
