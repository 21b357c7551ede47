/** `statelet replay`: prints or replays a recording. */

import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { machinesDigest } from '../../../node/start/observation/machinesDigest.ts';
import { formatStory } from '../../../recording/formatStory.ts';
import { type CheckResult, checkStretch, type ReplayedState, replayUntil } from '../../../recording/play.ts';
import { readLine } from '../../../recording/readLine.ts';
import { RecordingError } from '../../../recording/recordingError.ts';
import { RecordingFile } from '../../../recording/recordingFile.ts';
import { findStretches, readMemberLines, type Stretch } from '../../../recording/stretches.ts';
import {
  formatExplanation,
  formatNodeExplanation,
  formatPartExplanation,
} from '../../../show/explain/formatExplanation.ts';
import { podList } from '../../../show/tables/podList.ts';
import { ambiguityMessage, findPodsByName } from '../../../show/tables/podsByName.ts';
import { podTable } from '../../../show/tables/table.ts';
import { formatObject } from '../../output/formatObject.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { parseNodeArgument, parsePodName, selectedPart, terminalWidth } from '../get/explain.ts';

export interface ReplayOptions {
  /**
   * The time up to which to replay: a timestamp, a duration since the start of the recording, or a negative duration
   * before its end.
   */
  readonly until?: string;
  /** The node or pod to explain at the time of `until`. */
  readonly explain?: string;
  /** Container to explain instead of the whole pod. */
  readonly container?: string;
  /** Volume to explain instead of the whole pod. */
  readonly volume?: string;
  readonly check?: boolean;
  readonly story?: boolean;
  /** Whether to open the page of the recording at the time of `until`. */
  readonly open?: boolean;
  readonly namespace?: string;
  readonly output?: 'json' | 'yaml';
}

type Write = (text: string) => unknown;

interface OpenedRecording {
  readonly file: RecordingFile;
  readonly stretches: readonly Stretch[];
  /** The time up to which to replay, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/**
 * Prints the pods of a recording at the time of `until`. Depending on the options, instead explains a pod or the node,
 * prints the story, checks that a replay reproduces the recorded states, or serves the page.
 */
export async function replay(path: string, options: ReplayOptions, write: Write): Promise<void> {
  if (options.open && (options.check || options.story || options.explain !== undefined || options.output !== undefined))
    throw new ConfigError('--open cannot be combined with --check, --story, --explain or --output');
  if (options.check && options.until !== undefined)
    throw new ConfigError('--check cannot be combined with --until, because it checks the whole recording');
  if (options.explain === undefined && selectedPart(options))
    throw new ConfigError('--container and --volume: only with --explain pod/NAME');
  const recording = await openRecording(path, options);
  if (options.check) return checkReplay(recording, write);
  if (options.open) return openPage(path, recording, write);
  if (options.story) {
    for await (const line of formatStory(recording.file, { until: recording.untilMs })) write(`${line}\n`);
    return;
  }
  const replayedState = await replayUntil(recording.file, recording.stretches, {
    until: recording.untilMs,
    machines: machinesDigest(),
  });
  if (replayedState === undefined) throw new RecordingError(`${path}: nothing in it can be replayed`);
  try {
    if (options.explain === undefined) await printPods(replayedState, options, write);
    else write(await explanationText(replayedState, options.explain, options));
  } finally {
    await replayedState.agent.stop();
  }
}

async function openPage(path: string, { untilMs }: OpenedRecording, write: Write): Promise<void> {
  const [{ inspectRecording }, { openSecretLink }] = await Promise.all([
    import('./inspectRecording.ts'),
    import('./desktop.ts'),
  ]);
  await inspectRecording(path, {}, write, { at: Number.isFinite(untilMs) ? untilMs : undefined, open: openSecretLink });
}

async function openRecording(path: string, { until }: ReplayOptions): Promise<OpenedRecording> {
  const file = await RecordingFile.open(path);
  const stretches = await findStretches(file);
  const [first] = stretches[0]?.replayStarts ?? [];
  if (first === undefined) {
    throw new RecordingError(
      `${path}: expected a recording, as "statelet record dump" writes it, or a directory of one`,
    );
  }
  const end = until === undefined ? first.at : await lastTimestamp(file, first.at);
  return { file, stretches, untilMs: parseUntil(until, first.at, end) };
}

/** Returns the timestamp of the recording's last line. */
async function lastTimestamp(file: RecordingFile, fallbackMs: number): Promise<number> {
  const lastMember = file.members.at(-1);
  const lastMemberLines = lastMember && (await readMemberLines(file, lastMember));
  return readLine(lastMemberLines?.at(-1) ?? '')?.at ?? lastMember?.at ?? fallbackMs;
}

/** Upper bound for durations, which rejects nonsensical values. */
const MAX_DURATION_MS = 100 * 365 * 24 * 3_600_000;

/** Parses `--until` for a recording that lasts from `from` to `to`. */
export function parseUntil(until: string | undefined, from: number, to: number): number {
  if (until === undefined) return Number.POSITIVE_INFINITY;
  const isFromEnd = until.startsWith('-');
  const durationMs = parseDuration(isFromEnd ? until.slice(1) : until);
  if (durationMs !== undefined && durationMs <= MAX_DURATION_MS) return isFromEnd ? to - durationMs : from + durationMs;
  const timestampMs = /^\d{4}-\d\d-\d\dT/.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(timestampMs)) {
    throw new ConfigError(
      `--until: expected a time such as "2026-01-31T12:00:00Z", or a duration such as "90s" from the beginning or "-90s" from the end, got ${JSON.stringify(until)}`,
    );
  }
  return timestampMs;
}

const isoTime = (at: number): string => new Date(at).toISOString();

const podsInNamespace = (namespace: string | undefined, agent: ReplayedState['agent']) =>
  agent.pods().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);

async function printPods(
  { agent, at }: ReplayedState,
  { namespace, output }: ReplayOptions,
  write: Write,
): Promise<void> {
  const pods = podsInNamespace(namespace, agent);
  if (output !== undefined) {
    return void write(await formatObject(podList(pods), output));
  }
  write(`${isoTime(at)}\n`);
  const [header = [], ...rows] = podTable(pods, { wide: false, now: at });
  const rowsWithNamespace = pods.map(({ metadata }, index) => [metadata.namespace, ...(rows[index] ?? [])]);
  tablePrinter(write).print(['NAMESPACE', ...header], rowsWithNamespace);
}

async function explanationText({ agent, at }: ReplayedState, target: string, options: ReplayOptions): Promise<string> {
  const { namespace, output } = options;
  const part = selectedPart(options);
  const width = terminalWidth();
  if (parseNodeArgument([target])) {
    if (part) throw new ConfigError(`--${part.kind}: a node has none, expected --explain pod/NAME`);
    const node = agent.explainNode();
    return output === undefined ? formatNodeExplanation(node, width) : formatObject(node, output);
  }
  const name = parsePodName([target]);
  const matchingPods = findPodsByName(name, podsInNamespace(namespace, agent));
  const why = ambiguityMessage(matchingPods);
  if (why !== undefined) throw new ConfigError(`--explain: ${why}`);
  const [pod] = matchingPods;
  const podExplanation = pod && agent.explainUid(pod.metadata.uid);
  if (podExplanation === undefined) throw new ConfigError(`--explain: pods "${name}" not found at ${isoTime(at)}`);
  if (part) {
    const explanation = agent.explainPart(podExplanation.uid, part);
    if (!explanation)
      throw new ConfigError(`--${part.kind}: pod ${name} has no ${part.kind} ${part.name} at ${isoTime(at)}`);
    return output === undefined ? formatPartExplanation(explanation, width) : formatObject(explanation, output);
  }
  return output === undefined ? formatExplanation(podExplanation, width) : formatObject(podExplanation, output);
}

async function checkReplay({ file, stretches }: OpenedRecording, write: Write): Promise<void> {
  const totalCounts: CheckResult = { entries: 0, states: 0, statuses: 0 };
  const machines = machinesDigest();
  for (const stretch of stretches) {
    const { difference, ...counts } = await checkStretch(file, stretch, machines);
    if (difference) {
      const { at, subject, recorded: recordedValue, replayed: replayedValue } = difference;
      throw new RecordingError(
        `${isoTime(at)}: ${subject}: recorded ${formatValue(recordedValue)}, replayed ${formatValue(replayedValue)}`,
      );
    }
    for (const key of ['entries', 'states', 'statuses'] as const)
      Object.assign(totalCounts, { [key]: totalCounts[key] + counts[key] });
  }
  const lifeCount = new Set(stretches.map(({ life }) => life)).size;
  write(
    `${lifeCount === 1 ? '1 life' : `${lifeCount} lives`}, ${totalCounts.entries} entries, ${totalCounts.states} states, ${totalCounts.statuses} statuses: no difference\n`,
  );
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
