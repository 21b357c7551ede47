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

/** Prints why a pod is in the state it is in. */
export async function explain(
  words: readonly string[],
  options: ExplainOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const name = podNameOf(words);
  const agent = await findAgent(candidateSockets(options));
  const where = options.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(options.namespace)}`;
  const resource = `/explain${where}/pods/${encodeURIComponent(name)}`;
  if (options.output === 'json') write(`${JSON.stringify(await agent.json(resource), null, 4)}\n`);
  else write(await agent.text(resource));
}
