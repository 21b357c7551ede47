/** `statelet replay`: a recording, read or played again. */

import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { machinesDigest } from '../../../node/start/machinesDigest.ts';
import { type CheckResult, checkStretch, type ReplayedMoment, replayTo } from '../../../recording/play.ts';
import { readLine } from '../../../recording/readLine.ts';
import { RecordingError } from '../../../recording/recordingError.ts';
import { RecordingFile } from '../../../recording/recordingFile.ts';
import { formatStory } from '../../../recording/story.ts';
import { linesIn, type Stretch, stretchesOf } from '../../../recording/stretches.ts';
import {
  formatExplanation,
  formatNodeExplanation,
  formatPartExplanation,
} from '../../../show/explain/formatExplanation.ts';
import { podList } from '../../../show/tables/podList.ts';
import { ambiguityMessage, findPodsByName } from '../../../show/tables/podsByName.ts';
import { podTable } from '../../../show/tables/table.ts';
import { asText } from '../../output/output.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import { nodeOf, partOf, podNameOf, terminalWidth } from '../get/explain.ts';

export interface ReplayOptions {
  /** A moment, a time after the beginning, or with a minus before the end. */
  readonly until?: string;
  /** What is to be explained as it was then. */
  readonly explain?: string;
  /** Only this container, or this volume, of that pod. */
  readonly container?: string;
  readonly volume?: string;
  readonly check?: boolean;
  readonly story?: boolean;
  /** The page is opened over it, at that moment. */
  readonly open?: boolean;
  readonly namespace?: string;
  readonly output?: 'json' | 'yaml';
}

type Write = (text: string) => unknown;

interface Opened {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
  /** The last moment to be played, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Prints the pods of a recording as they were at a moment, why one was as it was, its story, or whether it can be trusted;
 * or serves the page over it.
 */
export async function replay(path: string, options: ReplayOptions, write: Write): Promise<void> {
  if (options.open && (options.check || options.story || options.explain !== undefined || options.output !== undefined))
    throw new ConfigError('--open: the page shows all of it, leave out --check, --story, --explain and --output');
  if (options.check && options.until !== undefined)
    throw new ConfigError('--check: all of a recording is checked, leave out --until');
  if (options.explain === undefined && partOf(options))
    throw new ConfigError('--container and --volume: only with --explain pod/NAME');
  const opened = await openRecording(path, options);
  if (options.check) return check(opened, write);
  if (options.open) return openPage(path, opened, write);
  if (options.story) {
    for await (const line of formatStory(opened.file, opened)) write(`${line}\n`);
    return;
  }
  const played = await replayTo(opened.file, opened.stretches, { until: opened.until, machines: machinesDigest() });
  if (played === undefined) throw new RecordingError(`${path}: nothing in it can be replayed`);
  try {
    if (options.explain === undefined) await printPods(played, options, write);
    else write(await explained(played, options.explain, options));
  } finally {
    await played.agent.stop();
  }
}

async function openPage(path: string, { until }: Opened, write: Write): Promise<void> {
  const [{ inspectRecording }, { openSecretLink }] = await Promise.all([
    import('./inspect.ts'),
    import('./desktop.ts'),
  ]);
  await inspectRecording(path, {}, write, { at: Number.isFinite(until) ? until : undefined, open: openSecretLink });
}

async function openRecording(path: string, { until }: ReplayOptions): Promise<Opened> {
  const file = await RecordingFile.open(path);
  const stretches = await stretchesOf(file);
  const [first] = stretches[0]?.beginnings ?? [];
  if (first === undefined) {
    throw new RecordingError(
      `${path}: expected a recording, as "statelet record dump" writes it, or a directory of one`,
    );
  }
  const end = until === undefined ? first.at : await endOf(file, first.at);
  return { file, stretches, until: momentOf(until, first.at, end) };
}

/** When the last line was written. */
async function endOf(file: RecordingFile, otherwise: number): Promise<number> {
  const last = file.members.at(-1);
  const lines = last && (await linesIn(file, last));
  return readLine(lines?.at(-1) ?? '')?.at ?? last?.at ?? otherwise;
}

/** Nothing was recorded for longer. */
const LONGEST_MS = 100 * 365 * 24 * 3_600_000;

/** What `--until` means of a recording from one moment to another. */
export function momentOf(until: string | undefined, from: number, to: number): number {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  const isBack = until.startsWith('-');
  const duration = parseDuration(isBack ? until.slice(1) : until);
  if (duration !== undefined && duration <= LONGEST_MS) return isBack ? to - duration : from + duration;
  const moment = /^\d{4}-\d\d-\d\dT/.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new ConfigError(
      `--until: expected a time such as "2026-01-31T12:00:00Z", or a duration such as "90s" from the beginning or "-90s" from the end, got ${JSON.stringify(until)}`,
    );
  }
  return moment;
}

const isoTime = (at: number): string => new Date(at).toISOString();

const podsIn = (namespace: string | undefined, agent: ReplayedMoment['agent']) =>
  agent.pods().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);

async function printPods(
  { agent, at }: ReplayedMoment,
  { namespace, output }: ReplayOptions,
  write: Write,
): Promise<void> {
  const pods = podsIn(namespace, agent);
  if (output !== undefined) {
    return void write(await asText(podList(pods), output));
  }
  write(`${isoTime(at)}\n`);
  const [header = [], ...rows] = podTable(pods, { wide: false, now: at });
  const cells = pods.map(({ metadata }, index) => [metadata.namespace, ...(rows[index] ?? [])]);
  tablePrinter(write).print(['NAMESPACE', ...header], cells);
}

async function explained({ agent, at }: ReplayedMoment, what: string, options: ReplayOptions): Promise<string> {
  const { namespace, output } = options;
  const part = partOf(options);
  const width = terminalWidth();
  if (nodeOf([what])) {
    if (part) throw new ConfigError(`--${part.kind}: a node has none, expected --explain pod/NAME`);
    const node = agent.explainNode();
    return output === undefined ? formatNodeExplanation(node, width) : asText(node, output);
  }
  const name = podNameOf([what]);
  const called = findPodsByName(name, podsIn(namespace, agent));
  const why = ambiguityMessage(called);
  if (why !== undefined) throw new ConfigError(`--explain: ${why}`);
  const [pod] = called;
  const found = pod && agent.explainUid(pod.metadata.uid);
  if (found === undefined) throw new ConfigError(`--explain: pods "${name}" not found at ${isoTime(at)}`);
  if (part) {
    const explanation = agent.explainPart(found.uid, part);
    if (!explanation)
      throw new ConfigError(`--${part.kind}: pod ${name} has no ${part.kind} ${part.name} at ${isoTime(at)}`);
    return output === undefined ? formatPartExplanation(explanation, width) : asText(explanation, output);
  }
  return output === undefined ? formatExplanation(found, width) : asText(found, output);
}

async function check({ file, stretches }: Opened, write: Write): Promise<void> {
  const all: CheckResult = { entries: 0, states: 0, statuses: 0 };
  const machines = machinesDigest();
  for (const stretch of stretches) {
    const { difference, ...counts } = await checkStretch(file, stretch, machines);
    if (difference) {
      const { at, of, recorded, replayed } = difference;
      throw new RecordingError(`${isoTime(at)}: ${of}: recorded ${shown(recorded)}, replayed ${shown(replayed)}`);
    }
    for (const key of ['entries', 'states', 'statuses'] as const) Object.assign(all, { [key]: all[key] + counts[key] });
  }
  const lives = new Set(stretches.map(({ life }) => life)).size;
  write(
    `${lives === 1 ? '1 life' : `${lives} lives`}, ${all.entries} entries, ${all.states} states, ${all.statuses} statuses: no difference\n`,
  );
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
