import { NodeFailure } from '../../base/failure.ts';
import { utf8Length } from '../../base/text/utf8.ts';
import type { Container, EnvFromSource, EnvVarSource } from '../api/schema/container.ts';

export interface EnvVariable {
  readonly name: string;
  readonly value: string;
}

/**
 * Functions that resolve the references in a container's spec. They return undefined for an optional value that does
 * not exist.
 */
export interface EnvLookups {
  readonly resolveValueSource: (source: EnvVarSource) => string | undefined;
  readonly resolveAllValues: (source: EnvFromSource) => Readonly<Record<string, string>> | undefined;
  /** Environment variables with the addresses of services. Variables from any other origin override them. */
  readonly services?: Readonly<Record<string, string>>;
}

/**
 * A variable before expansion. `field` is the path of a literal value, and is undefined for all other values, which are
 * not expanded. `isVolatile` is set if the value can change although neither the pod nor an object changes.
 */
interface UnexpandedVariable {
  readonly name: string;
  readonly value: string;
  readonly field?: string;
  readonly isVolatile?: boolean;
}

/**
 * Maximum message size of a runtime in bytes (`maxMsgSize` in `cri-client/pkg/utils.go`). The limit also protects the
 * memory of the agent, because about thirty environment variables that each reference the previous one twice would
 * exhaust it.
 */
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

/**
 * Returns a container's environment (C21). `env` overrides `envFrom`, which overrides services. `$(VAR)` refers only to
 * variables that are defined earlier. If the result would be too large, throws `CreateContainerConfigError` before
 * expanding anything. That failure is permanent, unless the values of services or files contribute to it.
 */
export function containerEnvironment(container: Container, lookups: EnvLookups): EnvVariable[] {
  const unexpandedVariables = [...variablesOf(container, lookups)];
  const oversizedField = findOversizedField(unexpandedVariables);
  if (oversizedField !== undefined) {
    const fixedVariables = unexpandedVariables.filter(({ isVolatile }) => !isVolatile);
    throw environmentTooLargeError(oversizedField, findOversizedField(fixedVariables) !== undefined);
  }
  const values = new Map<string, string>();
  for (const { name, value, field } of unexpandedVariables) {
    values.set(name, field === undefined ? value : expandReferences(value, (each) => values.get(each)));
  }
  return Array.from(values, ([name, value]) => ({ name, value }));
}

function* variablesOf(container: Container, lookups: EnvLookups): Generator<UnexpandedVariable> {
  for (const [name, value] of Object.entries(lookups.services ?? {})) yield { name, value, isVolatile: true };
  for (const from of container.envFrom ?? []) {
    for (const [key, value] of Object.entries(lookups.resolveAllValues(from) ?? {})) {
      yield { name: `${from.prefix ?? ''}${key}`, value };
    }
  }
  for (const [index, { name, value = '', valueFrom }] of (container.env ?? []).entries()) {
    if (valueFrom === undefined) {
      yield { name, value, field: `env[${index}].value` };
      continue;
    }
    const resolvedValue = resolveValue(name, valueFrom, lookups);
    if (resolvedValue !== undefined)
      yield { name, value: resolvedValue, isVolatile: valueFrom.fileKeyRef !== undefined };
  }
}

/** Returns the field at which the environment exceeds the maximum message size, or undefined if it does not. */
function findOversizedField(variables: readonly UnexpandedVariable[]): string | undefined {
  const sizes = new Map<string, number>();
  let totalBytes = 0;
  for (const { name, value, field } of variables) {
    const size = field === undefined ? utf8Length(value) : expandedBytes(value, (each) => sizes.get(each));
    totalBytes += size - (sizes.get(name) ?? 0);
    sizes.set(name, size);
    if (totalBytes > MAX_MESSAGE_BYTES) return field ?? `variable ${name}`;
  }
  return undefined;
}

const environmentTooLargeError = (field: string, isPermanent: boolean): NodeFailure =>
  new NodeFailure(
    'CreateContainerConfigError',
    `${field}: the values up to here are longer than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB once $(VAR) is expanded, and no runtime accepts more`,
    { isPermanent },
  );

function resolveValue(name: string, valueSource: EnvVarSource, { resolveValueSource }: EnvLookups): string | undefined {
  const value = resolveValueSource(valueSource);
  const { configMapKeyRef, secretKeyRef, fileKeyRef } = valueSource;
  if (value !== undefined || (configMapKeyRef ?? secretKeyRef ?? fileKeyRef)?.optional) return value;
  const missingMessage =
    fileKeyRef && `environment variable key "${fileKeyRef.key}" not found in file "${fileKeyRef.path}"`;
  throw new NodeFailure(
    'CreateContainerConfigError',
    missingMessage ?? `couldn't find its value for the environment variable ${name}`,
  );
}

const REFERENCE_PATTERN = /\$(?:\$|\(([^)]*)\))/g;

/**
 * Replaces each `$(VAR)` for which `lookup` returns a value (C21). `$$` becomes a dollar sign. Unknown or incomplete
 * references remain unchanged.
 */
export function expandReferences(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(REFERENCE_PATTERN, (reference, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  );
}

/** Returns the UTF-8 length of the result of `expandReferences` without computing the result. */
function expandedBytes(text: string, sizeOf: (name: string) => number | undefined): number {
  let size = utf8Length(text);
  for (const [reference, name] of text.matchAll(REFERENCE_PATTERN)) {
    const replacementSize = name === undefined ? 1 : sizeOf(name);
    if (replacementSize !== undefined) size += replacementSize - utf8Length(reference);
  }
  return size;
}

/**
 * Expands several strings, e.g. the words of a command. If the result would exceed the maximum message size of a
 * runtime, throws `CreateContainerConfigError` before expanding anything. `field` is the path of the list, e.g. `args`.
 * `isPermanent` determines whether that failure is permanent.
 */
export function expandAll(
  texts: readonly string[],
  values: ReadonlyMap<string, string>,
  field: string,
  isPermanent: boolean,
): string[] {
  const sizes = new Map<string, number>();
  const sizeOf = (name: string): number | undefined => {
    const value = values.get(name);
    if (value === undefined) return undefined;
    const size = sizes.get(name) ?? utf8Length(value);
    sizes.set(name, size);
    return size;
  };
  let totalBytes = 0;
  for (const [index, text] of texts.entries()) {
    totalBytes += expandedBytes(text, sizeOf);
    if (totalBytes > MAX_MESSAGE_BYTES) throw environmentTooLargeError(`${field}[${index}]`, isPermanent);
  }
  return texts.map((text) => expandReferences(text, (name) => values.get(name)));
}

/** Whether any of a container's variables come from files in a volume. Such values may change at any time. */
export const usesEnvFiles = ({ env = [] }: Pick<Container, 'env'>): boolean =>
  env.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined);

/** Returns a container's command and arguments with environment variables expanded (C21). */
export function expandedCommand(
  container: Container,
  environment: readonly EnvVariable[],
): { command: string[]; args: string[] } {
  const { command = [], args = [] } = container;
  if (command.length + args.length === 0) return { command: [], args: [] };
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const isPermanent = !usesEnvFiles(container);
  return {
    command: expandAll(command, values, 'command', isPermanent),
    args: expandAll(args, values, 'args', isPermanent),
  };
}
