/** `statelet logs`: reads the log files of containers. */

import { NodeFailure } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type LogOptions, readLog } from '../../../host/logs/readLog.ts';
import { containersOf } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { allStatuses } from '../../../kubernetes/status/allStatuses.ts';
import {
  defaultContainer,
  isRunning,
  type LoggedRun,
  requireContainer,
  selectRun,
} from '../../../show/containerLog.ts';
import type { PodPaths } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { connectAgent } from '../../connectAgent.ts';
import { errorText } from '../../output/errorText.ts';
import { LinePrefixer } from '../../output/linePrefixer.ts';
import { TerminalText } from '../../terminal/terminalText.ts';
import { readAnswerAndLog } from '../get/readExplanation.ts';
import { readNode, readPodPaths } from '../get/readPods.ts';
import { fetchPod } from './fetchPod.ts';
import { type LogsOptions, type LogsRequest, parseLogsRequest } from './logsRequest.ts';

export interface LogsOutput {
  /** Whether to remove escape sequences other than colours. Files and pipes receive the original bytes. */
  readonly isTerminal: boolean;
  /** Resolves when the output accepts more data. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** Prints a message of the command itself, with control characters escaped. */
  readonly printNote: (text: string) => void;
}

interface LogsQuery extends LogsRequest {
  readonly agent: AgentClient;
  readonly paths: PodPaths & { readonly pod: Pod };
  readonly options: LogsOptions;
  readonly output: LogsOutput;
}

/**
 * Prints the logs of one or all containers of a pod as `kubectl logs` does. Returns whether all of them could be read.
 */
export async function printLogs(args: readonly string[], options: LogsOptions, output: LogsOutput): Promise<boolean> {
  const request = parseLogsRequest(args, options, systemClock.now());
  const agent = await connectAgent(options);
  const { metadata } = await fetchPod(agent, request.name, options.namespace);
  const paths = readPodPaths(await agent.json(podPathsEndpoint(metadata.uid)));
  const query = { ...request, agent, paths, options, output };
  if (options.allContainers) return printAllLogs(query);
  await printLog(query, selectContainer(query));
  return true;
}

const podPathsEndpoint = (uid: string): string => `/places/uids/${encodeURIComponent(uid)}`;

function selectContainer({ container, paths: { pod }, output }: LogsQuery): string {
  const { name, note } = container === undefined ? defaultContainer(pod) : { name: container };
  if (note !== undefined) output.printNote(`${note}\n`);
  requireContainer(pod, name);
  return name;
}

/**
 * Prints the logs of all containers, concurrently if they are followed. An error of one container does not affect the
 * others.
 */
async function printAllLogs(query: LogsQuery): Promise<boolean> {
  const { options, paths, output } = query;
  const print = async (container: string): Promise<boolean> => {
    try {
      await printLog(query, container);
      return true;
    } catch (error) {
      output.printNote(errorText(error));
      return false;
    }
  };
  const containerNames = containersOf(paths.pod.spec).map(({ container }) => container.name);
  if (options.follow) return (await Promise.all(containerNames.map(print))).every(Boolean);
  let isComplete = true;
  for (const name of containerNames) isComplete = (await print(name)) && isComplete;
  return isComplete;
}

async function printLog(query: LogsQuery, container: string): Promise<void> {
  const { paths, options, output } = query;
  const { name } = paths.pod.metadata;
  const loggedRun = await findRun(query, container);
  const location = { root: paths.podLogs, directory: `${paths.logs}/${container}`, run: loggedRun.run };
  const prefixer = new LinePrefixer(options.prefix ? `[pod/${name}/${container}] ` : '');
  const sanitizer = new TerminalText();
  const sanitizeForOutput = (bytes: Buffer) => (output.isTerminal ? sanitizer.push(bytes) : bytes);
  const isRaw = !options.allContainers && !options.prefix;
  const print = async (data: string | Uint8Array) => void (data.length > 0 && (await output.write(data)));
  try {
    for await (const chunk of readLog(location, readOptions(query, container, loggedRun)))
      await print(sanitizeForOutput(isRaw ? chunk : prefixer.push(chunk)));
  } catch (error) {
    throw await explainError(error, query);
  } finally {
    await print(sanitizeForOutput(prefixer.flush()));
    if (output.isTerminal) await print(sanitizer.flush());
  }
}

/**
 * Returns the run of the container whose log is printed. The error for a container that has yet to start says what the
 * container is waiting for.
 */
async function findRun({ agent, paths: { pod }, options }: LogsQuery, container: string): Promise<LoggedRun> {
  try {
    return selectRun(pod, container, options);
  } catch (error) {
    const { state } = allStatuses(pod.status).find(({ name }) => name === container) ?? {};
    if (options.previous || state?.waiting === undefined || !(error instanceof NodeFailure)) throw error;
    const explain = (path: string) => agent.json(path).then(readAnswerAndLog, () => undefined);
    // Fall back to the explanation of the pod, which has no containers to explain while it mounts its volumes.
    const explanation =
      (await explain(containerExplanationPath(pod, container))) ?? (await explain(explanationPath(pod)));
    if (explanation === undefined) throw error;
    throw new NodeFailure(error.reason, `${error.message}\n${explanation.answer}`, { cause: error });
  }
}

const explanationPath = ({ metadata: { namespace, name } }: Pod): string =>
  `/explain/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

const containerExplanationPath = (pod: Pod, container: string): string =>
  `${explanationPath(pod)}/containers/${encodeURIComponent(container)}`;

function readOptions(query: LogsQuery, container: string, loggedRun: LoggedRun): LogOptions {
  const { agent, paths, options, output, tailLines, since, limitBytes } = query;
  const isStillRunning = async () => {
    try {
      return isRunning(
        readPodPaths(await agent.json(podPathsEndpoint(paths.pod.metadata.uid))).pod,
        container,
        loggedRun,
      );
    } catch (error) {
      // If the agent is unreachable, assume that the container is still running, because containers keep running
      // without the agent.
      return !(error instanceof NodeFailure && error.reason === 'NotFound');
    }
  };
  return {
    tailLines,
    since,
    limitBytes,
    timestamps: options.timestamps,
    follow: options.follow ? { isRunning: isStillRunning, pause } : undefined,
    onDamaged: (file, why) => output.printNote(`statelet: ${file} is damaged, its end is left out: ${why}\n`),
    signal: new AbortController().signal,
  };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = systemClock.setTimeout(resolve, ms);
    const end = () => {
      systemClock.clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });

/** Adds the reason to the error for a missing log if the runtime is simulated. */
async function explainError(error: unknown, { agent }: LogsQuery): Promise<unknown> {
  if (!(error instanceof NodeFailure) || error.reason !== 'NotFound') return error;
  const node = await agent.json('/node').then(readNode, () => undefined);
  if (!node?.simulated) return error;
  return new NodeFailure('NotFound', `${error.message}: a simulated runtime writes no logs`, { cause: error });
}
