/**
 * Removes secrets from everything that leaves the agent, i.e. recordings, keyframes, explanations and logs. Secrets are
 * the values of pods' environment variables and HTTP headers, and the hooks' commands. Each is replaced by a keyed
 * digest, so equal values and changes remain recognizable. The key is not stored.
 */

import { hash, randomBytes } from 'node:crypto';
import { isObject } from '../../base/values/isObject.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { MIN_PATTERN_LENGTH, PatternIndex } from './patternIndex.ts';

export interface Redaction {
  /** Learns the secret values of a source's pods. From then on, strings are searched for these values. */
  learn(fact: NodeFact): void;
  /**
   * Learns the secret values of an earlier agent's pods, because responses that concern these pods arrive before any
   * source reports them.
   */
  readonly learnPods: (pods: Iterable<Pod>) => void;
  /** Learns secret values that a pod's spec only references but that the pod's containers receive. */
  readonly learnValues: (uid: string, values: Iterable<string>) => void;
  /** Returns a redacted value. The original is not modified, and parts without secrets are not copied. */
  readonly redact: <T>(value: T) => T;
  /** Returns a function that redacts several values. An object shared by them is redacted only once. */
  readonly redactor: () => <T>(value: T) => T;
  /** Redacts all strings in a value at any depth, because errors and container output may quote a secret. */
  readonly texts: <T>(value: T) => T;
}

/** Fields whose items have a name and a value that may be secret. */
const NAMED_VALUE_FIELDS = new Set(['env', 'httpHeaders']);
/** Fields that contain a hook, whose command arguments may be secret. */
const HOOK_FIELDS = new Set(['postStart', 'preStop']);
/**
 * Fields in which even single-word strings are searched for secrets. In all other fields, only strings of several words
 * are searched.
 */
const TEXT_FIELDS = new Set(['message', 'said', 'lines', 'command', 'args', 'annotations']);
/** The annotation in which kubectl stores the whole manifest. */
const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/**
 * Plain words are not searched for, because words such as `running` or `production` also occur in the agent's own
 * messages.
 */
const PLAIN_WORD_PATTERN = /^(?:[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14})$/;
/** Matches digests, which must not be redacted again. */
const DIGEST_PATTERN = /^redacted-[0-9a-f]{16}$/;
/** Maximum number of removed pods whose values are remembered, because later messages may still quote them. */
const MAX_REMOVED_PODS = 200;

export function createRedaction(key: Buffer = randomBytes(32)): Redaction {
  const redactor = new Redactor(key.toString('hex'));
  // Safe casts: strings are only ever replaced with strings.
  return {
    learn: (fact) => redactor.values.learn(fact),
    learnPods: (pods) => redactor.values.learnPods(pods),
    learnValues: (uid, values) => redactor.values.learnValues(uid, values),
    redact: (value) => redactor.redactAll(value, false) as typeof value,
    redactor: () => {
      const sharedRedactor = new Redactor(key.toString('hex'), redactor.values);
      return (value) => sharedRedactor.redact(value, false) as typeof value;
    },
    texts: (value) => redactor.redactAll(value, true) as typeof value,
  };
}

class Redactor {
  readonly values: SecretValues;
  /** The key in hexadecimal, which is prepended to each value before hashing. An HMAC would take 20 times as long. */
  readonly #hashKey: string;
  /**
   * Redacted copies of objects in which every string is searched for secrets. Keyed by the original object, and only
   * valid for the current value.
   */
  readonly #redactedTexts = new Map<object, unknown>();
  /**
   * Redacted copies of objects in which only some strings are searched for secrets. Keyed by the original object, and
   * only valid for the current value.
   */
  readonly #redactedObjects = new Map<object, unknown>();

  constructor(key: string, values = new SecretValues()) {
    this.#hashKey = key;
    this.values = values;
  }

  /**
   * Redacts a value. An object that occurs in the value repeatedly is redacted only once, because the actors of a
   * keyframe share pods.
   */
  redactAll(value: unknown, isText: boolean): unknown {
    try {
      return this.redact(value, isText);
    } finally {
      this.#redactedTexts.clear();
      this.#redactedObjects.clear();
    }
  }

  redact(value: unknown, isText: boolean): unknown {
    if (typeof value === 'string') return isText || /\s/.test(value) ? this.#redactText(value) : value;
    if (!isObject(value)) return value;
    const redactedCache = isText ? this.#redactedTexts : this.#redactedObjects;
    const cachedResult = redactedCache.get(value);
    if (cachedResult !== undefined) return cachedResult;
    const result = this.#redactMembers(value, isText);
    redactedCache.set(value, result);
    return result;
  }

  #redactMembers(value: Readonly<Record<string, unknown>>, isText: boolean): object {
    // This runs for every input of the actors, so copy only objects that contain a secret.
    let copy: object | undefined;
    Object.keys(value).forEach((name) => {
      const memberValue = lookUp(value, name);
      if (typeof memberValue !== 'string' && !isObject(memberValue)) return;
      const redactedMember = this.#redactField(name, memberValue, isText);
      if (redactedMember === memberValue) return;
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      // Use `defineProperty`, because assigning to `__proto__` would set the prototype.
      Object.defineProperty(copy, name, {
        value: redactedMember,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    });
    return copy ?? value;
  }

  #redactField(name: string, value: unknown, isText: boolean): unknown {
    if (name === LAST_APPLIED_ANNOTATION && typeof value === 'string') return this.#digest(value);
    if (name === 'preStop' && typeof value === 'string') return this.#hookAnnotation(value);
    if (HOOK_FIELDS.has(name) && isObject(value)) return this.#redactHook(value);
    if (!NAMED_VALUE_FIELDS.has(name) || !Array.isArray(value))
      return this.redact(value, isText || TEXT_FIELDS.has(name));
    return value.map((item: unknown) =>
      isObject(item) && typeof item.value === 'string'
        ? { ...item, value: this.#digest(item.value) }
        : this.redact(item, isText),
    );
  }

  #redactHook(hook: Readonly<Record<string, unknown>>): unknown {
    const redactedHook = this.redact(hook, false);
    const { exec } = hook;
    const [program, ...args] = readCommand(exec);
    if (args.length === 0 || !isObject(exec) || !isObject(redactedHook)) return redactedHook;
    return { ...redactedHook, exec: { ...exec, command: [program, ...args.map((arg) => this.#digest(arg))] } };
  }

  /** Redacts a hook in JSON, as stored in an annotation of the runtime's container. */
  #hookAnnotation(json: string): string {
    try {
      const parsedHook: unknown = JSON.parse(json);
      const redactedHook = isObject(parsedHook) ? this.#redactHook(parsedHook) : parsedHook;
      return redactedHook === parsedHook ? json : JSON.stringify(redactedHook);
    } catch {
      return this.#digest(json);
    }
  }

  #redactText(text: string): string {
    return this.values
      .findQuoted(text)
      .reduce((redacted, [pattern, value]) => redacted.replaceAll(pattern, this.#digest(value)), text);
  }

  #digest(value: string): string {
    if (value === '' || DIGEST_PATTERN.test(value)) return value;
    return `redacted-${hash('sha256', this.#hashKey + value).slice(0, 16)}`;
  }
}

/** The secret values of a pod. `source` is undefined unless a source currently lists the pod. */
interface PodValues {
  readonly source?: string;
  readonly name: string;
  readonly values: Set<string>;
}

/**
 * The secret values of current and recently removed pods. Values shorter than `MIN_PATTERN_LENGTH`, such as `true` and
 * `8080`, occur in many strings and are not secret.
 */
class SecretValues {
  /** Keyed by UID. */
  readonly #pods = new Map<string, PodValues>();
  /** UIDs of removed pods, and of an earlier agent's pods that no source has listed yet, oldest first. */
  readonly #removedUids = new Set<string>();
  /**
   * Strings that represent a value, i.e. the value itself and its JSON form, with the number of pods that have the
   * value.
   */
  readonly #patterns = new Map<string, { readonly value: string; readonly pods: number }>();
  readonly #patternIndex = new PatternIndex();

  learn(fact: NodeFact): void {
    if (fact.type === 'config.podsListed') {
      const listedUids = new Set(fact.pods.map(({ metadata }) => metadata.uid));
      const removedPods = [...this.#pods].filter(([uid, { source }]) => source === fact.source && !listedUids.has(uid));
      for (const [uid, podValues] of removedPods) this.#retirePod(uid, podValues);
      for (const pod of fact.pods) this.#addPod(pod, fact.source);
    }
    if (fact.type !== 'config.podChanged') return;
    if (fact.change === 'removed') this.#retirePod(fact.uid, this.#pods.get(fact.uid));
    else this.#addPod(fact.pod, fact.source);
  }

  learnPods(pods: Iterable<Pod>): void {
    for (const pod of pods) this.#addPod(pod);
  }

  /** Adds values to a pod. Values of an unknown pod are ignored, because no container receives them. */
  learnValues(uid: string, values: Iterable<string>): void {
    const podValues = this.#pods.get(uid);
    if (podValues === undefined) return;
    for (const value of values) if (isSecretValue(value)) this.#addValue(podValues, value);
  }

  /**
   * Returns the patterns in a string with their values, the longest first, because a pattern may be part of a longer
   * one.
   */
  findQuoted(text: string): (readonly [pattern: string, value: string])[] {
    const quotedValues: (readonly [string, string])[] = [];
    for (const pattern of this.#patternIndex.findIn(text)) {
      const { value } = this.#patterns.get(pattern) ?? {};
      if (value !== undefined && !this.#isInPodName(value)) quotedValues.push([pattern, value]);
    }
    return quotedValues.sort(([a], [b]) => b.length - a.length);
  }

  /** Whether a value is part of a pod's name, which is not secret. */
  #isInPodName(value: string): boolean {
    return [...this.#pods.values()].some(({ name }) => name.includes(value));
  }

  /** Adds a pod's values. Those of earlier versions are retained, because a container may still run with them. */
  #addPod(pod: Pod, source?: string): void {
    const { uid } = pod.metadata;
    const podValues = {
      ...(source === undefined ? {} : { source }),
      name: namespacedName(pod),
      values: this.#pods.get(uid)?.values ?? new Set<string>(),
    };
    this.#pods.set(uid, podValues);
    if (source === undefined) this.#removedUids.add(uid);
    else this.#removedUids.delete(uid);
    for (const value of findNewSecrets(pod, podValues.values)) this.#addValue(podValues, value);
  }

  #addValue({ values }: PodValues, value: string): void {
    if (values.has(value)) return;
    values.add(value);
    for (const pattern of createPatterns(value)) {
      const { pods } = this.#patterns.get(pattern) ?? { pods: 0 };
      this.#patterns.set(pattern, { value, pods: pods + 1 });
      if (pods === 0) this.#patternIndex.add(pattern);
    }
  }

  #retirePod(uid: string, podValues: PodValues | undefined): void {
    if (podValues === undefined) return;
    const { name, values } = podValues;
    this.#pods.set(uid, { name, values });
    this.#removedUids.delete(uid);
    this.#removedUids.add(uid);
    for (const oldest of this.#removedUids) {
      if (this.#removedUids.size <= MAX_REMOVED_PODS) return;
      this.#removedUids.delete(oldest);
      this.#forgetPod(oldest);
    }
  }

  #forgetPod(uid: string): void {
    const { values = [] } = this.#pods.get(uid) ?? {};
    this.#pods.delete(uid);
    for (const pattern of [...values].flatMap(createPatterns)) {
      const patternEntry = this.#patterns.get(pattern);
      if (patternEntry !== undefined && patternEntry.pods > 1) {
        this.#patterns.set(pattern, { ...patternEntry, pods: patternEntry.pods - 1 });
        continue;
      }
      this.#patterns.delete(pattern);
      this.#patternIndex.delete(pattern);
    }
  }
}

const isSecretValue = (value: string): boolean => value.length >= MIN_PATTERN_LENGTH && !PLAIN_WORD_PATTERN.test(value);

/**
 * Returns the secret values of a pod that are not in `knownSecrets`. A value that the manifest also contains elsewhere,
 * e.g. in a path or a name, is not secret.
 */
function findNewSecrets(pod: Pod, knownSecrets: ReadonlySet<string>): Set<string> {
  const values = new Set<string>();
  const publicTexts = new Set<string>();
  const collectValues = (name: string, value: unknown) => {
    if (typeof value === 'string') publicTexts.add(value);
    if (!isObject(value) || name === 'annotations' || name === 'command' || name === 'args') return;
    for (const [key, member] of Object.entries(value)) {
      if (NAMED_VALUE_FIELDS.has(name) && isObject(member) && typeof member.value === 'string')
        values.add(member.value);
      else collectValues(key, member);
      if (HOOK_FIELDS.has(name) && key === 'exec') for (const arg of readCommand(member).slice(1)) values.add(arg);
    }
  };
  collectValues('', { metadata: pod.metadata, spec: pod.spec });
  const secrets = new Set([...values].filter((value) => isSecretValue(value) && !knownSecrets.has(value)));
  if (secrets.size === 0) return secrets;
  const index = new PatternIndex(secrets);
  for (const text of publicTexts) for (const value of index.findIn(text)) secrets.delete(value);
  return secrets;
}

/** Returns the command of a hook's action, the program first. */
function readCommand(exec: unknown): string[] {
  const command: unknown = isObject(exec) ? exec.command : undefined;
  return Array.isArray(command) ? command.map(String) : [];
}

/** Returns the strings that represent a value, i.e. the value itself and, if different, its JSON form. */
function createPatterns(value: string): string[] {
  const escapedValue = escapeForJson(value);
  return escapedValue === value ? [value] : [value, escapedValue];
}

const escapeForJson = (value: string): string => JSON.stringify(value).slice(1, -1);
