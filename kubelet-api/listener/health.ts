/** Serves health checks over HTTP (`pkg/server/healthz/healthz.go` of apiserver). */
import { messageOf } from '../../base/failure.ts';
import { NOSNIFF_HEADERS, sendError, sendText } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';

export interface HealthCheck {
  readonly name: string;
  /** Throws an error with the reason if the check fails. */
  readonly runCheck: () => void;
}

/** Always succeeds, because a server that runs the check is able to respond. */
export const PING_CHECK: HealthCheck = { name: 'ping', runCheck: () => {} };

/** Called with the result of each check whenever all health checks are requested together. */
export type CheckListener = (name: string, isHealthy: boolean) => void;

/** Creates a route that runs all checks, and one route for each check. */
export const healthRoutes = (checks: readonly HealthCheck[], onChecked: CheckListener = () => {}): readonly Route[] => [
  {
    pathPrefix: '/healthz',
    handle: async ({ url, response }) => handleAllChecks(checks, url.searchParams, response, onChecked),
  },
  ...checks.map(
    (check): Route => ({
      pathPrefix: `/healthz/${check.name}`,
      handle: async ({ response }) => handleCheck(check, response),
    }),
  ),
];

function handleAllChecks(
  checks: readonly HealthCheck[],
  query: URLSearchParams,
  response: HttpResponse,
  onChecked: CheckListener,
): void {
  const excludedNames = new Set(query.getAll('exclude'));
  const checkResults = checks.map((each) => {
    if (excludedNames.has(each.name)) return { text: `[+]${each.name} excluded: ok\n`, isGood: true };
    const why = getFailureMessage(each);
    // Withhold the reason, because clients with access to the summary may have no access to the individual check.
    const isHealthy = why === undefined;
    onChecked(each.name, isHealthy);
    return {
      text: isHealthy ? `[+]${each.name} ok\n` : `[-]${each.name} failed: reason withheld\n`,
      isGood: isHealthy,
    };
  });
  const unknownNames = [...excludedNames].filter((name) => checks.every((each) => each.name !== name)).toSorted();
  const quotedNames = unknownNames.map((name) => JSON.stringify(name)).join(',');
  const exclusionWarning = `warn: some health checks cannot be excluded: no matches for ${quotedNames}\n`;
  const checkReport = checkResults.map(({ text }) => text).join('') + (unknownNames.length > 0 ? exclusionWarning : '');
  if (!checkResults.every(({ isGood }) => isGood)) sendError(response, 500, `${checkReport}healthz check failed`);
  else
    sendText(response, {
      code: 200,
      text: query.has('verbose') ? `${checkReport}healthz check passed\n` : 'ok',
      headers: NOSNIFF_HEADERS,
    });
}

function handleCheck(check: HealthCheck, response: HttpResponse): void {
  const why = getFailureMessage(check);
  if (why === undefined) sendText(response, { code: 200, text: 'ok' });
  else sendError(response, 500, `internal server error: ${why}`);
}

function getFailureMessage({ runCheck }: HealthCheck): string | undefined {
  try {
    runCheck();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
