/** Converts lines of a recording to story lines for the page, without payloads. */
import * as z from 'zod/mini';
import { hasTag, machineAt, stateCategory } from '../../../machines/drawing/stateTags.ts';
import type { RecordingLine } from '../../../recording/lines.ts';
import { podUidOf } from '../../../show/actors/actorPath.ts';
import type { EnteredLine, StoryLine } from '../../protocol.ts';

/** Converts lines in order. Tracks the calls in progress and the last state of each container. */
export class StoryConverter {
  readonly #callStartedAt = new Map<string, number>();
  /** The last observed state of each container, by container ID. */
  readonly #lastStates = new Map<string, string>();

  /** Converts one line of a recording. A fact about several pods results in one line per pod. */
  convert(line: RecordingLine): readonly StoryLine[] {
    switch (line.kind) {
      case 'asked':
        return this.#convertCall(line);
      case 'answer':
      case 'failure':
      case 'elapsed':
        return [this.#createEntered(line, describeResult(line.value))];
      case 'fact':
        return this.#convertFact(line);
      case 'state': {
        const { at, actor, state } = line;
        const tag = stateCategory(machineAt(actor), state);
        const stateLine: StoryLine = { kind: 'state', at, actor, state, ...(tag === undefined ? {} : { tag }) };
        const uid = isPodRemoval(actor, state) ? podUidOf(actor) : undefined;
        return uid === undefined ? [stateLine] : [stateLine, { kind: 'gone', at, uid }];
      }
      case 'event':
        return [eventLine(line)];
      case 'began':
        this.#callStartedAt.clear();
        return line.from === undefined ? [{ kind: 'began', at: line.at }] : [];
      case 'ended':
        return [{ kind: 'ended', at: line.at }];
      case 'status':
        return [];
    }
  }

  #convertCall({ at, actor, port, about = '', isGivenUp }: Extract<RecordingLine, { kind: 'asked' }>): StoryLine[] {
    if (isGivenUp) {
      this.#callStartedAt.delete(actor);
      return [];
    }
    if (this.#callStartedAt.size > MAX_TRACKED_ENTRIES) this.#callStartedAt.clear();
    this.#callStartedAt.set(actor, at);
    return [{ kind: 'asked', at, actor, port, about }];
  }

  #createEntered({ at, actor, kind, source }: EntryLine, description: string | undefined, uid?: string): EnteredLine {
    const since = this.#callStartedAt.get(actor);
    this.#callStartedAt.delete(actor);
    return {
      kind: 'entered',
      at,
      actor,
      outcome: kind,
      source,
      ...(since === undefined ? {} : { tookMs: at - since }),
      ...(uid === undefined ? {} : { uid }),
      ...(description === undefined ? {} : { what: description }),
    };
  }

  #convertFact(line: EntryLine): StoryLine[] {
    const { type, pods, pod, uid, container } = factSchema.safeParse(line.value).data ?? {};
    const createLine = (description: string | undefined, podUid?: string) =>
      this.#createEntered(line, description, podUid);
    if (type === 'runtime.podsObserved')
      return (pods ?? []).map((each) => createLine(this.describeContainerChanges(each.containers ?? []), each.uid));
    if (type === 'runtime.containerSeen' && container)
      return [createLine(this.describeContainerChanges([container]), container.podUid)];
    if (type === 'config.podsListed') return (pods ?? []).map(({ metadata }) => createLine('listed', metadata?.uid));
    // Omit this fact, because the recording's own status line already reports the status.
    if (type === 'status.changed') return [];
    if (type === 'config.podChanged') return [createLine(describeResult(line.value), uid ?? pod?.metadata?.uid)];
    return [createLine(type)];
  }

  /** Describes the containers whose state has changed, e.g. `api exit 3`. */
  describeContainerChanges(containers: readonly ObservedContainer[]): string | undefined {
    const changedContainers = containers.filter(({ id = '', state = '' }) => {
      const isSameState = this.#lastStates.get(id) === state;
      this.#lastStates.set(id, state);
      return !isSameState;
    });
    if (this.#lastStates.size > MAX_TRACKED_ENTRIES) this.#lastStates.clear();
    const containerTexts = changedContainers.map(({ name, state, exitCode }) =>
      state === 'exited' ? `${name} exit ${exitCode ?? '?'}` : `${name} ${state}`,
    );
    return containerTexts.length === 0 ? undefined : containerTexts.join(', ');
  }
}

/** Whether an actor's new state means that its pod was removed from the node. */
const isPodRemoval = (actor: string, state: string): boolean =>
  /^pod\/[^/]+$/.test(actor) && hasTag('pod', state, 'terminated');

/**
 * Maximum number of entries in `#lastStates` and in `#callStartedAt`. A full map is cleared, after which unchanged
 * states may be reported again and durations of calls may be missing.
 */
const MAX_TRACKED_ENTRIES = 10_000;

type EntryLine = Extract<RecordingLine, { source: string }>;

function eventLine({ at, involved, eventType, reason, message }: Extract<RecordingLine, { kind: 'event' }>): StoryLine {
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

const containerSchema = z.looseObject({
  id: z.optional(z.string()),
  podUid: z.optional(z.string()),
  name: z.optional(z.string()),
  state: z.optional(z.string()),
  exitCode: z.optional(z.number()),
});

type ObservedContainer = z.infer<typeof containerSchema>;

/** The fields of a fact that identify its subject. */
const factSchema = z.looseObject({
  type: z.optional(z.string()),
  uid: z.optional(z.string()),
  container: z.optional(containerSchema),
  pod: z.optional(z.looseObject({ metadata: z.optional(z.looseObject({ uid: z.string() })) })),
  pods: z.optional(
    z.array(
      z.looseObject({
        uid: z.optional(z.string()),
        metadata: z.optional(z.looseObject({ uid: z.string() })),
        containers: z.optional(z.array(containerSchema)),
      }),
    ),
  ),
});

/** The fields of a response or a failure that describe its result. */
const resultSchema = z.looseObject({
  change: z.optional(z.string()),
  reason: z.optional(z.string()),
  message: z.optional(z.string()),
  outcome: z.optional(z.string()),
  exitCode: z.optional(z.number()),
});

function describeResult(value: unknown): string | undefined {
  const { change, reason, message, outcome, exitCode } = resultSchema.safeParse(value).data ?? {};
  if (reason !== undefined && message !== undefined) return `${reason}: ${message}`;
  if (exitCode !== undefined) return `exit ${exitCode}`;
  return change ?? outcome;
}
