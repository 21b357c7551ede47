/** Serves health checks over HTTP (`pkg/server/healthz/healthz.go` of apiserver). */
import { messageOf } from '../../base/failure.ts';
import { NOSNIFF, sendError, sendText } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';

export interface Check {
  readonly name: string;
  /** Throws an error with the reason if the check fails. */
  readonly check: () => void;
}

/** Always succeeds, because the server is able to respond. */
export const PING: Check = { name: 'ping', check: () => {} };

/** Called with the result of each check of a request for all checks. */
export type CheckListener = (name: string, isGood: boolean) => void;

/** Creates a route for all checks, and one for each check. */
export const healthRoutes = (checks: readonly Check[], onChecked: CheckListener = () => {}): readonly Route[] => [
  { tree: '/healthz', answer: async ({ url, response }) => answerAll(checks, url.searchParams, response, onChecked) },
  ...checks.map(
    (check): Route => ({
      tree: `/healthz/${check.name}`,
      answer: async ({ response }) => answerOne(check, response),
    }),
  ),
];

function answerAll(
  checks: readonly Check[],
  query: URLSearchParams,
  response: HttpResponse,
  onChecked: CheckListener,
): void {
  const excluded = new Set(query.getAll('exclude'));
  const lines = checks.map((each) => {
    if (excluded.has(each.name)) return { text: `[+]${each.name} excluded: ok\n`, isGood: true };
    const why = failureOf(each);
    // Withhold the reason, because clients with access to the summary may have no access to the individual check.
    const isGood = why === undefined;
    onChecked(each.name, isGood);
    return { text: isGood ? `[+]${each.name} ok\n` : `[-]${each.name} failed: reason withheld\n`, isGood };
  });
  const unknown = [...excluded].filter((name) => checks.every((each) => each.name !== name)).toSorted();
  const matched = unknown.map((name) => JSON.stringify(name)).join(',');
  const warning = `warn: some health checks cannot be excluded: no matches for ${matched}\n`;
  const report = lines.map(({ text }) => text).join('') + (unknown.length > 0 ? warning : '');
  if (!lines.every(({ isGood }) => isGood)) sendError(response, 500, `${report}healthz check failed`);
  else
    sendText(response, {
      code: 200,
      text: query.has('verbose') ? `${report}healthz check passed\n` : 'ok',
      headers: NOSNIFF,
    });
}

function answerOne(check: Check, response: HttpResponse): void {
  const why = failureOf(check);
  if (why === undefined) sendText(response, { code: 200, text: 'ok' });
  else sendError(response, 500, `internal server error: ${why}`);
}

function failureOf({ check }: Check): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
