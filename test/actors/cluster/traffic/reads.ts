/** Collects the objects and tokens that a node requests on behalf of its pods. */
import { lookUp } from '../../../../base/values/lookUp.ts';
import { fieldsOf, plainText } from './plain.ts';
import type { SentRequest } from './recording.ts';

export interface Reads {
  /** Number of watches of each single object, e.g. of `configmaps/cm`. */
  readonly watches: ReadonlyMap<string, number>;
  /** The requested tokens, in order, e.g. `default {"audiences":["vault"],…}`. */
  readonly tokens: readonly string[];
}

const OBJECTS = /^\/api\/v1\/namespaces\/[^/]+\/(configmaps|secrets)$/;
const TOKENS = /^\/api\/v1\/namespaces\/[^/]+\/serviceaccounts\/([^/]+)\/token$/;

export function readsOf(requests: readonly SentRequest[]): Reads {
  const watched = requests.flatMap(({ verb, path, object }) => {
    const [, kind] = OBJECTS.exec(path) ?? [];
    return verb === 'WATCH' && kind !== undefined ? [`${kind}/${object}`] : [];
  });
  const tokens = requests.flatMap(({ path, body }) => {
    const [, account] = TOKENS.exec(path) ?? [];
    return account === undefined ? [] : [`${account} ${plainText(lookUp(fieldsOf(body), 'spec'))}`];
  });
  const watches = Map.groupBy(watched, (what) => what);
  return { watches: new Map([...watches].map(([what, all]) => [what, all.length])), tokens };
}
