import { findAgent } from '../server/client.ts';
import { ConfigError } from './config/configError.ts';
import { suggestion } from './config/fields.ts';
import { candidateSockets } from './places.ts';

export interface ExplainOptions {
  readonly namespace?: string;
  readonly output?: 'json';
  readonly rootDir?: string;
  readonly stateDir?: string;
}

const KINDS = ['pod', 'pods', 'po'];

/** The pod's name of `pod/NAME`, `pod NAME` or plain `NAME`. */
export function podNameOf(words: readonly string[]): string {
  const [kind = '', name, ...rest] = words.flatMap((word) => word.split('/'));
  if (name === undefined && KINDS.includes(kind)) throw new ConfigError('which pod? expected pod/NAME');
  if (name === undefined) return kind;
  if (!KINDS.includes(kind)) throw new ConfigError(`${kind}: unknown kind of resource${suggestion(kind, KINDS)}`);
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected pod/NAME`);
  return name;
}

const NODE_KINDS = ['node', 'nodes', 'no'];

/** The resource of `node`, `node/NAME` or `node NAME`; undefined when the words mean a pod. */
export function nodeResourceOf(words: readonly string[]): string | undefined {
  const [kind = '', name, ...rest] = words.flatMap((word) => word.split('/'));
  if (!NODE_KINDS.includes(kind)) return undefined;
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected node or node/NAME`);
  return name === undefined ? '/explain/node' : `/explain/node/${encodeURIComponent(name)}`;
}

/** Prints why a pod, or the node itself, is in the state it is in. */
export async function explain(
  words: readonly string[],
  options: ExplainOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const resource = nodeResourceOf(words) ?? podResourceOf(words, options);
  const agent = await findAgent(candidateSockets(options));
  if (options.output === 'json') write(`${JSON.stringify(await agent.json(resource), null, 4)}\n`);
  else write(await agent.text(resource));
}

function podResourceOf(words: readonly string[], { namespace }: ExplainOptions): string {
  const where = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `/explain${where}/pods/${encodeURIComponent(podNameOf(words))}`;
}
