/**
 * Serves GET /logs/: the node's own logs as files and, if enabled, as results of queries (kubelet: kubelet.go, Run).
 */
import { sendError } from '../../answers.ts';
import type { Exchange, Route } from '../../exchange.ts';
import { isRefusal } from '../container/logQuery.ts';
import { serveFile } from './fileServer.ts';
import { type NodeLogQuery, nodeLogQuery, notAcceptable } from './nodeLogQuery.ts';
import { answerServices, type NodeLogsParts } from './nodeLogs.ts';
import { openInside, systemErrorMessage } from './openInside.ts';

export interface SystemLogsParts extends NodeLogsParts {
  /** Whether `enableSystemLogQuery` is set. */
  readonly takesQueries: boolean;
}

const TREE = '/logs';

export const systemLogsRoute = (parts: SystemLogsParts): Route => ({
  tree: TREE,
  methods: ['GET'],
  answer: (exchange) => answer(parts, exchange),
});

async function answer(parts: SystemLogsParts, exchange: Exchange): Promise<void> {
  const { url, response } = exchange;
  const path = decoded(url.pathname.slice(TREE.length + 1));
  if (path === undefined) return sendError(response, 400, '400 Bad Request');
  const query = parts.takesQueries ? nodeLogQuery(url.searchParams) : undefined;
  if (query === undefined) return serveFile(parts.root, path, exchange);
  if (isRefusal(query)) return sendError(response, query.status, query.text);
  const refusal = notAcceptable(path, query);
  if (refusal !== undefined) return sendError(response, refusal.status, refusal.text);
  if (query.services.length > 0) return answerServices(parts, query, exchange);
  return answerQueriedFile(parts, query, exchange);
}

async function answerQueriedFile({ root }: SystemLogsParts, { files }: NodeLogQuery, exchange: Exchange) {
  // A leading slash is allowed and also refers to the log directory.
  const path = (files[0] ?? '').replace(/^\/+/, '');
  try {
    await (await openInside(root, path)).handle.close();
  } catch (error) {
    const text = `query: Invalid value: ${JSON.stringify(files)}: statat ${path}: ${systemErrorMessage(error)}`;
    return sendError(exchange.response, 406, text);
  }
  return serveFile(root, path, exchange);
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
