import type { ResolvConf } from './nodeFacts.ts';

/** What pods resolve with where the node is told to take no resolv.conf: a resolver on the pod's own host. */
export const localResolver: ResolvConf = { servers: ['127.0.0.1'], searches: ['.'], options: [] };

/** Reads a resolv.conf: all name servers, the last search list, all options. */
export function parseResolvConf(text: string): ResolvConf {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const all = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...words]) => words);
  return {
    servers: all('nameserver').flatMap((words) => words.slice(0, 1)),
    // With and without a dot at its end a domain is the same.
    searches: (all('search').at(-1) ?? []).map((search) => (search === '.' ? search : search.replace(/\.$/, ''))),
    options: all('options').flat(),
  };
}
