import { ConfigError } from '../../../node/config/configError.ts';
import type { PodPart } from '../../../show/explain/explainPart.ts';
import { agentNamed } from '../../agent.ts';
import { asText } from '../../output/output.ts';
import { KINDS, resourceOf, unknownKind } from './resource.ts';

export interface ExplainOptions {
  readonly namespace?: string;
  /** Only this container, or this volume, of the pod. */
  readonly container?: string;
  readonly volume?: string;
  readonly output?: 'json';
  readonly rootDir?: string;
  readonly stateDir?: string;
}

const POD_KINDS: readonly string[] = KINDS.pods;

/** The pod's name of `pod/NAME`, `pod NAME` or plain `NAME`. */
export function podNameOf(words: readonly string[]): string {
  const [kind = '', name, ...rest] = words.flatMap((word) => word.split('/'));
  if (name === undefined && POD_KINDS.includes(kind)) throw new ConfigError('which pod? expected pod/NAME');
  if (name === undefined) return kind;
  if (!POD_KINDS.includes(kind)) throw unknownKind(kind, { known: [...KINDS.pods, ...KINDS.nodes] });
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected pod/NAME`);
  return name;
}

/** The node that `node`, `node/NAME` or `node NAME` means; undefined when the words mean a pod. */
export function nodeOf(words: readonly string[]): { readonly name?: string } | undefined {
  const [kind = ''] = words.flatMap((word) => word.split('/'));
  return KINDS.nodes.some((known) => known === kind) ? resourceOf(words, ['nodes']) : undefined;
}

/** The resource that explains the node; undefined when the words mean a pod. */
export function nodeResourceOf(words: readonly string[]): string | undefined {
  const node = nodeOf(words);
  if (node === undefined) return undefined;
  return node.name === undefined ? '/explain/node' : `/explain/node/${encodeURIComponent(node.name)}`;
}

/** Prints why a pod, or the node itself, is in the state it is in. */
export async function explain(
  words: readonly string[],
  options: ExplainOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const part = partOf(options);
  const node = nodeResourceOf(words);
  if (node !== undefined && part) throw new ConfigError(`--${part.kind}: a node has none, expected pod/NAME`);
  const resource = node ?? `${podResourceOf(words, options)}${partPath(part)}`;
  const agent = await agentNamed(options);
  if (options.output === 'json') write(await asText(await agent.json(resource), 'json'));
  else write(await agent.text(resource, terminalWidth()));
}

/** The columns of the terminal that the command prints to. Undefined for a file or a pipe, and if the size is unknown. */
export const terminalWidth = (): number | undefined =>
  process.stdout.isTTY ? process.stdout.columns || undefined : undefined;

/** The part of a pod that the flags ask for; undefined for the pod itself. */
export function partOf({ container, volume }: Pick<ExplainOptions, 'container' | 'volume'>): PodPart | undefined {
  if (container !== undefined && volume !== undefined) {
    throw new ConfigError('--volume: cannot be used together with --container');
  }
  if (container !== undefined) return { kind: 'container', name: container };
  return volume === undefined ? undefined : { kind: 'volume', name: volume };
}

/** Where below its pod a part is explained. */
const partPath = (part: PodPart | undefined): string =>
  part === undefined ? '' : `/${part.kind}s/${encodeURIComponent(part.name)}`;

function podResourceOf(words: readonly string[], { namespace }: ExplainOptions): string {
  const where = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/explain${where}/pods/${encodeURIComponent(podNameOf(words))}`;
}
