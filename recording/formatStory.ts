/** Formats a recording as readable text, without replaying it. */
import * as z from 'zod/mini';
import type { RecordedInput } from '../actors/boundary.ts';
import { printableLine } from '../base/text/printable.ts';
import { goDuration } from '../base/time/duration.ts';
import { parseJson } from '../base/values/parseJson.ts';
import type { EventLine, RecordingLine } from './lines.ts';
import { type ForeignHeader, readForeignHeader, readLine, unsupportedFormatMessage } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { readMemberLines } from './stretches.ts';

interface StoryOptions {
  /** Time of the last line to include, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Yields the formatted lines of all the agent's runs up to the time `until`. A line that this version cannot read is
 * replaced with a note.
 */
export async function* formatStory(file: RecordingFile, { until }: StoryOptions): AsyncGenerator<string> {
  const formatter = new StoryFormatter();
  for (const member of file.members) {
    const lines = await readMemberLines(file, member).catch(damageMessage);
    if (typeof lines === 'string') yield printableLine(`? ${lines}`);
    if (lines === undefined || typeof lines === 'string') continue;
    for (const json of lines) {
      const formattedText = formatter.format(json, until);
      // Escape the text, because untrusted content must not break the line.
      if (formattedText !== undefined) yield printableLine(formattedText);
    }
  }
}

/** Returns the message about a damaged gzip member. The members after it are still formatted. */
function damageMessage(error: unknown): string {
  if (!(error instanceof RecordingError)) throw error;
  return error.message;
}

const metadataSchema = z.looseObject({ uid: z.string(), namespace: z.string(), name: z.string() });
const namedObjectSchema = z.looseObject({ metadata: metadataSchema });
const factSchema = z.looseObject({ pods: z.optional(z.array(namedObjectSchema)), pod: z.optional(namedObjectSchema) });

const withTimestamp = (at: number, text: string): string => `${new Date(at).toISOString()}  ${text}`;

const readKind = (json: string): string => readStringField(parseJson(json), 'kind') ?? 'no line of a recording';

/** Formats the lines of a recording. Tracks the calls in progress and the names of pods. */
class StoryFormatter {
  readonly #callStartedAt = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #currentLife: string | undefined;
  /** Whether the current segment has the format of a different version. */
  #isForeignSegment = false;

  /**
   * Formats a line. Returns undefined if the line is skipped, e.g. because its time is after `until`. The following
   * lines may have earlier times, because the clock may have been set back.
   */
  format(json: string, until: number): string | undefined {
    const line = readLine(json);
    const foreignHeader = line === undefined ? readForeignHeader(json) : undefined;
    if (foreignHeader) return foreignHeader.at > until ? undefined : this.#formatForeignHeader(foreignHeader);
    if (line?.kind === 'began') this.#isForeignSegment = false;
    if (this.#isForeignSegment) return undefined;
    if (line === undefined) return `? ${readKind(json)}`;
    const formattedLine = line.at > until ? undefined : this.#formatLine(line);
    return formattedLine === undefined ? undefined : withTimestamp(line.at, formattedLine);
  }

  /**
   * Formats a segment header of a different version. The lines after it are skipped up to the next header that this
   * version can read.
   */
  #formatForeignHeader(header: ForeignHeader): string | undefined {
    const isNewLife = !this.#isForeignSegment || this.#currentLife !== header.life;
    this.#isForeignSegment = true;
    this.#currentLife = header.life;
    return isNewLife ? withTimestamp(header.at, `agent: ${unsupportedFormatMessage(header)}`) : undefined;
  }

  #formatLine(line: RecordingLine): string | undefined {
    switch (line.kind) {
      case 'began':
        return this.#formatHeader(line);
      case 'ended':
        return `agent: stopped${line.missed ? `; ${line.missed} lines before that could not be written` : ''}`;
      case 'asked':
        return this.#formatCall(line);
      case 'answer':
      case 'failure':
        return this.#formatResult(line);
      case 'fact':
        this.#storeNames(line.value);
        return `${line.source}: ${readType(line.value)}`;
      case 'elapsed':
        return `${this.#actorName(line.actor)}: timer`;
      case 'state':
        return `${this.#actorName(line.actor)}: -> ${line.state}`;
      case 'status':
        this.#names.set(line.uid, line.pod);
        return `${line.pod}: status ${line.status?.phase ?? 'gone'}`;
      case 'event':
        return `${involvedName(line)}: ${line.eventType} ${line.reason}: ${line.message}`;
    }
  }

  /**
   * Stores the names of the pods that a recorded input contains. The input in which a source reports a pod precedes all
   * other lines that mention the pod, so their pod names are known.
   */
  #storeNames(value: unknown): void {
    const { pods, pod } = factSchema.safeParse(value).data ?? {};
    for (const { metadata } of [...(pods ?? []), ...(pod ? [pod] : [])])
      this.#names.set(metadata.uid, `${metadata.namespace}/${metadata.name}`);
  }

  #formatHeader({ life, versions, missed }: Extract<RecordingLine, { kind: 'began' }>): string | undefined {
    const isNewLife = life !== this.#currentLife;
    this.#currentLife = life;
    if (isNewLife) this.#callStartedAt.clear();
    if (missed !== undefined) return `recorder: ${missed} lines could not be written`;
    return isNewLife ? `agent: started, statelet ${versions.statelet}` : undefined;
  }

  #formatCall({ at, actor, port, about, isGivenUp }: Extract<RecordingLine, { kind: 'asked' }>): string {
    if (isGivenUp) this.#callStartedAt.delete(actor);
    else this.#callStartedAt.set(actor, at);
    return `${this.#actorName(actor)}: ${port}${about ? ` ${about}` : ''}${isGivenUp ? ' given up' : ' ...'}`;
  }

  #formatResult({ at, actor, kind, source, value }: RecordedInput): string {
    const callStartedAt = this.#callStartedAt.get(actor);
    this.#callStartedAt.delete(actor);
    const durationText = callStartedAt === undefined ? '' : ` ${goDuration(at - callStartedAt)}`;
    return `${this.#actorName(actor)}: ${source}${durationText} ${kind === 'answer' ? 'ok' : `failed: ${readMessage(value)}`}`;
  }

  /** Returns the actor's path with the pod's name instead of its UID. */
  #actorName(path: string): string {
    const [kind, uid = '', ...rest] = path.split('/');
    if (path === '') return 'node';
    return kind === 'pod' ? [this.#names.get(uid) ?? uid, ...rest].join('/') : path;
  }
}

const involvedName = ({ involved: { namespace, name } }: EventLine): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

const readType = (value: unknown): string => readStringField(value, 'type') ?? 'something';

const readMessage = (value: unknown): string => readStringField(value, 'message') ?? 'for an unknown reason';

/** Returns the value of the given field, or undefined if that value is not a string. */
function readStringField(value: unknown, field: string): string | undefined {
  const fieldValue: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
  return typeof fieldValue === 'string' ? fieldValue : undefined;
}
