/**
 * Parses the query of a request for a container's log, i.e. PodLogOptions (`getContainerLogs` in
 * `pkg/kubelet/server/server.go`).
 */
import { formatInstant, parseInstant } from '../instant.ts';

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

/** The numeric parameters before validation, which can be any 64-bit integers. */
interface NumericParameters {
  readonly sinceSeconds: bigint | undefined;
  readonly tailLines: bigint | undefined;
  readonly limitBytes: bigint | undefined;
}

const UNDECODABLE_QUERY: Refusal = { status: 400, text: '{"message": "Unable to decode query."}' };
const INVALID_REQUEST: Refusal = { status: 422, text: '{"message": "Invalid request."}' };

/** Parses the query, or returns the error response. `now` is in milliseconds since the epoch. */
export function parseLogQuery(params: URLSearchParams, now: number): LogQuery | Refusal {
  const numericParameters = parseNumericParameters(params);
  const sinceTime = parseSinceTime(params.get('sinceTime'));
  if (numericParameters === undefined || sinceTime === 'bad') return UNDECODABLE_QUERY;
  const stream = params.get('stream') ?? 'All';
  if (!isLogStream(stream) || !areParametersValid(numericParameters, stream, params.has('sinceTime')))
    return INVALID_REQUEST;
  const { sinceSeconds, tailLines, limitBytes } = numericParameters;
  const since = sinceSeconds === undefined ? sinceTime : formatInstant(now - Number(sinceSeconds) * 1_000);
  return {
    follow: parseFlag(params, 'follow'),
    previous: parseFlag(params, 'previous'),
    timestamps: parseFlag(params, 'timestamps'),
    stream,
    ...(since ? { since } : {}),
    ...(tailLines === undefined ? {} : { tailLines: Number(tailLines) }),
    ...(limitBytes === undefined ? {} : { limitBytes: Number(limitBytes) }),
  };
}

export const isRefusal = (result: object): result is Refusal => 'status' in result;

/**
 * Parses the boolean parameter with the given name. A parameter without a value means true (`pkg/runtime/conversion.go`
 * of apimachinery).
 */
function parseFlag(params: URLSearchParams, name: string): boolean {
  const value = params.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * Parses the numeric parameters. Returns undefined if one of them is invalid. `tail` is the former name of `tailLines`
 * and takes precedence. The value `all` means no limit.
 */
function parseNumericParameters(params: URLSearchParams): NumericParameters | undefined {
  const tailText = params.get('tail') || params.get('tailLines');
  const hasFullTail = params.get('tail') === 'all';
  const [sinceSeconds, tailLines, limitBytes] = [
    parseInteger(params.get('sinceSeconds')),
    hasFullTail ? undefined : parseInteger(tailText),
    parseInteger(params.get('limitBytes')),
  ];
  if (sinceSeconds === 'bad' || tailLines === 'bad' || limitBytes === 'bad') return undefined;
  return { sinceSeconds, tailLines, limitBytes };
}

function parseInteger(value: string | null): bigint | undefined | 'bad' {
  if (value === null) return undefined;
  const [, sign = '', digits = ''] = /^([+-]?)0*(\d{1,19})$/.exec(value) ?? [];
  if (digits === '') return 'bad';
  const parsedNumber = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, parsedNumber) === parsedNumber ? parsedNumber : 'bad';
}

/** Parses `sinceTime`. Older clients send `null` if it is unset. */
function parseSinceTime(value: string | null): string | undefined | 'bad' {
  if (value === null || value === '' || value === 'null') return undefined;
  return parseInstant(value) ?? 'bad';
}

const isLogStream = (value: string): value is LogStream => ['All', 'Stdout', 'Stderr'].includes(value);

function areParametersValid(
  { sinceSeconds, tailLines, limitBytes }: NumericParameters,
  stream: LogStream,
  hasTime: boolean,
): boolean {
  if (tailLines !== undefined && (tailLines < 0n || stream !== 'All')) return false;
  if (limitBytes !== undefined && limitBytes < 1n) return false;
  return sinceSeconds === undefined || (!hasTime && sinceSeconds >= 1n);
}
