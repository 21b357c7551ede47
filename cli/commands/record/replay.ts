/** `statelet replay`: prints or replays a recording. */

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
import { parseNodeArgument, parsePodName, selectedPart, terminalWidth } from '../get/explain.ts';

export interface ReplayOptions {
  /** A time, a duration since the start of the recording, or a negative duration before its end. */
  readonly until?: string;
  /** The node or pod whose state at that time is explained. */
  readonly explain?: string;
  /** Explains only this container of the pod. */
  readonly container?: string;
  /** Explains only this volume of the pod. */
  readonly volume?: string;
  readonly check?: boolean;
  readonly story?: boolean;
  /** Opens the page for the recording at that time. */
  readonly open?: boolean;
  readonly namespace?: string;
  readonly output?: 'json' | 'yaml';
}

type Write = (text: string) => unknown;

interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
  /** The time up to which to replay, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Prints the pods of a recording at a given time, an explanation of one of them, or the story, or checks that a replay
 * reproduces the recorded states. With `open`, serves the page instead.
 */
export async function replay(path: string, options: ReplayOptions, write: Write): Promise<void> {
  if (options.open && (options.check || options.story || options.explain !== undefined || options.output !== undefined))
    throw new ConfigError('--open cannot be combined with --check, --story, --explain or --output');
  if (options.check && options.until !== undefined)
    throw new ConfigError('--check cannot be combined with --until, because it checks the whole recording');
  if (options.explain === undefined && selectedPart(options))
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
    else write(await explanationText(played, options.explain, options));
  } finally {
    await played.agent.stop();
  }
}

async function openPage(path: string, { until }: OpenedRecording, write: Write): Promise<void> {
  const [{ inspectRecording }, { openSecretLink }] = await Promise.all([
    import('./inspect.ts'),
    import('./desktop.ts'),
  ]);
  await inspectRecording(path, {}, write, { at: Number.isFinite(until) ? until : undefined, open: openSecretLink });
}

async function openRecording(path: string, { until }: ReplayOptions): Promise<OpenedRecording> {
  const file = await RecordingFile.open(path);
  const stretches = await stretchesOf(file);
  const [first] = stretches[0]?.beginnings ?? [];
  if (first === undefined) {
    throw new RecordingError(
      `${path}: expected a recording, as "statelet record dump" writes it, or a directory of one`,
    );
  }
  const end = until === undefined ? first.at : await lastTimestamp(file, first.at);
  return { file, stretches, until: parseUntil(until, first.at, end) };
}

/** Returns the timestamp of the last line. */
async function lastTimestamp(file: RecordingFile, otherwise: number): Promise<number> {
  const lastMember = file.members.at(-1);
  const lines = lastMember && (await linesIn(file, lastMember));
  return readLine(lines?.at(-1) ?? '')?.at ?? lastMember?.at ?? otherwise;
}

/** Upper bound for durations, which rejects nonsensical values. */
const MAX_DURATION_MS = 100 * 365 * 24 * 3_600_000;

/** Parses `--until` for a recording that lasts from `from` to `to`. */
export function parseUntil(until: string | undefined, from: number, to: number): number {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  const isFromEnd = until.startsWith('-');
  const duration = parseDuration(isFromEnd ? until.slice(1) : until);
  if (duration !== undefined && duration <= MAX_DURATION_MS) return isFromEnd ? to - duration : from + duration;
  const time = /^\d{4}-\d\d-\d\dT/.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new ConfigError(
      `--until: expected a time such as "2026-01-31T12:00:00Z", or a duration such as "90s" from the beginning or "-90s" from the end, got ${JSON.stringify(until)}`,
    );
  }
  return time;
}

const isoTime = (at: number): string => new Date(at).toISOString();

const podsInNamespace = (namespace: string | undefined, agent: ReplayedMoment['agent']) =>
  agent.pods().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);

async function printPods(
  { agent, at }: ReplayedMoment,
  { namespace, output }: ReplayOptions,
  write: Write,
): Promise<void> {
  const pods = podsInNamespace(namespace, agent);
  if (output !== undefined) {
    return void write(await asText(podList(pods), output));
  }
  write(`${isoTime(at)}\n`);
  const [header = [], ...rows] = podTable(pods, { wide: false, now: at });
  const cells = pods.map(({ metadata }, index) => [metadata.namespace, ...(rows[index] ?? [])]);
  tablePrinter(write).print(['NAMESPACE', ...header], cells);
}

async function explanationText({ agent, at }: ReplayedMoment, target: string, options: ReplayOptions): Promise<string> {
  const { namespace, output } = options;
  const part = selectedPart(options);
  const width = terminalWidth();
  if (parseNodeArgument([target])) {
    if (part) throw new ConfigError(`--${part.kind}: a node has none, expected --explain pod/NAME`);
    const node = agent.explainNode();
    return output === undefined ? formatNodeExplanation(node, width) : asText(node, output);
  }
  const name = parsePodName([target]);
  const matches = findPodsByName(name, podsInNamespace(namespace, agent));
  const why = ambiguityMessage(matches);
  if (why !== undefined) throw new ConfigError(`--explain: ${why}`);
  const [pod] = matches;
  const podExplanation = pod && agent.explainUid(pod.metadata.uid);
  if (podExplanation === undefined) throw new ConfigError(`--explain: pods "${name}" not found at ${isoTime(at)}`);
  if (part) {
    const explanation = agent.explainPart(podExplanation.uid, part);
    if (!explanation)
      throw new ConfigError(`--${part.kind}: pod ${name} has no ${part.kind} ${part.name} at ${isoTime(at)}`);
    return output === undefined ? formatPartExplanation(explanation, width) : asText(explanation, output);
  }
  return output === undefined ? formatExplanation(podExplanation, width) : asText(podExplanation, output);
}

async function check({ file, stretches }: OpenedRecording, write: Write): Promise<void> {
  const totals: CheckResult = { entries: 0, states: 0, statuses: 0 };
  const machines = machinesDigest();
  for (const stretch of stretches) {
    const { difference, ...counts } = await checkStretch(file, stretch, machines);
    if (difference) {
      const { at, of, recorded, replayed } = difference;
      throw new RecordingError(
        `${isoTime(at)}: ${of}: recorded ${formatValue(recorded)}, replayed ${formatValue(replayed)}`,
      );
    }
    for (const key of ['entries', 'states', 'statuses'] as const)
      Object.assign(totals, { [key]: totals[key] + counts[key] });
  }
  const lives = new Set(stretches.map(({ life }) => life)).size;
  write(
    `${lives === 1 ? '1 life' : `${lives} lives`}, ${totals.entries} entries, ${totals.states} states, ${totals.statuses} statuses: no difference\n`,
  );
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
