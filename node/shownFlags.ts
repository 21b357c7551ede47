/** How the agent was started, for those who may read that from its API: without what may be secret in it. */
import type { NodeConfig } from './config/nodeConfig.ts';

/** What may hold a password or a token. */
const SECRET: readonly string[] = ['--manifest-url', '--manifest-url-header'];
const MASKED = '<masked>';

/** The words of a command line. */
export function ownCommand(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const [name = '', value] = word.split('=', 2);
    if (SECRET.includes(words[at - 1] ?? '')) return MASKED;
    return value !== undefined && SECRET.includes(name) ? `${name}=${MASKED}` : word;
  });
}

/** The flags that were given, by their names without dashes. */
export function shownFlags({ given }: Pick<NodeConfig, 'given'>): ReadonlyMap<string, string> {
  const set = Object.entries(given.flags).filter(([, value]) => value !== undefined);
  return new Map(
    set.map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name.slice(2), SECRET.includes(name) ? MASKED : text];
    }),
  );
}
