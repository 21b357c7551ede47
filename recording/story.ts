/** A recording as lines for people: who did what, when. No machine is needed for it. */
import * as z from 'zod/mini';
import type { Entry } from '../actors/boundary.ts';
import { goDuration } from '../base/duration.ts';
import { parsedJson } from '../base/parsedJson.ts';
import { printableLine } from '../base/printable.ts';
import type { EventLine, Line } from './lines.ts';
import { type ForeignBegan, foreignText, readForeignBegan, readLine } from './readLine.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { linesIn } from './stretches.ts';

interface StoryOptions {
  /** The last moment of it, in milliseconds since the epoch. */
  readonly until: number;
}

/** The story of all lives up to a moment. What this version cannot read of it is named, and left out. */
export async function* storyOf(file: RecordingFile, { until }: StoryOptions): AsyncGenerator<string> {
  const teller = new Teller();
  for (const member of file.members) {
    const lines = await linesIn(file, member).catch(damageIn);
    if (typeof lines === 'string') yield printableLine(`? ${lines}`);
    if (lines === undefined || typeof lines === 'string') continue;
    for (const json of lines) {
      const told = teller.tell(json, until);
      // Whatever is told of it, it is one line.
      if (told !== undefined) yield printableLine(told);
    }
  }
}

/** What is wrong with a member, the rest of which can be told all the same. */
function damageIn(error: unknown): string {
  if (!(error instanceof RecordingError)) throw error;
  return error.message;
}

const metadata = z.looseObject({ uid: z.string(), namespace: z.string(), name: z.string() });
const named = z.looseObject({ metadata });
const facts = z.looseObject({ pods: z.optional(z.array(named)), pod: z.optional(named) });

const timed = (at: number, said: string): string => `${new Date(at).toISOString()}  ${said}`;

const kindOf = (json: string): string => textIn(parsedJson(json), 'kind') ?? 'no line of a recording';

/** Knows what was asked and not answered yet, and what pods are called. */
class Teller {
  readonly #askedAt = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #life: string | undefined;
  /** Whether what is told is of a version that writes in another way. */
  #isForeign = false;

  /** Undefined where it says nothing new, and of what came later: the clock may have been set back after that. */
  tell(json: string, until: number): string | undefined {
    const line = readLine(json);
    const foreign = line === undefined ? readForeignBegan(json) : undefined;
    if (foreign) return foreign.at > until ? undefined : this.#beganForeign(foreign);
    if (line?.kind === 'began') this.#isForeign = false;
    if (this.#isForeign) return undefined;
    if (line === undefined) return `? ${kindOf(json)}`;
    const said = line.at > until ? undefined : this.#said(line);
    return said === undefined ? undefined : timed(line.at, said);
  }

  /** What follows is left out, up to a beginning that can be read. */
  #beganForeign(began: ForeignBegan): string | undefined {
    const isNew = !this.#isForeign || this.#life !== began.life;
    this.#isForeign = true;
    this.#life = began.life;
    return isNew ? timed(began.at, `agent: ${foreignText(began)}`) : undefined;
  }

  #said(line: Line): string | undefined {
    switch (line.kind) {
      case 'began':
        return this.#began(line);
      case 'ended':
        return `agent: stopped${line.missed ? `; ${line.missed} lines before that could not be written` : ''}`;
      case 'asked':
        return this.#asked(line);
      case 'answer':
      case 'failure':
        return this.#answered(line);
      case 'fact':
        this.#learn(line.value);
        return `${line.source}: ${typeOf(line.value)}`;
      case 'elapsed':
        return `${this.#actor(line.actor)}: timer`;
      case 'state':
        return `${this.#actor(line.actor)}: -> ${line.state}`;
      case 'status':
        this.#names.set(line.uid, line.pod);
        return `${line.pod}: status ${line.status?.phase ?? 'gone'}`;
      case 'event':
        return `${nameOf(line)}: ${line.eventType} ${line.reason}: ${line.message}`;
    }
  }

  /** What pods are called, sources tell before anything else does. */
  #learn(value: unknown): void {
    const { pods, pod } = facts.safeParse(value).data ?? {};
    for (const { metadata } of [...(pods ?? []), ...(pod ? [pod] : [])])
      this.#names.set(metadata.uid, `${metadata.namespace}/${metadata.name}`);
  }

  #began({ life, versions, missed }: Extract<Line, { kind: 'began' }>): string | undefined {
    const isNew = life !== this.#life;
    this.#life = life;
    if (isNew) this.#askedAt.clear();
    if (missed !== undefined) return `recorder: ${missed} lines could not be written`;
    return isNew ? `agent: started, statelet ${versions.statelet}` : undefined;
  }

  #asked({ at, actor, port, about, isGivenUp }: Extract<Line, { kind: 'asked' }>): string {
    if (isGivenUp) this.#askedAt.delete(actor);
    else this.#askedAt.set(actor, at);
    return `${this.#actor(actor)}: ${port}${about ? ` ${about}` : ''}${isGivenUp ? ' given up' : ' ...'}`;
  }

  #answered({ at, actor, kind, source, value }: Entry): string {
    const since = this.#askedAt.get(actor);
    this.#askedAt.delete(actor);
    const took = since === undefined ? '' : ` ${goDuration(at - since)}`;
    return `${this.#actor(actor)}: ${source}${took} ${kind === 'answer' ? 'ok' : `failed: ${messageIn(value)}`}`;
  }

  /** Its path, with the name of its pod instead of the UID. */
  #actor(path: string): string {
    const [kind, uid = '', ...rest] = path.split('/');
    if (path === '') return 'node';
    return kind === 'pod' ? [this.#names.get(uid) ?? uid, ...rest].join('/') : path;
  }
}

const nameOf = ({ involved: { namespace, name } }: EventLine): string =>
  namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;

const typeOf = (value: unknown): string => textIn(value, 'type') ?? 'something';

const messageIn = (value: unknown): string => textIn(value, 'message') ?? 'for an unknown reason';

/** Undefined where that is no text. */
function textIn(value: unknown, field: string): string | undefined {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
  return typeof text === 'string' ? text : undefined;
}
