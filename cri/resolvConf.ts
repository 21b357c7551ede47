import type { ResolvConf } from './nodeFacts.ts';

/** Reads a resolv.conf: all name servers, the last search list, all options. */
export function parseResolvConf(text: string): ResolvConf {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const all = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...words]) => words);
  return {
    servers: all('nameserver').flatMap((words) => words.slice(0, 1)),
    searches: all('search').at(-1) ?? [],
    options: all('options').flat(),
  };
}
