import { NodeFailure } from '../../base/failure.ts';
import type { Container, EnvFromSource, EnvVarSource } from '../api/schema/container.ts';

export interface EnvEntry {
  readonly name: string;
  readonly value: string;
}

/** Where values come from that a container's spec only refers to; undefined is for what does not exist, and may not. */
export interface EnvLookups {
  readonly source: (source: EnvVarSource) => string | undefined;
  readonly all: (source: EnvFromSource) => Readonly<Record<string, string>> | undefined;
  /** Those that tell of services, which everything else beats. */
  readonly services?: Readonly<Record<string, string>>;
}

/** A value before its references are expanded. `field` is set for literals, the only values that are expanded. */
interface Unexpanded {
  readonly name: string;
  readonly value: string;
  readonly field?: string;
}

/**
 * Largest message that a runtime accepts, in bytes (`maxMsgSize` in `cri-client/pkg/utils.go`). Each variable that names
 * the one before it twice doubles the size, so some thirty lines of a manifest would fill the memory.
 */
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

/**
 * Returns a container's environment (C21). `env` overrides `envFrom`, which overrides services, and `$(VAR)` sees the
 * variables before it. Throws `CreateContainerConfigError` before anything is expanded if the result is too large.
 */
export function containerEnvironment(container: Container, lookups: EnvLookups): EnvEntry[] {
  const unexpanded = [...variablesOf(container, lookups)];
  assertEnvironmentSize(unexpanded);
  const values = new Map<string, string>();
  for (const { name, value, field } of unexpanded) {
    values.set(name, field === undefined ? value : expand(value, (each) => values.get(each)));
  }
  return Array.from(values, ([name, value]) => ({ name, value }));
}

function* variablesOf(container: Container, lookups: EnvLookups): Generator<Unexpanded> {
  for (const [name, value] of Object.entries(lookups.services ?? {})) yield { name, value };
  for (const from of container.envFrom ?? []) {
    for (const [key, value] of Object.entries(lookups.all(from) ?? {})) {
      yield { name: `${from.prefix ?? ''}${key}`, value };
    }
  }
  for (const [index, { name, value = '', valueFrom }] of (container.env ?? []).entries()) {
    if (valueFrom === undefined) {
      yield { name, value, field: `env[${index}].value` };
      continue;
    }
    const resolvedValue = resolved(name, valueFrom, lookups);
    if (resolvedValue !== undefined) yield { name, value: resolvedValue };
  }
}

function assertEnvironmentSize(variables: readonly Unexpanded[]): void {
  const sizes = new Map<string, number>();
  let total = 0;
  for (const { name, value, field } of variables) {
    const size = field === undefined ? utf8Length(value) : expandedBytes(value, (each) => sizes.get(each));
    total += size - (sizes.get(name) ?? 0);
    sizes.set(name, size);
    if (total > MAX_MESSAGE_BYTES) throw tooLarge(field ?? `variable ${name}`);
  }
}

const tooLarge = (field: string): NodeFailure =>
  new NodeFailure(
    'CreateContainerConfigError',
    `${field}: the values up to here are longer than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB once $(VAR) is expanded, and no runtime accepts more`,
  );

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function resolved(name: string, from: EnvVarSource, { source }: EnvLookups): string | undefined {
  const value = source(from);
  const { configMapKeyRef, secretKeyRef, fileKeyRef } = from;
  if (value !== undefined || (configMapKeyRef ?? secretKeyRef ?? fileKeyRef)?.optional) return value;
  const missing = fileKeyRef && `environment variable key "${fileKeyRef.key}" not found in file "${fileKeyRef.path}"`;
  throw new NodeFailure(
    'CreateContainerConfigError',
    missing ?? `couldn't find its value for the environment variable ${name}`,
  );
}

const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/** Replaces each `$(VAR)` that `lookup` knows (C21). `$$` is a dollar. Unknown and unfinished references stay as written. */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(REFERENCE, (written, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? written),
  );
}

/** Returns the UTF-8 length of what `expand` would return, without building it. */
function expandedBytes(text: string, sizeOf: (name: string) => number | undefined): number {
  let size = utf8Length(text);
  for (const [written, name] of text.matchAll(REFERENCE)) {
    const replaced = name === undefined ? 1 : sizeOf(name);
    if (replaced !== undefined) size += replaced - utf8Length(written);
  }
  return size;
}

/**
 * Expands several texts, such as the words of a command. Throws `CreateContainerConfigError` before anything is expanded
 * if all of them together exceed what a runtime accepts. `field` is the path of the list, such as `args`.
 */
export function expandAll(texts: readonly string[], values: ReadonlyMap<string, string>, field: string): string[] {
  const sizes = new Map<string, number>();
  const sizeOf = (name: string): number | undefined => {
    const value = values.get(name);
    if (value === undefined) return undefined;
    const size = sizes.get(name) ?? utf8Length(value);
    sizes.set(name, size);
    return size;
  };
  let total = 0;
  for (const [index, text] of texts.entries()) {
    total += expandedBytes(text, sizeOf);
    if (total > MAX_MESSAGE_BYTES) throw tooLarge(`${field}[${index}]`);
  }
  return texts.map((text) => expand(text, (name) => values.get(name)));
}

/** Returns a container's command and arguments with the variables of its environment in them (C21). */
export function expandedCommand(
  container: Container,
  environment: readonly EnvEntry[],
): { command: string[]; args: string[] } {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  return {
    command: expandAll(container.command ?? [], values, 'command'),
    args: expandAll(container.args ?? [], values, 'args'),
  };
}
