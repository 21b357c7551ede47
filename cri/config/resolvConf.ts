import { type Stats, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ResolvConf } from '../nodeDescription.ts';

/**
 * DNS configuration of pods if the node is configured without a resolv.conf. Its name server is a resolver in the pod
 * itself.
 */
export const localResolver: ResolvConf = { servers: ['127.0.0.1'], searches: ['.'], options: [] };

/**
 * Returns a function that reads the host's resolv.conf. The function rejects if the file cannot be read or parsed. It
 * stats the file first and returns the cached contents if the file is unchanged, because every pod reads it twice.
 */
export function createResolvConfReader(file: string): () => Promise<ResolvConf> {
  let cachedConf: { readonly version: string; readonly conf: ResolvConf } | undefined;
  return async () => {
    const version = fileVersion(file);
    if (cachedConf !== undefined && cachedConf.version === version) return cachedConf.conf;
    const parsedConf = parseResolvConf(await readFile(file, 'utf8'));
    cachedConf = version === undefined ? undefined : { version, conf: parsedConf };
    return parsedConf;
  };
}

/**
 * Returns a key that changes whenever the contents or metadata of the file change, or undefined if the file cannot be
 * accessed.
 */
function fileVersion(file: string): string | undefined {
  try {
    return formatVersion(statSync(file));
  } catch {
    // The subsequent read of the file reports the error.
    return undefined;
  }
}

const formatVersion = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs].join(' ');

/**
 * Parses a resolv.conf and returns all name servers, the last search list and all options. Throws if a name server has
 * no address.
 */
export function parseResolvConf(contents: string): ResolvConf {
  const directives = contents.split('\n').map((line) => line.trim().split(/\s+/));
  const directiveArguments = (keyword: string) =>
    directives.filter(([first]) => first === keyword).map(([, ...words]) => words);
  return {
    servers: directiveArguments('nameserver').map(([address]) => {
      if (address !== undefined) return address;
      throw new Error('Encountered error while parsing resolv conf file. Error: nameserver list is empty');
    }),
    // Remove a trailing dot, which does not change the meaning of a search domain, and omit the root domain.
    searches: (directiveArguments('search').at(-1) ?? []).flatMap((search) =>
      search === '.' ? [] : [search.replace(/\.$/, '')],
    ),
    // If an option occurs several times, the last one applies.
    options: [
      ...new Map(
        directiveArguments('options')
          .flat()
          .map((option) => [option.split(':', 1)[0], option]),
      ).values(),
    ],
  };
}
