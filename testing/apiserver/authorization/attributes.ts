/** The attributes of a request for authorization (`endpoints/request/requestinfo.go` of apiserver). */
import { isTrue } from '../options/writeOptions.ts';

export interface ResourceAttributes {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped requests. */
  readonly namespace: string;
  /** Empty for requests for a collection. */
  readonly name: string;
  /** The field selector of a list or watch, as required values by field. */
  readonly fieldSelector: ReadonlyMap<string, string>;
}

/** A request for a non-resource path. */
export interface PathAttributes {
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

const VERBS: ReadonlyMap<string, string> = new Map([
  ...([
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
  ] as const),
]);

export function attributesOf(method: string, { pathname, searchParams }: URL): Attributes {
  const parts = pathname.split('/').slice(1).map(decodeOrKeep);
  const [root, ...rest] = parts;
  const [group = '', version, ...below] = root === 'api' ? ['', ...rest] : rest;
  const isOfResource = (root === 'api' || root === 'apis') && version !== undefined && below.length > 0;
  if (!isOfResource) return { verb: method.toLowerCase(), path: pathname };
  const [isOldWatch, path] = below[0] === 'watch' ? [true, below.slice(1)] : [false, below];
  const isWithin = path[0] === 'namespaces' && path.length > 1;
  const namespace = isWithin ? (path[1] ?? '') : '';
  const [resource = '', named = '', subresource = ''] = isWithin && path.length > 2 ? path.slice(2) : path;
  const fieldSelector = parseFieldSelector(searchParams.get('fieldSelector') ?? '');
  const verb = isOldWatch ? 'watch' : verbOf(method, named, searchParams);
  const isOfMany = ['list', 'watch', 'deletecollection'].includes(verb);
  const name = named === '' && isOfMany ? (fieldSelector.get('metadata.name') ?? '') : named;
  return { verb, group, resource, subresource, namespace, name, fieldSelector };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  if (method === 'GET' || method === 'HEAD') {
    if (isTrue(query.get('watch'))) return 'watch';
    return name === '' ? 'list' : 'get';
  }
  if (method === 'DELETE' && name === '') return 'deletecollection';
  return VERBS.get(method) ?? method.toLowerCase();
}

function parseFieldSelector(selector: string): ReadonlyMap<string, string> {
  const terms = selector.split(',').map((term) => /^(?<field>[^=!]+)==?(?<value>[^=]*)$/.exec(term)?.groups);
  return new Map(terms.flatMap((term) => (term === undefined ? [] : [[term.field ?? '', term.value ?? ''] as const])));
}

function decodeOrKeep(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
