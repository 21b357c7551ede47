import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { summaryRoute } from '../../../kubelet-api/stats/summary.ts';
import { type PodStats, type Summary, statsTime } from '../../../stats/node/summary.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const AT = Date.UTC(2026, 10, 22, 9, 39, 30, 999);
const NONE = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const cpu = {
  time: statsTime(AT),
  usageNanoCores: 11_967_226,
  usageCoreNanoSeconds: 5_043_690_859,
  psi: { full: NONE, some: NONE },
};
const pods: readonly PodStats[] = [];
const node = {
  nodeName: 'node1',
  systemContainers: [{ name: 'pods', startTime: statsTime(AT), cpu }],
  startTime: statsTime(AT),
};

/** Serves summaries, and counts the requests for each kind of summary. */
async function served() {
  const counts = { whole: 0, part: 0 };
  let whole: Summary = { node, pods };
  const stats = {
    fullSummary: async () => {
      counts.whole += 1;
      return whole;
    },
    cpuAndMemory: async () => {
      counts.part += 1;
      return { summary: { node: { ...node, nodeName: 'part' }, pods } };
    },
  };
  const route = summaryRoute({ stats });
  const { signal } = new AbortController();
  const caller = { name: 'me', groups: [], extra: new Map<string, string[]>() };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://node');
    void route.handle({ request, response, url, caller, signal });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${Object(server.address()).port}${path}`);
    return { code: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  const change = () => {
    whole = { node: { ...node, nodeName: 'other' }, pods };
  };
  return { ask, counts, change, route };
}

/** The beginning of a summary of the kubelet (1.36.2, `recorded/kubelet/18-server.jsonl`). */
const BEGINNING = `{
 "node": {
  "nodeName": "node1",
  "systemContainers": [
   {
    "name": "pods",
    "startTime": "2026-11-22T09:39:30Z",
    "cpu": {
     "time": "2026-11-22T09:39:30Z",
     "usageNanoCores": 11967226,
     "usageCoreNanoSeconds": 5043690859,
     "psi": {
      "full": {
       "total": 0,
       "avg10": 0,
       "avg60": 0,
       "avg300": 0
      },
      "some": {
       "total": 0,
`;

test('C43: the summary has the layout of that of a kubelet', async () => {
  const { ask, route } = await served();
  const { code, type, text } = await ask('/stats/summary');
  expect([code, type, text.slice(0, BEGINNING.length)]).toEqual([200, 'application/json', BEGINNING]);
  expect(JSON.parse(text).pods).toEqual([]);
  expect(route).toMatchObject({ pathPrefix: '/stats', methods: ['GET', 'POST'] });
});

test.each([
  ['only_cpu_and_memory=true', 'part'],
  ['only_cpu_and_memory=false', 'node1'],
  ['only_cpu_and_memory=1', 'node1'],
  ['only_cpu_and_memory=true&only_cpu_and_memory=true', 'node1'],
])('the query %s returns the summary of %s', async (query, name) => {
  const { ask } = await served();
  expect(JSON.parse((await ask(`/stats/summary?${query}`)).text).node.nodeName).toBe(name);
});

test('a changed summary is serialized again', async () => {
  const { ask, change } = await served();
  await ask('/stats/summary');
  change();
  expect(JSON.parse((await ask('/stats/summary/')).text).node.nodeName).toBe('other');
});

test('other paths below /stats are not found', async () => {
  const { ask, counts } = await served();
  expect(await ask('/stats/container')).toMatchObject({ code: 404, text: '404: Page Not Found' });
  expect(counts).toEqual({ whole: 0, part: 0 });
});
