/** Parses and validates queries for the node's own logs (`pkg/kubelet/kubelet_server_journal.go`). */

import { quotedText } from '../../../base/text/quotedText.ts';
import type { Refusal } from '../container/logQuery.ts';
import { parseInstant } from '../instant.ts';

export interface NodeLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly options: NodeLogOptions;
}

/** The filters of a query. Undefined filters are not applied. */
export interface NodeLogOptions {
  /** Timestamps in the format of instant.ts. */
  readonly since?: string;
  readonly until?: string;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

const MAX_TAIL_LINES = 100_000;
const MAX_NAME_LENGTH = 256;
const MAX_SERVICES = 4;

/** Parses a query. Returns undefined if the request has no parameters. */
export function parseNodeLogQuery(params: URLSearchParams): NodeLogQuery | Refusal | undefined {
  const problems: string[] = [];
  const queryValues = params.getAll('query');
  const files = queryValues.filter((each) => /[/\\]/.test(each));
  const services = queryValues.filter((each) => !/[/\\]/.test(each) && each.trim() !== '');
  if (queryValues.length > 0 && files.length + services.length === 0)
    problems.push(describeInvalidValue('query', JSON.stringify(queryValues), 'query cannot be empty'));
  const [since, until] = [parseTimestamp(params, 'sinceTime', problems), parseTimestamp(params, 'untilTime', problems)];
  const [boot, tailLines] = [parseNumber(params, 'boot', problems), parseNumber(params, 'tailLines', problems)];
  const pattern = params.get('pattern') || undefined;
  const options: NodeLogOptions = {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(boot === undefined ? {} : { boot }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  if (problems.length > 0) return createRefusal(400, problems);
  return queryValues.length > 0 || Object.keys(options).length > 0 ? { services, files, options } : undefined;
}

/** Returns the error response to an invalid query, or undefined if the query is valid. */
export function validateQuery(path: string, query: NodeLogQuery): Refusal | undefined {
  if (path !== '') return { status: 406, text: 'path not allowed in query mode' };
  const { services, files, options } = query;
  const problems = [
    ...serviceProblems(services),
    ...findTargetProblems(services, files, options),
    ...optionProblems(options),
  ];
  return problems.length > 0 ? createRefusal(406, problems) : undefined;
}

function serviceProblems(services: readonly string[]): string[] {
  const problems = services.flatMap((name) => {
    if (name.length > MAX_NAME_LENGTH)
      return [describeInvalidValue('query', quotedText(name), `length must be less than ${MAX_NAME_LENGTH}`)];
    return UNSAFE_NAME_PATTERN.test(name)
      ? [describeInvalidValue('query', quotedText(name), 'input contains unsupported characters')]
      : [];
  });
  const tooManyMessage = `query: Too many: ${services.length}: must have at most ${MAX_SERVICES} items`;
  return services.length > MAX_SERVICES ? [...problems, tooManyMessage] : problems;
}

/** Characters that are not allowed in names of services, because the names become arguments of journalctl. */
const UNSAFE_NAME_PATTERN = /[^a-zA-Z\-_.:0-9@]/;

function findTargetProblems(services: readonly string[], files: readonly string[], options: NodeLogOptions): string[] {
  const quotedFiles = JSON.stringify(files);
  if (services.length + files.length === 0) return ['query: Required value: cannot be empty with options'];
  if (files.length > 0 && services.length > 0) {
    const quotedTargets = quotedText(`[${files.join(' ')}], [${services.join(' ')}]`);
    return [describeInvalidValue('query', quotedTargets, 'cannot specify a file and service')];
  }
  if (files.length > 1) return [describeInvalidValue('query', quotedFiles, 'cannot specify more than one file')];
  const hasOptions = Object.keys(options).length > 0;
  return files.length === 1 && hasOptions
    ? [describeInvalidValue('query', quotedFiles, 'cannot specify file with options')]
    : [];
}

function optionProblems({ since, until, boot, tailLines, pattern }: NodeLogOptions): string[] {
  const problems: string[] = [];
  if (since !== undefined && until !== undefined && since > until)
    problems.push(describeInvalidValue('untilTime', `"${until.replace(/\.?0+$/, '')}Z"`, 'must be after `sinceTime`'));
  if (boot !== undefined && boot > 0) problems.push(describeInvalidValue('boot', boot, 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES))
    problems.push(describeInvalidValue('tailLines', tailLines, `must be between 0 and ${MAX_TAIL_LINES}, inclusive`));
  const why = pattern === undefined ? undefined : findPatternProblem(pattern);
  if (why !== undefined) problems.push(describeInvalidValue('pattern', quotedText(pattern ?? ''), why));
  return problems;
}

/**
 * Checks the pattern as a JavaScript regular expression, whose syntax is similar to Go's. As with the kubelet,
 * journalctl may still reject it.
 */
function findPatternProblem(pattern: string): string | undefined {
  const own = pattern.replaceAll(/\(\?[imsU]+(-[imsU]+)?\)/g, '').replaceAll('(?P<', '(?<');
  try {
    new RegExp(own);
    return /\(\?(<?[=!])/.test(pattern)
      ? `error parsing regexp: invalid or unsupported Perl syntax: \`(?\``
      : undefined;
  } catch {
    return `error parsing regexp: \`${pattern}\``;
  }
}

const describeInvalidValue = (field: string, value: string | number, why: string): string =>
  `${field}: Invalid value: ${value}: ${why}`;

function createRefusal(status: number, problems: readonly string[]): Refusal {
  const messages = [...new Set(problems)];
  return { status, text: messages.length === 1 ? messages.join('') : `[${messages.join(', ')}]` };
}

function parseTimestamp(params: URLSearchParams, field: string, problems: string[]): string | undefined {
  const value = params.get(field) ?? '';
  const timestamp = parseInstant(value);
  if (value !== '' && timestamp === undefined)
    problems.push(describeInvalidValue(field, quotedText(value), 'invalid time format'));
  return timestamp;
}

function parseNumber(params: URLSearchParams, field: string, problems: string[]): number | undefined {
  const value = params.get(field) ?? '';
  if (value === '') return undefined;
  const why = /^[+-]?\d+$/.test(value) ? 'value out of range' : 'invalid syntax';
  const parsedNumber = why === 'invalid syntax' ? Number.NaN : Number(value);
  if (Number.isSafeInteger(parsedNumber)) return parsedNumber;
  problems.push(describeInvalidValue(field, quotedText(value), `strconv.Atoi: parsing ${quotedText(value)}: ${why}`));
  return undefined;
}
