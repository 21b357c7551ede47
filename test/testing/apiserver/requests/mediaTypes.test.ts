import { expect, test } from '@jest/globals';
import { Failure } from '../../../../testing/apiserver/failures/failures.ts';
import { parseBody, SyntaxFailure } from '../../../../testing/apiserver/requests/mediaTypes.ts';

test('reads JSON, with or without a media type, and YAML', () => {
  expect(parseBody('{"a":1}')).toEqual({ a: 1 });
  expect(parseBody('{"a":1}', 'application/json; charset=utf-8')).toEqual({ a: 1 });
  expect(parseBody('a: 1\n', 'application/yaml')).toEqual({ a: 1 });
});

test('refuses what it does not read', () => {
  expect(() => parseBody('hello', 'text/plain')).toThrow(Failure);
  expect(() => parseBody('hello', 'text/plain')).toThrow(/^the body of the request was in an unknown format/);
});

test('refuses what is larger than an object may be', () => {
  const most = 3_145_728;
  expect(() => parseBody(JSON.stringify('x'.repeat(most - 1)))).toThrow('Request entity too large: limit is 3145728');
  expect(parseBody(JSON.stringify('x'.repeat(most - 2)))).toHaveLength(most - 2);
});

test.each([
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['hello', "invalid character 'h' looking for beginning of value"],
])('tells as Go does what is broken in %j', (text, message) => {
  expect(() => parseBody(text)).toThrow(SyntaxFailure);
  expect(() => parseBody(text)).toThrow(message);
});

test('a body of YAML is read as manifests are', () => {
  expect(parseBody('a: yes\nb: 0o644\nc: e1\nd: 9007199254740993\n', 'application/yaml')).toEqual({
    a: true,
    b: 420,
    c: 'e1',
    d: 9007199254740992,
  });
  expect(() => parseBody('a: .inf\n', 'application/yaml')).toThrow('unsupported value: +Inf, written .inf');
});
