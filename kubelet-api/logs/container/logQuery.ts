/** Parses the query of a request for a container's log according to PodLogOptions (server.go, getContainerLogs). */
import { instantAt, instantOf } from '../instant.ts';

export type LogStream = 'All' | 'Stdout' | 'Stderr';

export interface LogQuery {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Omits lines before this time, in the format of instant.ts. */
  readonly since?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly stream: LogStream;
}

/** An error response. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** The numeric parameters before validation, i.e. any 64-bit integers. */
interface Numbers {
  readonly sinceSeconds: bigint | undefined;
  readonly tailLines: bigint | undefined;
  readonly limitBytes: bigint | undefined;
}

const UNDECODABLE: Refusal = { status: 400, text: '{"message": "Unable to decode query."}' };
const INVALID: Refusal = { status: 422, text: '{"message": "Invalid request."}' };

/** Parses the query, or returns the error response. `now` is in milliseconds since the epoch. */
export function logQuery(params: URLSearchParams, now: number): LogQuery | Refusal {
  const numbers = numbersOf(params);
  const sinceTime = sinceTimeOf(params.get('sinceTime'));
  if (numbers === undefined || sinceTime === 'bad') return UNDECODABLE;
  const stream = params.get('stream') ?? 'All';
  if (!isStream(stream) || !areValid(numbers, stream, params.has('sinceTime'))) return INVALID;
  const { sinceSeconds, tailLines, limitBytes } = numbers;
  const since = sinceSeconds === undefined ? sinceTime : instantAt(now - Number(sinceSeconds) * 1_000);
  return {
    follow: flag(params, 'follow'),
    previous: flag(params, 'previous'),
    timestamps: flag(params, 'timestamps'),
    stream,
    ...(since ? { since } : {}),
    ...(tailLines === undefined ? {} : { tailLines: Number(tailLines) }),
    ...(limitBytes === undefined ? {} : { limitBytes: Number(limitBytes) }),
  };
}

export const isRefusal = (found: object): found is Refusal => 'status' in found;

/** Returns a boolean parameter. A parameter without a value counts as true (apimachinery, runtime/conversion.go). */
function flag(params: URLSearchParams, name: string): boolean {
  const value = params.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * Returns the numeric parameters. `tail` is the former name of `tailLines` and takes precedence. The value `all` means
 * no limit.
 */
function numbersOf(params: URLSearchParams): Numbers | undefined {
  const tail = params.get('tail') || params.get('tailLines');
  const isAll = params.get('tail') === 'all';
  const [sinceSeconds, tailLines, limitBytes] = [
    integer(params.get('sinceSeconds')),
    isAll ? undefined : integer(tail),
    integer(params.get('limitBytes')),
  ];
  if (sinceSeconds === 'bad' || tailLines === 'bad' || limitBytes === 'bad') return undefined;
  return { sinceSeconds, tailLines, limitBytes };
}

function integer(value: string | null): bigint | undefined | 'bad' {
  if (value === null) return undefined;
  const [, sign = '', digits = ''] = /^([+-]?)0*(\d{1,19})$/.exec(value) ?? [];
  if (digits === '') return 'bad';
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, number) === number ? number : 'bad';
}

/** Parses `sinceTime`. Older clients send `null` if it is unset. */
function sinceTimeOf(value: string | null): string | undefined | 'bad' {
  if (value === null || value === '' || value === 'null') return undefined;
  return instantOf(value) ?? 'bad';
}

const isStream = (value: string): value is LogStream => ['All', 'Stdout', 'Stderr'].includes(value);

function areValid({ sinceSeconds, tailLines, limitBytes }: Numbers, stream: LogStream, hasTime: boolean): boolean {
  if (tailLines !== undefined && (tailLines < 0n || stream !== 'All')) return false;
  if (limitBytes !== undefined && limitBytes < 1n) return false;
  return sinceSeconds === undefined || (!hasTime && sinceSeconds >= 1n);
}
