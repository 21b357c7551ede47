/** Logs the errors of the agent. Failures of a pod's actors are logged with the pod's status instead. */
import type { Logger } from 'pino';
import { NodeFailure } from '../../base/failure.ts';
import { isServiceError, isUnreachable } from '../../cri/client/failure.ts';

/** Sources that should never fail. Their failures are logged as errors. */
const ERROR_SOURCES = new Set(
  ['nodeAgent', 'store']
    .concat(['runtimeHealth', 'pleg', 'sources', 'addresses', 'ticker', 'watches'])
    .concat(['recorder', 'inspect', 'statuses', 'subscriber']),
);
/** Sources whose operations are retried or optional. Their failures are logged as warnings. */
const WARNING_SOURCES = new Set([
  'relist',
  'containerEvents',
  'logLink',
  'removeGarbage',
  'surveyDisk',
  'rotateLogs',
  'putStatus',
  'registerNode',
  'readNode',
  'readInhibitDelay',
  'raiseInhibitDelay',
  'saveShutdown',
  'shutdownSignals',
  'shutdownLock',
  'ensureCsiNode',
  'putNodeStatus',
  'renewLease',
  'certificate',
  'readCertificate',
  'requestCertificate',
  'awaitCertificate',
  'createMirror',
  'removeMirror',
  'watch',
  'events',
  'objects',
  'tokens',
  'images',
]);
/**
 * Maximum number of distinct failures that are remembered as already logged. When this number is reached, all of them
 * are forgotten, so that they are logged again if they recur.
 */
const MAX_REMEMBERED_FAILURES = 100;

export interface ErrorLog {
  /**
   * Logs a failure of a source. Each distinct error or warning is logged only once. Failed calls for a pod are logged
   * at debug level.
   */
  readonly onError: (source: string, error: unknown) => void;
  /** Forgets which failures have been logged, so that they are logged again if they recur. */
  readonly clearLogged: () => void;
  /** Rejects when the root actor has failed. The error message is shown to the user. */
  readonly rootFailure: Promise<never>;
}

/** Creates the log for the errors of services, feeds and the agent itself. */
export function createErrorLog(logger: Logger): ErrorLog {
  const loggedMessages = new Set<string>();
  const { promise: rootFailure, reject } = Promise.withResolvers<never>();
  // Add a handler, because Node.js would otherwise report an unhandled rejection if the promise rejects before the
  // caller awaits it.
  rootFailure.catch(() => {});
  const onError = (source: string, error: unknown) => {
    const message = messageWithCauses(error);
    const isWarningSource = WARNING_SOURCES.has(source) && !isRuntimeUnreachable(error);
    const level = ERROR_SOURCES.has(source) ? 'error' : isWarningSource ? 'warn' : 'debug';
    const key = `${source}: ${message}`;
    if (level === 'debug' || !loggedMessages.has(key))
      logger[level]({ source, ...errorFields(error) }, `${source} failed: ${message}`);
    if (loggedMessages.size >= MAX_REMEMBERED_FAILURES) loggedMessages.clear();
    if (level !== 'debug') loggedMessages.add(key);
    if (source === 'nodeAgent') reject(agentFailure(message, error));
  };
  return { onError, clearLogged: () => loggedMessages.clear(), rootFailure };
}

/**
 * Whether a call did not reach the runtime. Such a failure is not logged, because the runtime's health already reports
 * it.
 */
const isRuntimeUnreachable = (error: unknown): boolean => error instanceof NodeFailure && isUnreachable(error);

/** Returns the message of an error, followed by the messages of its causes unless it already contains them. */
function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined || isServiceError(error.cause) ? '' : messageWithCauses(error.cause);
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

/**
 * Returns the reason of a `NodeFailure`. For any other error, returns the error with its stack, because it is a bug.
 */
const errorFields = (error: unknown): object =>
  error instanceof NodeFailure ? { reason: error.reason } : { err: error };

const agentFailure = (message: string, cause: unknown): NodeFailure =>
  new NodeFailure('AgentFailed', `the node agent failed and is exiting; its pods keep running: ${message}`, { cause });
