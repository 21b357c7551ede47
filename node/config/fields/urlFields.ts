/** Defines the fields of the manifest URL. */

import * as z from 'zod/mini';
import { isPlainObject } from '../../../base/values/isObject.ts';

export type HttpHeader = readonly [name: string, value: string];

/** Schema of an HTTP or HTTPS URL. An empty string means that no manifest URL is configured. */
export const manifestUrlSchema = z.custom<string>(
  (value) => typeof value === 'string' && (value === '' || isHttpUrl(value)),
  {
    error: 'expected a URL such as "https://example.com/pods.yaml"',
  },
);

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '';
}

/** Matches a header name, which is a token of RFC 9110. */
const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Matches a header value, which contains no control characters except tabs. */
const HEADER_VALUE_PATTERN = /^[\t\x20-\x7e\x80-\xff]*$/;
const isValidHeader = ([name, value]: HttpHeader): boolean =>
  HEADER_NAME_PATTERN.test(name) && HEADER_VALUE_PATTERN.test(value);

/** Parses `name:value` pairs that are separated by commas. */
export const headersFlagSchema = z.pipe(
  z.custom<string>((value) => typeof value === 'string' && parseHeaders(value).every(isValidHeader), {
    error: 'expected headers such as "name:value,other:value"',
  }),
  z.transform((value: string) => parseHeaders(value)),
);

/** Schema of the headers in a configuration file, by name. */
export const headersFieldSchema = z.custom<Readonly<Record<string, readonly string[]>>>(
  (value) => isPlainObject(value) && Object.entries(value).every(isHeaderField),
  { error: 'expected a map of header names to lists of values' },
);

const isHeaderField = ([name, values]: [string, unknown]): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === 'string' && isValidHeader([name, value]));

function parseHeaders(text: string): HttpHeader[] {
  const headerPairs = text.split(',').filter((pair) => pair !== '');
  return headerPairs.map((pair) => {
    const colonIndex = pair.indexOf(':');
    // Return an empty name for a pair without a colon, because `isValidHeader` rejects an empty name.
    return colonIndex < 0 ? ['', ''] : [pair.slice(0, colonIndex).trim(), pair.slice(colonIndex + 1).trim()];
  });
}
