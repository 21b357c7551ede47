/** Defines the fields of the manifest URL. */
import * as z from 'zod/mini';

export type Header = readonly [name: string, value: string];

/** Schema of the URL of a manifest. */
export const manifestUrl = z.custom<string>((value) => typeof value === 'string' && (value === '' || isHttp(value)), {
  error: 'expected a URL such as "https://example.com/pods.yaml"',
});

function isHttp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '';
}

/** Pattern of a valid header name. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Pattern of a valid header value. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const isHeader = ([name, value]: Header): boolean => NAME.test(name) && VALUE.test(value);

/** Parses `name:value` pairs that are separated by commas. */
export const headersFlag = z.pipe(
  z.custom<string>((value) => typeof value === 'string' && headersOf(value).every(isHeader), {
    error: 'expected headers such as "name:value,other:value"',
  }),
  z.transform((value: string) => headersOf(value)),
);

/** Schema of the headers in a configuration file, by name. */
export const headersField = z.custom<Readonly<Record<string, readonly string[]>>>(
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.entries(value).every(areHeaders),
  { error: 'expected a map of header names to lists of values' },
);

const areHeaders = ([name, values]: [string, unknown]): boolean =>
  Array.isArray(values) && values.every((value) => typeof value === 'string' && isHeader([name, value]));

function headersOf(text: string): Header[] {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const colon = pair.indexOf(':');
    // Without a colon, the name is missing.
    return colon < 0 ? ['', ''] : [pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()];
  });
}
