import { ConfigError } from '../../../node/config/configError.ts';
import type { PodPart } from '../../../show/explain/explainPart.ts';
import { connectAgent } from '../../connectAgent.ts';
import { formatObject } from '../../output/formatObject.ts';
import { KINDS, parseResource, unknownKindError } from './resource.ts';

export interface ExplainOptions {
  readonly namespace?: string;
  /** Container to explain instead of the whole pod. */
  readonly container?: string;
  /** Volume to explain instead of the whole pod. */
  readonly volume?: string;
  /** Hypothetical value of an eviction signal, e.g. `memory.available=50Mi`. Applies only to a node. */
  readonly if?: string;
  readonly output?: 'json';
  readonly rootDir?: string;
  readonly stateDir?: string;
}

const POD_KINDS: readonly string[] = KINDS.pods;

/** Parses `pod/NAME`, `pod NAME` or `NAME`. */
export function parsePodName(args: readonly string[]): string {
  const [kind = '', name, ...rest] = args.flatMap((word) => word.split('/'));
  if (name === undefined && POD_KINDS.includes(kind)) throw new ConfigError('which pod? expected pod/NAME');
  if (name === undefined) return kind;
  if (!POD_KINDS.includes(kind)) throw unknownKindError(kind, { knownKinds: [...KINDS.pods, ...KINDS.nodes] });
  if (name === '' || rest.length > 0) throw new ConfigError(`${args.join(' ')}: expected pod/NAME`);
  return name;
}

/** Parses `node`, `node/NAME` or `node NAME`. Undefined if the arguments name a pod. */
export function parseNodeArgument(args: readonly string[]): { readonly name?: string } | undefined {
  const [kind = ''] = args.flatMap((word) => word.split('/'));
  return KINDS.nodes.some((name) => name === kind) ? parseResource(args, ['nodes']) : undefined;
}

/** Returns the path of the node's explanation, or undefined if the arguments name a pod. */
export function nodeExplanationPath(args: readonly string[]): string | undefined {
  const node = parseNodeArgument(args);
  if (node === undefined) return undefined;
  return node.name === undefined ? '/explain/node' : `/explain/node/${encodeURIComponent(node.name)}`;
}

/** Prints why a pod or the node is in its current state. */
export async function explain(
  args: readonly string[],
  options: ExplainOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const part = selectedPart(options);
  const node = nodeExplanationPath(args);
  if (node !== undefined && part) throw new ConfigError(`--${part.kind}: a node has none, expected pod/NAME`);
  if (node === undefined && options.if !== undefined)
    throw new ConfigError('--if: only a node has resources, expected node');
  const query = options.if === undefined ? '' : `?${new URLSearchParams({ if: options.if })}`;
  const path = node !== undefined ? `${node}${query}` : `${podExplanationPath(args, options)}${partPath(part)}`;
  const agent = await connectAgent(options);
  if (options.output === 'json') write(await formatObject(await agent.json(path), 'json'));
  else write(await agent.text(path, terminalWidth()));
}

/**
 * Returns the width in columns of the terminal on standard output. Undefined if standard output is a file or a pipe, or
 * if the width is unknown.
 */
export const terminalWidth = (): number | undefined =>
  process.stdout.isTTY ? process.stdout.columns || undefined : undefined;

/**
 * Returns the container or volume that the flags select. Undefined for the whole pod. Throws a `ConfigError` if both
 * flags are set.
 */
export function selectedPart({ container, volume }: Pick<ExplainOptions, 'container' | 'volume'>): PodPart | undefined {
  if (container !== undefined && volume !== undefined) {
    throw new ConfigError('--volume: cannot be used together with --container');
  }
  if (container !== undefined) return { kind: 'container', name: container };
  return volume === undefined ? undefined : { kind: 'volume', name: volume };
}

/** Returns the path of the explanation of a container or volume, relative to the path of the pod's explanation. */
const partPath = (part: PodPart | undefined): string =>
  part === undefined ? '' : `/${part.kind}s/${encodeURIComponent(part.name)}`;

function podExplanationPath(args: readonly string[], { namespace }: ExplainOptions): string {
  const namespacePath = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/explain${namespacePath}/pods/${encodeURIComponent(parsePodName(args))}`;
}
