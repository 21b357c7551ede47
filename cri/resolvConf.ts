import { type Stats, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ResolvConf } from './nodeDescription.ts';

/** What pods resolve with where the node is told to take no resolv.conf: a resolver on the pod's own host. */
export const localResolver: ResolvConf = { servers: ['127.0.0.1'], searches: ['.'], options: [] };

/**
 * Reads the resolv.conf of a host each time it is asked; rejects when it cannot be read, or says nothing that makes sense.
 * One look tells whether it is the file that was read last: each pod asks twice, and the kernel has at hand what it tells.
 */
export function resolvConfReader(file: string): () => Promise<ResolvConf> {
  let last: { readonly version: string; readonly conf: ResolvConf } | undefined;
  return async () => {
    const version = versionOf(file);
    if (last !== undefined && last.version === version) return last.conf;
    const conf = parseResolvConf(await readFile(file, 'utf8'));
    last = version === undefined ? undefined : { version, conf };
    return conf;
  };
}

/** Rights change the time of its status, too. Undefined where it cannot be seen. */
function versionOf(file: string): string | undefined {
  try {
    return versionIn(statSync(file));
  } catch {
    // Reading it says why.
    return undefined;
  }
}

const versionIn = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string => [dev, ino, size, mtimeMs, ctimeMs].join(' ');

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
