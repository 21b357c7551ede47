/** Formats a recording as text for people, without replaying it. */
import * as z from 'zod/mini';
import type { Entry } from '../actors/boundary.ts';
import { goDuration } from '../base/duration.ts';
import { parsedJson } from '../base/parsedJson.ts';
import { printableLine } from '../base/printable.ts';
import type { EventLine, Line } from './lines.ts';
import { type ForeignBegan, readForeignBegan, readLine, unsupportedFormatMessage } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { linesIn } from './stretches.ts';

interface StoryOptions {
  /** Time of the last line to include, in milliseconds since the epoch. */
  readonly until: number;
}

/** Yields the lines of all lives up to a time. Replaces lines that this version cannot read with a note. */
export async function* formatStory(file: RecordingFile, { until }: StoryOptions): AsyncGenerator<string> {
  const formatter = new StoryFormatter();
  for (const member of file.members) {
    const lines = await linesIn(file, member).catch(damageMessage);
    if (typeof lines === 'string') yield printableLine(`? ${lines}`);
    if (lines === undefined || typeof lines === 'string') continue;
    for (const json of lines) {
      const text = formatter.format(json, until);
      // Untrusted text must not break the line.
      if (text !== undefined) yield printableLine(text);
    }
  }
}

/** Returns the message about a damaged member. The members after it are still formatted. */
function damageMessage(error: unknown): string {
  if (!(error instanceof RecordingError)) throw error;
  return error.message;
}

const metadata = z.looseObject({ uid: z.string(), namespace: z.string(), name: z.string() });
const namedObject = z.looseObject({ metadata });
const factShape = z.looseObject({ pods: z.optional(z.array(namedObject)), pod: z.optional(namedObject) });

const withTimestamp = (at: number, said: string): string => `${new Date(at).toISOString()}  ${said}`;

const kindOf = (json: string): string => textIn(parsedJson(json), 'kind') ?? 'no line of a recording';

/** Formats lines. Tracks the calls in progress and the names of pods. */
class StoryFormatter {
  readonly #callStartedAt = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #life: string | undefined;
  /** Whether the current segment is in a format of another version. */
  #isForeign = false;

  /**
   * Returns undefined for lines to skip, including those after `until`. Lines before `until` may still follow because
   * the clock may have been set back.
   */
  format(json: string, until: number): string | undefined {
    const line = readLine(json);
    const foreign = line === undefined ? readForeignBegan(json) : undefined;
    if (foreign) return foreign.at > until ? undefined : this.#formatForeignHeader(foreign);
    if (line?.kind === 'began') this.#isForeign = false;
    if (this.#isForeign) return undefined;
    if (line === undefined) return `? ${kindOf(json)}`;
    const formatted = line.at > until ? undefined : this.#formatLine(line);
    return formatted === undefined ? undefined : withTimestamp(line.at, formatted);
  }

  /**
   * Formats a segment header of another version. The lines after it are skipped up to the next header that this version
   * can read.
   */
  #formatForeignHeader(began: ForeignBegan): string | undefined {
    const isNew = !this.#isForeign || this.#life !== began.life;
    this.#isForeign = true;
    this.#life = began.life;
    return isNew ? withTimestamp(began.at, `agent: ${unsupportedFormatMessage(began)}`) : undefined;
  }

  #formatLine(line: Line): string | undefined {
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
        return `${line.source}: ${typeIn(line.value)}`;
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

  /** Stores the names of pods. A source reports a pod before any other line mentions it. */
  #storeNames(value: unknown): void {
    const { pods, pod } = factShape.safeParse(value).data ?? {};
    for (const { metadata } of [...(pods ?? []), ...(pod ? [pod] : [])])
      this.#names.set(metadata.uid, `${metadata.namespace}/${metadata.name}`);
  }

  #formatHeader({ life, versions, missed }: Extract<Line, { kind: 'began' }>): string | undefined {
    const isNew = life !== this.#life;
    this.#life = life;
    if (isNew) this.#callStartedAt.clear();
    if (missed !== undefined) return `recorder: ${missed} lines could not be written`;
    return isNew ? `agent: started, statelet ${versions.statelet}` : undefined;
  }

  #formatCall({ at, actor, port, about, isGivenUp }: Extract<Line, { kind: 'asked' }>): string {
    if (isGivenUp) this.#callStartedAt.delete(actor);
    else this.#callStartedAt.set(actor, at);
    return `${this.#actorName(actor)}: ${port}${about ? ` ${about}` : ''}${isGivenUp ? ' given up' : ' ...'}`;
  }

  #formatResult({ at, actor, kind, source, value }: Entry): string {
    const since = this.#callStartedAt.get(actor);
    this.#callStartedAt.delete(actor);
    const took = since === undefined ? '' : ` ${goDuration(at - since)}`;
    return `${this.#actorName(actor)}: ${source}${took} ${kind === 'answer' ? 'ok' : `failed: ${messageIn(value)}`}`;
  }

  /** Returns the actor's path, with the pod's name instead of its UID. */
  #actorName(path: string): string {
    const [kind, uid = '', ...rest] = path.split('/');
    if (path === '') return 'node';
    return kind === 'pod' ? [this.#names.get(uid) ?? uid, ...rest].join('/') : path;
  }
}

const involvedName = ({ involved: { namespace, name } }: EventLine): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

const typeIn = (value: unknown): string => textIn(value, 'type') ?? 'something';

const messageIn = (value: unknown): string => textIn(value, 'message') ?? 'for an unknown reason';

/** Returns the field if it is a string. */
function textIn(value: unknown, field: string): string | undefined {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
  return typeof text === 'string' ? text : undefined;
}
