import { readFile } from 'node:fs/promises';
import type { ResolvConf } from './nodeDescription.ts';

/** What pods resolve with where the node is told to take no resolv.conf: a resolver on the pod's own host. */
export const localResolver: ResolvConf = { servers: ['127.0.0.1'], searches: ['.'], options: [] };

/** Reads the resolv.conf of a host; rejects when it cannot be read, or says nothing that makes sense. */
export async function readResolvConf(file: string): Promise<ResolvConf> {
  return parseResolvConf(await readFile(file, 'utf8'));
}

/** Parses a resolv.conf: all name servers, the last search list, all options; throws for a name server without address. */
export function parseResolvConf(text: string): ResolvConf {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const all = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...words]) => words);
  return {
    servers: all('nameserver').map(([address]) => {
      if (address !== undefined) return address;
      throw new Error('Encountered error while parsing resolv conf file. Error: nameserver list is empty');
    }),
    // With and without a dot at its end a domain is the same; the root alone is none.
    searches: (all('search').at(-1) ?? []).flatMap((search) => (search === '.' ? [] : [search.replace(/\.$/, '')])),
    // Of one name the last.
    options: [
      ...new Map(
        all('options')
          .flat()
          .map((option) => [option.split(':', 1)[0], option]),
      ).values(),
    ],
  };
}
