import type { Container, EnvFromSource, EnvVarSource } from '../api/schema/container.ts';
import { NodeFailure } from '../failure.ts';

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

/** A container's environment (C21): env beats envFrom beats services; `$(VAR)` sees what stands before it. */
export function containerEnvironment(container: Container, lookups: EnvLookups): EnvEntry[] {
  const known = new Map(Object.entries(lookups.services ?? {}));
  for (const from of container.envFrom ?? []) {
    for (const [key, value] of Object.entries(lookups.all(from) ?? {})) known.set(`${from.prefix ?? ''}${key}`, value);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found =
      valueFrom === undefined ? expand(value ?? '', (each) => known.get(each)) : resolved(name, valueFrom, lookups);
    if (found !== undefined) known.set(name, found);
  }
  return Array.from(known, ([name, value]) => ({ name, value }));
}

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

/** Replaces each `$(VAR)` that is known (C21); `$$` is a dollar, what is unknown or unfinished stays as written. */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (written, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? written),
  );
}

/** A container's command and arguments with the variables of its environment in them (C21). */
export function expandedCommand(
  container: Container,
  environment: readonly EnvEntry[],
): { command: string[]; args: string[] } {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const filled = (texts: readonly string[] | undefined) =>
    (texts ?? []).map((text) => expand(text, (name) => values.get(name)));
  return { command: filled(container.command), args: filled(container.args) };
}
