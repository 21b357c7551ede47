/**
 * Removes secrets from everything that leaves the agent, i.e. recordings, keyframes, explanations and logs. Secrets are
 * the values of pods' environment variables and HTTP headers, and the hooks' commands. Each is replaced by a keyed
 * digest, so equal values and changes remain recognizable. The key is not stored.
 */

import { hash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/isObject.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { MIN_PATTERN_LENGTH, PatternIndex } from './patternIndex.ts';

export interface Redaction {
  /** Learns the values of a source's pods. From then on, texts are searched for these values. */
  learn(fact: NodeFact): void;
  /**
   * Learns the values of an earlier agent's pods, because responses that concern these pods arrive before any source
   * reports them.
   */
  readonly learnPods: (pods: Iterable<Pod>) => void;
  /** Learns values that a pod only references, but which its container receives. */
  readonly learnValues: (uid: string, values: Iterable<string>) => void;
  /** Returns a redacted value. The original is not modified, and parts without secrets are not copied. */
  readonly redact: <T>(value: T) => T;
  /** Returns a function that redacts several values. An object shared by them is redacted only once. */
  readonly redactor: () => <T>(value: T) => T;
  /** Redacts all strings in a value at any depth, because errors and container output may quote a secret. */
  readonly texts: <T>(value: T) => T;
}

/** Fields whose items have a name and a value that may be secret. */
const NAMED_VALUES = new Set(['env', 'httpHeaders']);
/** Fields that contain a hook, whose command arguments may be secret. */
const HOOKS = new Set(['postStart', 'preStop']);
/** Fields that may quote a secret even as a single word. Values with several words are searched in all fields. */
const TEXTS = new Set(['message', 'said', 'lines', 'command', 'args', 'annotations']);
/** The annotation in which kubectl stores the whole manifest. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/**
 * Plain words are not searched for in texts, because `running` or `production` also occur in the agent's own messages.
 */
const PLAIN_WORD = /^(?:[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14})$/;
/** Digests are not redacted again. */
const DIGEST = /^redacted-[0-9a-f]{16}$/;
/** Maximum number of removed pods whose values are remembered, because later texts may still quote them. */
const MAX_RETIRED = 200;

export function createRedaction(key: Buffer = randomBytes(32)): Redaction {
  const redactor = new Redactor(key.toString('hex'));
  // Safe casts: only strings are replaced, by strings.
  return {
    learn: (fact) => redactor.values.learn(fact),
    learnPods: (pods) => redactor.values.learnPods(pods),
    learnValues: (uid, values) => redactor.values.learnValues(uid, values),
    redact: (value) => redactor.redactAll(value, false) as typeof value,
    redactor: () => {
      const shared = new Redactor(key.toString('hex'), redactor.values);
      return (value) => shared.redact(value, false) as typeof value;
    },
    texts: (value) => redactor.redactAll(value, true) as typeof value,
  };
}

class Redactor {
  readonly values: SecretValues;
  /** The key in hexadecimal, which is prepended to each value before hashing. An HMAC takes 20 times as long. */
  readonly #key: string;
  /** Results for the objects of the current value in which all strings were redacted. */
  readonly #redactedTexts = new Map<object, unknown>();
  /** Results for the other redacted objects of the current value. */
  readonly #redactedObjects = new Map<object, unknown>();

  constructor(key: string, values = new SecretValues()) {
    this.#key = key;
    this.values = values;
  }

  /** Redacts a value and each object in it once, because the actors of a keyframe share pods. */
  redactAll(value: unknown, isText: boolean): unknown {
    try {
      return this.redact(value, isText);
    } finally {
      this.#redactedTexts.clear();
      this.#redactedObjects.clear();
    }
  }

  redact(value: unknown, isText: boolean): unknown {
    if (typeof value === 'string') return isText || /\s/.test(value) ? this.#text(value) : value;
    if (!isObject(value)) return value;
    const redacted = isText ? this.#redactedTexts : this.#redactedObjects;
    const cached = redacted.get(value);
    if (cached !== undefined) return cached;
    const result = this.#members(value, isText);
    redacted.set(value, result);
    return result;
  }

  #members(value: Readonly<Record<string, unknown>>, isText: boolean): object {
    // This runs for every input of the actors, so copy only objects that contain a secret.
    let copy: object | undefined;
    Object.keys(value).forEach((name) => {
      const member = lookUp(value, name);
      if (typeof member !== 'string' && !isObject(member)) return;
      const redacted = this.#field(name, member, isText);
      if (redacted === member) return;
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      // `defineProperty` also works for `__proto__`, to which an assignment would have a different effect.
      Object.defineProperty(copy, name, { value: redacted, enumerable: true, writable: true, configurable: true });
    });
    return copy ?? value;
  }

  #field(name: string, value: unknown, isText: boolean): unknown {
    if (name === LAST_APPLIED && typeof value === 'string') return this.#digest(value);
    if (name === 'preStop' && typeof value === 'string') return this.#hookAnnotation(value);
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

  /** Redacts a hook in JSON, as stored in an annotation of the runtime's container. */
  #hookAnnotation(json: string): string {
    try {
      const hook: unknown = JSON.parse(json);
      const redacted = isObject(hook) ? this.#hook(hook) : hook;
      return redacted === hook ? json : JSON.stringify(redacted);
    } catch {
      return this.#digest(json);
    }
  }

  #text(text: string): string {
    return this.values
      .findQuoted(text)
      .reduce((redacted, [pattern, value]) => redacted.replaceAll(pattern, this.#digest(value)), text);
  }

  #digest(value: string): string {
    if (value === '' || DIGEST.test(value)) return value;
    return `redacted-${hash('sha256', this.#key + value).slice(0, 16)}`;
  }
}

/** The values of a pod. A removed pod has no source. */
interface PodValues {
  readonly source?: string;
  readonly name: string;
  readonly values: Set<string>;
}

/**
 * The secret values of current and recently removed pods. Values shorter than `MIN_PATTERN_LENGTH`, such as `true` and
 * `8080`, occur in many texts and are not secret.
 */
class SecretValues {
  /** Keyed by UID. */
  readonly #pods = new Map<string, PodValues>();
  /** UIDs of removed pods, oldest first. */
  readonly #retired = new Set<string>();
  /**
   * Texts that represent a value, i.e. the value itself and its JSON form, with the number of pods that have the value.
   */
  readonly #patterns = new Map<string, { readonly value: string; readonly pods: number }>();
  readonly #index = new PatternIndex();

  learn(fact: NodeFact): void {
    if (fact.type === 'config.podsListed') {
      const listed = new Set(fact.pods.map(({ metadata }) => metadata.uid));
      const removed = [...this.#pods].filter(([uid, { source }]) => source === fact.source && !listed.has(uid));
      for (const [uid, podValues] of removed) this.#retire(uid, podValues);
      for (const pod of fact.pods) this.#add(pod, fact.source);
    }
    if (fact.type !== 'config.podChanged') return;
    if (fact.change === 'removed') this.#retire(fact.uid, this.#pods.get(fact.uid));
    else this.#add(fact.pod, fact.source);
  }

  learnPods(pods: Iterable<Pod>): void {
    for (const pod of pods) this.#add(pod);
  }

  /** Adds values to a pod. Values of an unknown pod are ignored, because no container receives them. */
  learnValues(uid: string, values: Iterable<string>): void {
    const podValues = this.#pods.get(uid);
    if (podValues === undefined) return;
    for (const value of values) if (isSecret(value)) this.#addValue(podValues, value);
  }

  /**
   * Returns the patterns in a text with their values, the longest first, because a pattern may be part of a longer one.
   */
  findQuoted(text: string): (readonly [pattern: string, value: string])[] {
    const quoted: (readonly [string, string])[] = [];
    for (const pattern of this.#index.findIn(text)) {
      const { value } = this.#patterns.get(pattern) ?? {};
      if (value !== undefined && !this.#isInName(value)) quoted.push([pattern, value]);
    }
    return quoted.sort(([a], [b]) => b.length - a.length);
  }

  /** Whether a value is part of a pod's name, which is not secret. */
  #isInName(value: string): boolean {
    return [...this.#pods.values()].some(({ name }) => name.includes(value));
  }

  /** Adds a pod's values. Those of earlier versions are retained, because a container may still run with them. */
  #add(pod: Pod, source?: string): void {
    const { uid } = pod.metadata;
    const podValues = {
      ...(source === undefined ? {} : { source }),
      name: namespacedName(pod),
      values: this.#pods.get(uid)?.values ?? new Set<string>(),
    };
    this.#pods.set(uid, podValues);
    if (source === undefined) this.#retired.add(uid);
    else this.#retired.delete(uid);
    for (const value of newSecretsOf(pod, podValues.values)) this.#addValue(podValues, value);
  }

  #addValue({ values }: PodValues, value: string): void {
    if (values.has(value)) return;
    values.add(value);
    for (const pattern of patternsOf(value)) {
      const { pods } = this.#patterns.get(pattern) ?? { pods: 0 };
      this.#patterns.set(pattern, { value, pods: pods + 1 });
      if (pods === 0) this.#index.add(pattern);
    }
  }

  #retire(uid: string, podValues: PodValues | undefined): void {
    if (podValues === undefined) return;
    const { name, values } = podValues;
    this.#pods.set(uid, { name, values });
    this.#retired.delete(uid);
    this.#retired.add(uid);
    for (const oldest of this.#retired) {
      if (this.#retired.size <= MAX_RETIRED) return;
      this.#retired.delete(oldest);
      this.#forget(oldest);
    }
  }

  #forget(uid: string): void {
    const { values = [] } = this.#pods.get(uid) ?? {};
    this.#pods.delete(uid);
    for (const pattern of [...values].flatMap(patternsOf)) {
      const entry = this.#patterns.get(pattern);
      if (entry !== undefined && entry.pods > 1) {
        this.#patterns.set(pattern, { ...entry, pods: entry.pods - 1 });
        continue;
      }
      this.#patterns.delete(pattern);
      this.#index.delete(pattern);
    }
  }
}

const isSecret = (value: string): boolean => value.length >= MIN_PATTERN_LENGTH && !PLAIN_WORD.test(value);

/**
 * Returns the secret values of a pod that are not in `known`. A value that the manifest also contains elsewhere, e.g.
 * in a path or a name, is not secret.
 */
function newSecretsOf(pod: Pod, known: ReadonlySet<string>): Set<string> {
  const values = new Set<string>();
  const publicTexts = new Set<string>();
  const collect = (name: string, value: unknown) => {
    if (typeof value === 'string') publicTexts.add(value);
    if (!isObject(value) || name === 'annotations' || name === 'command' || name === 'args') return;
    for (const [key, member] of Object.entries(value)) {
      if (NAMED_VALUES.has(name) && isObject(member) && typeof member.value === 'string') values.add(member.value);
      else collect(key, member);
      if (HOOKS.has(name) && key === 'exec') for (const arg of commandOf(member).slice(1)) values.add(arg);
    }
  };
  collect('', { metadata: pod.metadata, spec: pod.spec });
  const secrets = new Set([...values].filter((value) => isSecret(value) && !known.has(value)));
  if (secrets.size === 0) return secrets;
  const index = new PatternIndex(secrets);
  for (const text of publicTexts) for (const value of index.findIn(text)) secrets.delete(value);
  return secrets;
}

/** Returns the command of a hook's action, the program first. */
function commandOf(exec: unknown): string[] {
  const command: unknown = isObject(exec) ? exec.command : undefined;
  return Array.isArray(command) ? command.map(String) : [];
}

/** Returns the texts that represent a value, i.e. the value itself and, if different, its JSON form. */
function patternsOf(value: string): string[] {
  const asJson = inJson(value);
  return asJson === value ? [value] : [value, asJson];
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);
