/**
 * Keeps the values of environment variables and of HTTP headers of pods, and the commands of their hooks, out of what
 * leaves the agent: recordings and keyframes, explanations, the log. In their place stands a digest under a key that
 * nobody keeps: equal values are seen to be equal, and a change to be one.
 */

import { hash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/isObject.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { MIN_PATTERN_LENGTH, PatternIndex } from './patternIndex.ts';

export interface Redaction {
  /** Takes note of the values of the pods that a source brings: texts are searched for them from then on. */
  learn(fact: NodeFact): void;
  /** The same of pods that a former agent wanted: before any source has spoken it is told what they have come to. */
  readonly learnPods: (pods: Iterable<Pod>) => void;
  /** And of values that a container is given that its pod only refers to. */
  readonly learnValues: (uid: string, values: Iterable<string>) => void;
  /** What it is given is left as it is; of what holds nothing secret nothing is copied. */
  readonly redact: <T>(value: T) => T;
  /** Returns such a function for several values, which redacts an object that they have in common once. */
  readonly redactor: () => <T>(value: T) => T;
  /**
   * The same of what is text at whatever depth. What the outside says may quote a value: a runtime that could not run a
   * command, a container that ended.
   */
  readonly texts: <T>(value: T) => T;
}

/** The fields whose items are a name and a value that may be secret. */
const NAMED_VALUES = new Set(['env', 'httpHeaders']);
/** The fields that hold what a container does at its start and before its end: what is given to their commands may be secret. */
const HOOKS = new Set(['postStart', 'preStop']);
/** The fields that may quote or repeat a value in a single word; whatever has several words is text anywhere. */
const TEXTS = new Set(['message', 'said', 'lines', 'command', 'args', 'annotations']);
/** Under which kubectl keeps the whole manifest. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** A single word is not looked for in texts: `running` and `production` are in what the agent says itself. */
const PLAIN_WORD = /^(?:[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14})$/;
/** What stands for a value stays as it is. */
const DIGEST = /^redacted-[0-9a-f]{16}$/;
/** So many pods that are not wanted any more are remembered, for what is still said of them. */
const REMEMBERED = 200;

export function createRedaction(key: Buffer = randomBytes(32)): Redaction {
  const redactor = new Redactor(key.toString('hex'));
  // Only texts are replaced, by texts.
  return {
    learn: (fact) => redactor.values.learn(fact),
    learnPods: (pods) => redactor.values.learnPods(pods),
    learnValues: (uid, values) => redactor.values.learnValues(uid, values),
    redact: (value) => redactor.redactAll(value, false) as typeof value,
    redactor: () => {
      const own = new Redactor(key.toString('hex'), redactor.values);
      return (value) => own.redact(value, false) as typeof value;
    },
    texts: (value) => redactor.redactAll(value, true) as typeof value,
  };
}

class Redactor {
  readonly values: KnownValues;
  /** The key in hexadecimal, which each hashed value is appended to. An HMAC of a value takes 20 times as long. */
  readonly #key: string;
  /** The objects of the present value that were redacted, as texts and otherwise, with the results. */
  readonly #texts = new Map<object, unknown>();
  readonly #others = new Map<object, unknown>();

  constructor(key: string, values = new KnownValues()) {
    this.#key = key;
    this.values = values;
  }

  /** Redacts a value, and each object in it once: the actors of a keyframe have a pod in common. */
  redactAll(value: unknown, isText: boolean): unknown {
    try {
      return this.redact(value, isText);
    } finally {
      this.#texts.clear();
      this.#others.clear();
    }
  }

  redact(value: unknown, isText: boolean): unknown {
    if (typeof value === 'string') return isText || /\s/.test(value) ? this.#text(value) : value;
    if (!isObject(value)) return value;
    const redacted = isText ? this.#texts : this.#others;
    const known = redacted.get(value);
    if (known !== undefined) return known;
    const result = this.#members(value, isText);
    redacted.set(value, result);
    return result;
  }

  #members(value: Readonly<Record<string, unknown>>, isText: boolean): object {
    // Most holds nothing secret: only what does is copied. It sees all that enters the actors.
    let copy: object | undefined;
    Object.keys(value).forEach((name) => {
      const each = lookUp(value, name);
      if (typeof each !== 'string' && !isObject(each)) return;
      const after = this.#field(name, each, isText);
      if (after === each) return;
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      // However it is called: an assignment to `__proto__` would be another thing.
      Object.defineProperty(copy, name, { value: after, enumerable: true, writable: true, configurable: true });
    });
    return copy ?? value;
  }

  #field(name: string, value: unknown, isText: boolean): unknown {
    if (name === LAST_APPLIED && typeof value === 'string') return this.#digest(value);
    if (name === 'preStop' && typeof value === 'string') return this.#noted(value);
    if (HOOKS.has(name) && isObject(value)) return this.#hook(value);
    if (!NAMED_VALUES.has(name) || !Array.isArray(value)) return this.redact(value, isText || TEXTS.has(name));
    return value.map((item: unknown) =>
      isObject(item) && typeof item.value === 'string'
        ? { ...item, value: this.#digest(item.value) }
        : this.redact(item, isText),
    );
  }

  #hook(hook: Readonly<Record<string, unknown>>): unknown {
    const redacted = this.redact(hook, false);
    const { exec } = hook;
    const [program, ...args] = commandOf(exec);
    if (args.length === 0 || !isObject(exec) || !isObject(redacted)) return redacted;
    return { ...redacted, exec: { ...exec, command: [program, ...args.map((arg) => this.#digest(arg))] } };
  }

  /** A hook as it was noted at the runtime. */
  #noted(json: string): string {
    try {
      const read: unknown = JSON.parse(json);
      const redacted = isObject(read) ? this.#hook(read) : read;
      return redacted === read ? json : JSON.stringify(redacted);
    } catch {
      return this.#digest(json);
    }
  }

  #text(text: string): string {
    return this.values
      .quotedIn(text)
      .reduce((rest, [pattern, value]) => rest.replaceAll(pattern, this.#digest(value)), text);
  }

  #digest(value: string): string {
    if (value === '' || DIGEST.test(value)) return value;
    return `redacted-${hash('sha256', this.#key + value).slice(0, 16)}`;
  }
}

/** The values of a pod. A pod that is not wanted any more has no source. */
interface Known {
  readonly source?: string;
  readonly name: string;
  readonly values: Set<string>;
}

/**
 * The values of the pods that are wanted, and of those that were lately. Values shorter than `MIN_PATTERN_LENGTH`, such as `true`
 * and `8080`, are in every second text, and are no secret.
 */
class KnownValues {
  /** Keyed by UID. Pods that are not wanted any more are in the order in which they went. */
  readonly #pods = new Map<string, Known>();
  /** UIDs of the pods that are not wanted any more, in the order in which they went. */
  readonly #retired = new Set<string>();
  /** The texts that stand for a value, which are itself and its form in JSON, with the number of pods that have the value. */
  readonly #patterns = new Map<string, { readonly value: string; readonly pods: number }>();
  readonly #index = new PatternIndex();

  learn(fact: NodeFact): void {
    if (fact.type === 'config.podsListed') {
      const listed = new Set(fact.pods.map(({ metadata }) => metadata.uid));
      const gone = [...this.#pods].filter(([uid, { source }]) => source === fact.source && !listed.has(uid));
      for (const [uid, known] of gone) this.#retire(uid, known);
      for (const pod of fact.pods) this.#add(pod, fact.source);
    }
    if (fact.type !== 'config.podChanged') return;
    if (fact.change === 'removed') this.#retire(fact.uid, this.#pods.get(fact.uid));
    else this.#add(fact.pod, fact.source);
  }

  learnPods(pods: Iterable<Pod>): void {
    for (const pod of pods) this.#add(pod);
  }

  /** They go with the pod. Values of an unknown pod are ignored, because no container gets them. */
  learnValues(uid: string, values: Iterable<string>): void {
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    for (const value of values) if (isSecret(value)) this.#addValue(known, value);
  }

  /** Returns the patterns in a text with their values, the longest first, because one may be part of another. */
  quotedIn(text: string): (readonly [pattern: string, value: string])[] {
    const quoted: (readonly [string, string])[] = [];
    for (const pattern of this.#index.foundIn(text)) {
      const { value } = this.#patterns.get(pattern) ?? {};
      if (value !== undefined && !this.#isInName(value)) quoted.push([pattern, value]);
    }
    return quoted.sort(([a], [b]) => b.length - a.length);
  }

  /** The name of a pod is no secret. */
  #isInName(value: string): boolean {
    return [...this.#pods.values()].some(({ name }) => name.includes(value));
  }

  /** A container may still run with what an earlier version of its pod gave it. */
  #add(pod: Pod, source?: string): void {
    const { uid } = pod.metadata;
    const known = {
      ...(source === undefined ? {} : { source }),
      name: namespacedName(pod),
      values: this.#pods.get(uid)?.values ?? new Set<string>(),
    };
    this.#pods.set(uid, known);
    if (source === undefined) this.#retired.add(uid);
    else this.#retired.delete(uid);
    for (const value of newSecretsOf(pod, known.values)) this.#addValue(known, value);
  }

  #addValue({ values }: Known, value: string): void {
    if (values.has(value)) return;
    values.add(value);
    for (const pattern of patternsOf(value)) {
      const { pods } = this.#patterns.get(pattern) ?? { pods: 0 };
      this.#patterns.set(pattern, { value, pods: pods + 1 });
      if (pods === 0) this.#index.add(pattern);
    }
  }

  #retire(uid: string, known: Known | undefined): void {
    if (known === undefined) return;
    const { name, values } = known;
    this.#pods.set(uid, { name, values });
    this.#retired.delete(uid);
    this.#retired.add(uid);
    for (const oldest of this.#retired) {
      if (this.#retired.size <= REMEMBERED) return;
      this.#retired.delete(oldest);
      this.#forget(oldest);
    }
  }

  #forget(uid: string): void {
    const { values = [] } = this.#pods.get(uid) ?? {};
    this.#pods.delete(uid);
    for (const pattern of [...values].flatMap(patternsOf)) {
      const known = this.#patterns.get(pattern);
      if (known !== undefined && known.pods > 1) {
        this.#patterns.set(pattern, { ...known, pods: known.pods - 1 });
        continue;
      }
      this.#patterns.delete(pattern);
      this.#index.delete(pattern);
    }
  }
}

const isSecret = (value: string): boolean => value.length >= MIN_PATTERN_LENGTH && !PLAIN_WORD.test(value);

/**
 * Returns the secret values of a pod that are not known yet. A value that the manifest also has elsewhere, for example in a path or
 * a name, is no secret.
 */
function newSecretsOf(pod: Pod, known: ReadonlySet<string>): Set<string> {
  const values = new Set<string>();
  const others = new Set<string>();
  const look = (name: string, value: unknown) => {
    if (typeof value === 'string') others.add(value);
    if (!isObject(value) || name === 'annotations' || name === 'command' || name === 'args') return;
    for (const [each, below] of Object.entries(value)) {
      if (NAMED_VALUES.has(name) && isObject(below) && typeof below.value === 'string') values.add(below.value);
      else look(each, below);
      if (HOOKS.has(name) && each === 'exec') for (const arg of commandOf(below).slice(1)) values.add(arg);
    }
  };
  look('', { metadata: pod.metadata, spec: pod.spec });
  const secrets = new Set([...values].filter((value) => isSecret(value) && !known.has(value)));
  if (secrets.size === 0) return secrets;
  const index = new PatternIndex(secrets);
  for (const other of others) for (const shown of index.foundIn(other)) secrets.delete(shown);
  return secrets;
}

/** The command of an action of a hook: the program first. */
function commandOf(exec: unknown): string[] {
  const command: unknown = isObject(exec) ? exec.command : undefined;
  return Array.isArray(command) ? command.map(String) : [];
}

/** Returns the texts that stand for a value: itself and, if it differs, its form in a text that is JSON. */
function patternsOf(value: string): string[] {
  const asJson = inJson(value);
  return asJson === value ? [value] : [value, asJson];
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);
