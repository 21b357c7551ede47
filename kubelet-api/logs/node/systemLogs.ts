/**
 * Serves GET /logs/, i.e. the node's own logs as files and, if enabled, as query results (`Run` in
 * `pkg/kubelet/kubelet.go`).
 */
import { sendError } from '../../answers.ts';
import type { Exchange, Route } from '../../exchange.ts';
import { isRefusal } from '../container/logQuery.ts';
import { type NodeLogQuery, parseNodeLogQuery, validateQuery } from './nodeLogQuery.ts';
import { openInside, systemErrorMessage } from './openInside.ts';
import { type NodeLogsParts, sendServiceLogs } from './sendServiceLogs.ts';
import { serveFile } from './serveFile.ts';

export interface SystemLogsParts extends NodeLogsParts {
  /** Whether queries are enabled (`enableSystemLogQuery` in the kubelet's configuration). */
  readonly areQueriesEnabled: boolean;
}

const LOGS_PATH = '/logs';

export const systemLogsRoute = (parts: SystemLogsParts): Route => ({
  pathPrefix: LOGS_PATH,
  methods: ['GET'],
  handle: (exchange) => handleRequest(parts, exchange),
});

async function handleRequest(parts: SystemLogsParts, exchange: Exchange): Promise<void> {
  const { url, response } = exchange;
  const path = decodePath(url.pathname.slice(LOGS_PATH.length + 1));
  if (path === undefined) return sendError(response, 400, '400 Bad Request');
  const query = parts.areQueriesEnabled ? parseNodeLogQuery(url.searchParams) : undefined;
  if (query === undefined) return serveFile(parts.root, path, exchange);
  if (isRefusal(query)) return sendError(response, query.status, query.text);
  const refusal = validateQuery(path, query);
  if (refusal !== undefined) return sendError(response, refusal.status, refusal.text);
  if (query.services.length > 0) return sendServiceLogs(parts, query, exchange);
  return sendQueriedFile(parts, query, exchange);
}

async function sendQueriedFile({ root }: SystemLogsParts, { files }: NodeLogQuery, exchange: Exchange) {
  // Remove leading slashes, because even an absolute path is relative to the log directory.
  const path = (files[0] ?? '').replace(/^\/+/, '');
  try {
    await (await openInside(root, path)).handle.close();
  } catch (error) {
    const errorText = `query: Invalid value: ${JSON.stringify(files)}: statat ${path}: ${systemErrorMessage(error)}`;
    return sendError(exchange.response, 406, errorText);
  }
  return serveFile(root, path, exchange);
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
