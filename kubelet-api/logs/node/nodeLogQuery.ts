/** Parses and validates queries for the node's own logs (kubelet: kubelet_server_journal.go). */

import { quoted } from '../../../base/quoted.ts';
import type { Refusal } from '../container/logQuery.ts';
import { instantOf } from '../instant.ts';

export interface NodeLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly options: NodeLogOptions;
}

/** Fields are undefined if they are not requested. */
export interface NodeLogOptions {
  /** Timestamps in the format of instant.ts. */
  readonly since?: string;
  readonly until?: string;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

const MOST_LINES = 100_000;
const LONGEST_NAME = 256;
const MOST_SERVICES = 4;

/** Parses a query. Returns undefined if the request has no parameters. */
export function nodeLogQuery(params: URLSearchParams): NodeLogQuery | Refusal | undefined {
  const problems: string[] = [];
  const queries = params.getAll('query');
  const files = queries.filter((each) => /[/\\]/.test(each));
  const services = queries.filter((each) => !/[/\\]/.test(each) && each.trim() !== '');
  if (queries.length > 0 && files.length + services.length === 0)
    problems.push(invalid('query', JSON.stringify(queries), 'query cannot be empty'));
  const [since, until] = [momentOf(params, 'sinceTime', problems), momentOf(params, 'untilTime', problems)];
  const [boot, tailLines] = [numberOf(params, 'boot', problems), numberOf(params, 'tailLines', problems)];
  const pattern = params.get('pattern') || undefined;
  const options: NodeLogOptions = {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(boot === undefined ? {} : { boot }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  if (problems.length > 0) return refusal(400, problems);
  return queries.length > 0 || Object.keys(options).length > 0 ? { services, files, options } : undefined;
}

/** Returns the reason why a query is rejected. Undefined if it is valid. */
export function notAcceptable(path: string, query: NodeLogQuery): Refusal | undefined {
  if (path !== '') return { status: 406, text: 'path not allowed in query mode' };
  const { services, files, options } = query;
  const problems = [
    ...serviceProblems(services),
    ...whatProblems(services, files, options),
    ...optionProblems(options),
  ];
  return problems.length > 0 ? refusal(406, problems) : undefined;
}

function serviceProblems(services: readonly string[]): string[] {
  const problems = services.flatMap((name) => {
    if (name.length > LONGEST_NAME) return [invalid('query', quoted(name), `length must be less than ${LONGEST_NAME}`)];
    return UNSAFE.test(name) ? [invalid('query', quoted(name), 'input contains unsupported characters')] : [];
  });
  const tooMany = `query: Too many: ${services.length}: must have at most ${MOST_SERVICES} items`;
  return services.length > MOST_SERVICES ? [...problems, tooMany] : problems;
}

/** Characters that are not allowed in names of services, because the names become arguments of journalctl. */
const UNSAFE = /[^a-zA-Z\-_.:0-9@]/;

function whatProblems(services: readonly string[], files: readonly string[], options: NodeLogOptions): string[] {
  const list = JSON.stringify(files);
  if (services.length + files.length === 0) return ['query: Required value: cannot be empty with options'];
  if (files.length > 0 && services.length > 0) {
    const both = quoted(`[${files.join(' ')}], [${services.join(' ')}]`);
    return [invalid('query', both, 'cannot specify a file and service')];
  }
  if (files.length > 1) return [invalid('query', list, 'cannot specify more than one file')];
  const hasOptions = Object.keys(options).length > 0;
  return files.length === 1 && hasOptions ? [invalid('query', list, 'cannot specify file with options')] : [];
}

function optionProblems({ since, until, boot, tailLines, pattern }: NodeLogOptions): string[] {
  const problems: string[] = [];
  if (since !== undefined && until !== undefined && since > until)
    problems.push(invalid('untilTime', `"${until.replace(/\.?0+$/, '')}Z"`, 'must be after `sinceTime`'));
  if (boot !== undefined && boot > 0) problems.push(invalid('boot', boot, 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MOST_LINES))
    problems.push(invalid('tailLines', tailLines, `must be between 0 and ${MOST_LINES}, inclusive`));
  const why = pattern === undefined ? undefined : badPattern(pattern);
  if (why !== undefined) problems.push(invalid('pattern', quoted(pattern ?? ''), why));
  return problems;
}

/**
 * Checks the pattern as a JavaScript regular expression, whose syntax is similar to Go's. As with a kubelet, journalctl
 * may still reject it.
 */
function badPattern(pattern: string): string | undefined {
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

const invalid = (field: string, value: string | number, why: string): string =>
  `${field}: Invalid value: ${value}: ${why}`;

function refusal(status: number, problems: readonly string[]): Refusal {
  const all = [...new Set(problems)];
  return { status, text: all.length === 1 ? all.join('') : `[${all.join(', ')}]` };
}

function momentOf(params: URLSearchParams, field: string, problems: string[]): string | undefined {
  const value = params.get(field) ?? '';
  const moment = instantOf(value);
  if (value !== '' && moment === undefined) problems.push(invalid(field, quoted(value), 'invalid time format'));
  return moment;
}

function numberOf(params: URLSearchParams, field: string, problems: string[]): number | undefined {
  const value = params.get(field) ?? '';
  if (value === '') return undefined;
  const why = /^[+-]?\d+$/.test(value) ? 'value out of range' : 'invalid syntax';
  const number = why === 'invalid syntax' ? Number.NaN : Number(value);
  if (Number.isSafeInteger(number)) return number;
  problems.push(invalid(field, quoted(value), `strconv.Atoi: parsing ${quoted(value)}: ${why}`));
  return undefined;
}
