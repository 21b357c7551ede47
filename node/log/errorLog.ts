/** The log of what goes wrong beside the pods: what a pod's own actors meet is told with its status. */
import type { Logger } from 'pino';
import { NodeFailure } from '../../base/failure.ts';
import { isServiceError, isUnreachable } from '../../cri/client/failure.ts';

/** What must never fail: the root of the actors, what outlives a restart, the feeds, and those that look on. */
const NEVER = new Set(
  ['nodeAgent', 'store']
    .concat(['runtimeHealth', 'pleg', 'sources', 'addresses', 'ticker', 'watches'])
    .concat(['recorder', 'inspect', 'statuses', 'subscriber']),
);
/** What is tried again by itself for as long as it fails, or what the node goes on without. */
const WARNED_OF = new Set([
  'relist',
  'containerEvents',
  'logLink',
  'removeGarbage',
  'surveyDisk',
  'rotateLogs',
  'putStatus',
  'registerNode',
  'readNode',
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
/** So many different failures are remembered as told. */
const REMEMBERED = 100;

export interface ErrorLog {
  /** Takes what failed, and how: errors and warnings once until they change, failed calls for a pod as details. */
  readonly onError: (source: string, error: unknown) => void;
  /** Says that all is well again: what fails from now on is told again. */
  readonly settled: () => void;
  /** Rejects, with a failure whose message is for the user, when the root of the actors has failed. */
  readonly failed: Promise<never>;
}

/** Makes the sink of everything that services, feeds and the agent itself report. */
export function logErrors(logger: Logger): ErrorLog {
  const logged = new Set<string>();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // Whoever waits for it hears of it; that nobody does yet is no error of its own.
  failed.catch(() => {});
  const onError = (source: string, error: unknown) => {
    const message = messageWithCauses(error);
    const isWarning = WARNED_OF.has(source) && !isWithoutRuntime(error);
    const level = NEVER.has(source) ? 'error' : isWarning ? 'warn' : 'debug';
    const key = `${source}: ${message}`;
    if (level === 'debug' || !logged.has(key))
      logger[level]({ source, ...detailsOf(error) }, `${source} failed: ${message}`);
    if (logged.size >= REMEMBERED) logged.clear();
    if (level !== 'debug') logged.add(key);
    if (source === 'nodeAgent') reject(agentFailure(message, error));
  };
  return { onError, settled: () => logged.clear(), failed };
}

/** Whether a call did not reach the runtime, which the runtime's health already reports. */
const isWithoutRuntime = (error: unknown): boolean => error instanceof NodeFailure && isUnreachable(error);

/** What has failed, and the cause of that, where it does not say so itself. */
function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined || isServiceError(error.cause) ? '' : messageWithCauses(error.cause);
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

/** A failure with a reason is one of the world: only a fault of the program is told with where it happened. */
const detailsOf = (error: unknown): object =>
  error instanceof NodeFailure ? { reason: error.reason } : { err: error };

const agentFailure = (message: string, cause: unknown): NodeFailure =>
  new NodeFailure('AgentFailed', `the node agent failed and is exiting; its pods keep running: ${message}`, { cause });
