/** `statelet logs`: what containers have written, read from their log files. */
import { systemClock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { type LogOptions, readLog } from '../../../host/logs/readLog.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { statusesOf } from '../../../show/actors/podActors.ts';
import { defaultContainer, expectContainer, isRunning, type LoggedRun, selectRun } from '../../../show/containerLog.ts';
import type { PodPaths } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { agentNamed } from '../../agent.ts';
import { errorText } from '../../output/errorText.ts';
import { WholeLines } from '../../output/wholeLines.ts';
import { TerminalText } from '../../terminal/terminalText.ts';
import { readAnswer } from '../get/readExplanation.ts';
import { readNode, readPlaces } from '../get/readPods.ts';
import { askForPod } from './askPod.ts';
import { type LogsOptions, type LogsWanted, logsWanted } from './logsWanted.ts';

/** Where logs are printed. */
export interface LogsOutput {
  /** A terminal gets nothing of a container's that would do more than colour its text; all else gets the very bytes. */
  readonly isTerminal: boolean;
  /** Resolves when there is room for more. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** For what is said beside the logs; it is made printable there. */
  readonly note: (text: string) => void;
}

interface Asked extends LogsWanted {
  readonly agent: AgentClient;
  readonly places: PodPaths & { readonly pod: Pod };
  readonly options: LogsOptions;
  readonly output: LogsOutput;
}

/** Prints the logs of a container, or of all of a pod, as kubectl does; whether all of them could be. */
export async function logs(words: readonly string[], options: LogsOptions, output: LogsOutput): Promise<boolean> {
  const wanted = logsWanted(words, options, systemClock.now());
  const agent = await agentNamed(options);
  const { metadata } = await askForPod(agent, wanted.name, options.namespace);
  const places = readPlaces(await agent.json(placesOf(metadata.uid)));
  const asked = { ...wanted, agent, places, options, output };
  if (options.allContainers) return printAll(asked);
  await printLog(asked, chosen(asked));
  return true;
}

const placesOf = (uid: string): string => `/places/uids/${encodeURIComponent(uid)}`;

function chosen({ container, places: { pod }, output }: Asked): string {
  const { name, note } = container === undefined ? defaultContainer(pod) : { name: container };
  if (note !== undefined) output.note(`${note}\n`);
  expectContainer(pod, name);
  return name;
}

/** One after the other, or all at a time where they are followed; that of one cannot be shown keeps no other back. */
async function printAll(asked: Asked): Promise<boolean> {
  const { options, places, output } = asked;
  const print = async (container: string): Promise<boolean> => {
    try {
      await printLog(asked, container);
      return true;
    } catch (error) {
      output.note(errorText(error));
      return false;
    }
  };
  const names = containersOf(places.pod.spec).map(({ container }) => container.name);
  if (options.follow) return (await Promise.all(names.map(print))).every(Boolean);
  let isWhole = true;
  for (const name of names) isWhole = (await print(name)) && isWhole;
  return isWhole;
}

async function printLog(asked: Asked, container: string): Promise<void> {
  const { places, options, output } = asked;
  const { name } = places.pod.metadata;
  const logged = await runOf(asked, container);
  const place = { root: places.podLogs, directory: `${places.logs}/${container}`, run: logged.run };
  const lines = new WholeLines(options.prefix ? `[pod/${name}/${container}] ` : '');
  const text = new TerminalText();
  const shown = (bytes: Buffer) => (output.isTerminal ? text.take(bytes) : bytes);
  const isAlone = !options.allContainers && !options.prefix;
  const print = async (data: string | Uint8Array) => void (data.length > 0 && (await output.write(data)));
  try {
    for await (const chunk of readLog(place, readOptions(asked, container, logged)))
      await print(shown(isAlone ? chunk : lines.take(chunk)));
  } catch (error) {
    throw await explained(error, asked);
  } finally {
    await print(shown(lines.end()));
    if (output.isTerminal) await print(text.end());
  }
}

/** Returns the run to print. The error for a container that has yet to start says what it is waiting for. */
async function runOf({ agent, places: { pod }, options }: Asked, container: string): Promise<LoggedRun> {
  try {
    return selectRun(pod, container, options);
  } catch (error) {
    const { state } = statusesOf(pod).find(({ name }) => name === container) ?? {};
    if (options.previous || state?.waiting === undefined || !(error instanceof NodeFailure)) throw error;
    const explain = (path: string) => agent.json(path).then(readAnswer, () => undefined);
    // While the pod mounts its volumes, it has no containers to explain.
    const explanation = (await explain(containerExplanationOf(pod, container))) ?? (await explain(explanationOf(pod)));
    if (explanation === undefined) throw error;
    throw new NodeFailure(error.reason, `${error.message}\n${explanation.answer}`, { cause: error });
  }
}

const explanationOf = ({ metadata: { namespace, name } }: Pod): string =>
  `/explain/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

const containerExplanationOf = (pod: Pod, container: string): string =>
  `${explanationOf(pod)}/containers/${encodeURIComponent(container)}`;

function readOptions(asked: Asked, container: string, logged: LoggedRun): LogOptions {
  const { agent, places, options, output, tailLines, since, limitBytes } = asked;
  const goesOn = async () => {
    try {
      return isRunning(readPlaces(await agent.json(placesOf(places.pod.metadata.uid))).pod, container, logged);
    } catch (error) {
      // Of an agent that is away nobody knows: its containers go on without it.
      return !(error instanceof NodeFailure && error.reason === 'NotFound');
    }
  };
  return {
    tailLines,
    since,
    limitBytes,
    timestamps: options.timestamps,
    follow: options.follow ? { isRunning: goesOn, pause } : undefined,
    onDamaged: (file, why) => output.note(`statelet: ${file} is damaged, its end is left out: ${why}\n`),
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

/** A runtime that runs nothing writes no logs. */
async function explained(error: unknown, { agent }: Asked): Promise<unknown> {
  if (!(error instanceof NodeFailure) || error.reason !== 'NotFound') return error;
  const node = await agent.json('/node').then(readNode, () => undefined);
  if (!node?.simulated) return error;
  return new NodeFailure('NotFound', `${error.message}: a simulated runtime writes no logs`, { cause: error });
}
