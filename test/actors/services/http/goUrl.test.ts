/** URLs, compared with the results of Go's net/url for the same input. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { encodeUtf8, GoUrl } from '../../../../actors/services/http/goUrl.ts';
import { root } from '../../../support/root.ts';

const rowsOf = (name: string): unknown[][] =>
  readFileSync(join(root, `test/recorded/url/${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Returns the error's message instead of throwing it. */
function outcomeOf<T>(act: () => T): T | string {
  try {
    return act();
  } catch (error) {
    return (error as Error).message;
  }
}

test('each probe path results in the same request target as in a kubelet', () => {
  const rows = rowsOf('targets');
  expect(rows.length).toBeGreaterThan(500);
  const actual = rows.map(([path]) =>
    outcomeOf(() => {
      const url = GoUrl.forProbe('http', '10.0.0.1:80', String(path));
      return [path, url.toBytes(), url.requestTarget].map((each) => String(each));
    }),
  );
  const expected = rows.map(([path, url, request, error]) =>
    error === null ? [String(path), encodeUtf8(String(url)), encodeUtf8(String(request))] : error,
  );
  expect(actual).toEqual(expected);
});

test('each redirect Location is resolved as in Go', () => {
  const rows = rowsOf('redirects');
  expect(rows.length).toBeGreaterThan(400);
  const actual = rows.map(([from, location]) =>
    outcomeOf(() => {
      const reference = GoUrl.parse(encodeUtf8(String(location)));
      const url = GoUrl.parse(encodeUtf8(String(from))).resolve(reference);
      return [location, url.toBytes(), url.hostname, reference.isAbsolute];
    }),
  );
  const expected = rows.map(([, location, url, hostname, isAbsolute, error]) =>
    error === null ? [location, encodeUtf8(String(url)), encodeUtf8(String(hostname ?? '')), isAbsolute] : error,
  );
  expect(actual).toEqual(expected);
});
