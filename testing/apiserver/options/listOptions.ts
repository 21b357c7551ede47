/** Options of a list or watch in the query (`internalversion/validation/validation.go` of apimachinery). */
import { forbidden, notSupported } from '../failures/causes.ts';
import { badRequest, type Cause, invalid } from '../failures/failures.ts';
import { isTrue } from './writeOptions.ts';

export interface ListOptions {
  readonly isWatch: boolean;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Empty for the most recent version. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  readonly allowsBookmarks: boolean;
  /** Whether a watch starts with all existing objects. If undefined, this depends on the resource version. */
  readonly sendsInitialEvents: boolean | undefined;
  /** Seconds. Undefined for the server's default. */
  readonly timeoutSeconds: number | undefined;
  /** Maximum number of objects. 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
}

const MATCHES = ['Exact', 'NotOlderThan', ''] as const;

/** Reads the options from the query. Throws a `Failure` for invalid combinations. */
export function listOptions(query: URLSearchParams): ListOptions {
  const text = (name: string): string => query.get(name) ?? '';
  const sends = query.get('sendInitialEvents');
  const match = text('resourceVersionMatch');
  const options = {
    isWatch: isTrue(query.get('watch')),
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    resourceVersion: text('resourceVersion'),
    allowsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendsInitialEvents: sends === null ? undefined : isTrue(sends),
    timeoutSeconds: integer(query.get('timeoutSeconds')),
    limit: integer(query.get('limit')) ?? 0,
    continue: text('continue'),
  };
  const resourceVersionMatch = MATCHES.find((each) => each === match);
  const causes = options.isWatch ? watchCauses(options, match) : listCauses(options, match);
  if (resourceVersionMatch === undefined || causes.length > 0)
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
  return { ...options, resourceVersionMatch };
}

type CheckedOptions = Pick<ListOptions, 'resourceVersion' | 'sendsInitialEvents' | 'continue'>;

function listCauses({ resourceVersion, sendsInitialEvents, continue: from }: CheckedOptions, match: string): Cause[] {
  const causes: Cause[] = [];
  const field = 'resourceVersionMatch';
  if (match !== '' && resourceVersion === '')
    causes.push(forbidden(field, `${field} is forbidden unless resourceVersion is provided`));
  if (match !== '' && from !== '') causes.push(forbidden(field, `${field} is forbidden when continue is provided`));
  causes.push(...unknownMatch(match));
  if (match === 'Exact' && resourceVersion === '0')
    causes.push(forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  if (sendsInitialEvents !== undefined)
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return causes;
}

function watchCauses({ sendsInitialEvents, continue: from }: CheckedOptions, match: string): Cause[] {
  const causes: Cause[] = [];
  const field = 'resourceVersionMatch';
  if (sendsInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (match !== '' && sendsInitialEvents === undefined)
    causes.push(forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
  if (match !== '' && match !== 'NotOlderThan') causes.push(notSupported(field, match, ['NotOlderThan']));
  if (match !== '' && from !== '') causes.push(forbidden(field, `${field} is forbidden when continue is provided`));
  return causes;
}

const unknownMatch = (match: string): Cause[] =>
  MATCHES.some((each) => each === match) ? [] : [notSupported('resourceVersionMatch', match, MATCHES)];

/** Parses an integer in a query. Undefined if missing. Throws a `Failure` if malformed. */
export function integer(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
}
