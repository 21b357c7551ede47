/** What happened, as the page is told of it: the lines of a recording without their payloads. */
import * as z from 'zod/mini';
import { hasTag, machineAt, tagOf } from '../machines/drawing/stateTags.ts';
import type { Line } from '../recording/lines.ts';
import { podUidOf } from '../show/actorPath.ts';
import type { EnteredLine, StoryLine } from './protocol.ts';

/** Tells what was written down of a node, one line after the other; it knows what was asked, and what was seen before. */
export class StoryTeller {
  readonly #askedAt = new Map<string, number>();
  /** What the runtime showed last of each container, by id. */
  readonly #seen = new Map<string, string>();

  /** A fact about several pods is one line for each. */
  tell(line: Line): readonly StoryLine[] {
    switch (line.kind) {
      case 'asked':
        return this.#asked(line);
      case 'answer':
      case 'failure':
      case 'elapsed':
        return [this.#entered(line, wordsOf(line.value))];
      case 'fact':
        return this.#fact(line);
      case 'state': {
        const { at, actor, state } = line;
        const tag = tagOf(machineAt(actor), state);
        const moved: StoryLine = { kind: 'state', at, actor, state, ...(tag === undefined ? {} : { tag }) };
        const uid = isPodEnd(actor, state) ? podUidOf(actor) : undefined;
        return uid === undefined ? [moved] : [moved, { kind: 'gone', at, uid }];
      }
      case 'event':
        return [eventLine(line)];
      case 'began':
        this.#askedAt.clear();
        return line.from === undefined ? [{ kind: 'began', at: line.at }] : [];
      case 'ended':
        return [{ kind: 'ended', at: line.at }];
      case 'status':
        return [];
    }
  }

  #asked({ at, actor, port, about = '', isGivenUp }: Extract<Line, { kind: 'asked' }>): StoryLine[] {
    if (isGivenUp) {
      this.#askedAt.delete(actor);
      return [];
    }
    if (this.#askedAt.size > MOST_SEEN) this.#askedAt.clear();
    this.#askedAt.set(actor, at);
    return [{ kind: 'asked', at, actor, port, about }];
  }

  #entered({ at, actor, kind, source }: Entered, what: string | undefined, uid?: string): EnteredLine {
    const since = this.#askedAt.get(actor);
    this.#askedAt.delete(actor);
    return {
      kind: 'entered',
      at,
      actor,
      outcome: kind,
      source,
      ...(since === undefined ? {} : { tookMs: at - since }),
      ...(uid === undefined ? {} : { uid }),
      ...(what === undefined ? {} : { what }),
    };
  }

  #fact(line: Entered): StoryLine[] {
    const { type, pods, pod, uid, container } = facts.safeParse(line.value).data ?? {};
    const of = (what: string | undefined, about?: string) => this.#entered(line, what, about);
    if (type === 'runtime.podsObserved')
      return (pods ?? []).map((each) => of(this.#changesOf(each.containers ?? []), each.uid));
    if (type === 'runtime.containerSeen' && container) return [of(this.#changesOf([container]), container.podUid)];
    if (type === 'config.podsListed') return (pods ?? []).map(({ metadata }) => of('listed', metadata?.uid));
    // What is sent to the sinks is told by the status itself.
    if (type === 'status.changed') return [];
    if (type === 'config.podChanged') return [of(wordsOf(line.value), uid ?? pod?.metadata?.uid)];
    return [of(type)];
  }

  /** `api exit 3`: of what the runtime shows, what is another than it showed before. */
  #changesOf(containers: readonly SeenContainer[]): string | undefined {
    const changed = containers.filter(({ id = '', state = '' }) => {
      const isSame = this.#seen.get(id) === state;
      this.#seen.set(id, state);
      return !isSame;
    });
    if (this.#seen.size > MOST_SEEN) this.#seen.clear();
    const words = changed.map(({ name, state, exitCode }) =>
      state === 'exited' ? `${name} exit ${exitCode ?? '?'}` : `${name} ${state}`,
    );
    return words.length === 0 ? undefined : words.join(', ');
  }
}

/** Whether the state that an actor comes into ends the life of a pod. */
const isPodEnd = (actor: string, state: string): boolean =>
  /^pod\/[^/]+$/.test(actor) && hasTag('pod', state, 'terminated');

/** What is forgotten is told once more than it should be. */
const MOST_SEEN = 10_000;

type Entered = Extract<Line, { source: string }>;

function eventLine({ at, involved, eventType, reason, message }: Extract<Line, { kind: 'event' }>): StoryLine {
  const container = /\{(.*)\}$/.exec(involved.fieldPath ?? '')?.[1];
  return {
    kind: 'event',
    at,
    uid: involved.uid,
    eventType,
    reason,
    message,
    ...(container ? { container } : {}),
  };
}

const seenContainer = z.looseObject({
  id: z.optional(z.string()),
  podUid: z.optional(z.string()),
  name: z.optional(z.string()),
  state: z.optional(z.string()),
  exitCode: z.optional(z.number()),
});

type SeenContainer = z.infer<typeof seenContainer>;

/** What of a fact says whom it is about. */
const facts = z.looseObject({
  type: z.optional(z.string()),
  uid: z.optional(z.string()),
  container: z.optional(seenContainer),
  pod: z.optional(z.looseObject({ metadata: z.optional(z.looseObject({ uid: z.string() })) })),
  pods: z.optional(
    z.array(
      z.looseObject({
        uid: z.optional(z.string()),
        metadata: z.optional(z.looseObject({ uid: z.string() })),
        containers: z.optional(z.array(seenContainer)),
      }),
    ),
  ),
});

/** What of an answer or a failure is said in a word or two. */
const told = z.looseObject({
  change: z.optional(z.string()),
  reason: z.optional(z.string()),
  message: z.optional(z.string()),
  outcome: z.optional(z.string()),
  exitCode: z.optional(z.number()),
});

function wordsOf(value: unknown): string | undefined {
  const { change, reason, message, outcome, exitCode } = told.safeParse(value).data ?? {};
  if (reason !== undefined && message !== undefined) return `${reason}: ${message}`;
  if (exitCode !== undefined) return `exit ${exitCode}`;
  return change ?? outcome;
}
