/**
 * Serves `/stats/summary`: the resource usage of the node and its pods as JSON (`pkg/kubelet/server/stats/handler.go`).
 */
import type { StatsProvider } from '../../stats/node/statsProvider.ts';
import type { Summary } from '../../stats/node/summary.ts';
import { sendJson, sendText } from '../answers.ts';
import type { Route } from '../exchange.ts';

interface SummaryParts {
  readonly stats: Pick<StatsProvider, 'fullSummary' | 'cpuAndMemory'>;
}

/**
 * Creates the route, which serves only CPU and memory if the query contains exactly one `only_cpu_and_memory=true`. The
 * JSON of a full summary is cached.
 */
export function summaryRoute({ stats }: SummaryParts): Route {
  let cachedSummary: { readonly summary: Summary; readonly text: Buffer } | undefined;
  const serializeSummary = (summary: Summary): Buffer => {
    if (cachedSummary?.summary !== summary)
      cachedSummary = { summary, text: Buffer.from(JSON.stringify(summary, undefined, 1)) };
    return cachedSummary.text;
  };
  return {
    pathPrefix: '/stats',
    methods: ['GET', 'POST'],
    handle: async ({ url, response, signal }) => {
      if (url.pathname.replace(/\/$/, '') !== '/stats/summary') {
        sendText(response, { code: 404, text: '404: Page Not Found' });
        return;
      }
      const isPartialSummary = url.searchParams.getAll('only_cpu_and_memory').join(' ') === 'true';
      if (isPartialSummary)
        sendJson(response, JSON.stringify((await stats.cpuAndMemory(signal)).summary, undefined, 1));
      else sendJson(response, serializeSummary(await stats.fullSummary(signal)));
    },
  };
}
