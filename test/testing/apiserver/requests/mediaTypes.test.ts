import { expect, test } from '@jest/globals';
import { Failure } from '../../../../testing/apiserver/failures/failures.ts';
import { parseBody, SyntaxFailure } from '../../../../testing/apiserver/requests/mediaTypes.ts';

test('JSON is read with or without a media type, and YAML with its media type', () => {
  expect(parseBody('{"a":1}')).toEqual({ a: 1 });
  expect(parseBody('{"a":1}', 'application/json; charset=utf-8')).toEqual({ a: 1 });
  expect(parseBody('a: 1\n', 'application/yaml')).toEqual({ a: 1 });
});

test('an unsupported media type is rejected', () => {
  expect(() => parseBody('hello', 'text/plain')).toThrow(Failure);
  expect(() => parseBody('hello', 'text/plain')).toThrow(/^the body of the request was in an unknown format/);
});

test('a body larger than the maximum size of an object is rejected', () => {
  const most = 3_145_728;
  expect(() => parseBody(JSON.stringify('x'.repeat(most - 1)))).toThrow('Request entity too large: limit is 3145728');
  expect(parseBody(JSON.stringify('x'.repeat(most - 2)))).toHaveLength(most - 2);
});

test.each([
  ['', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['hello', "invalid character 'h' looking for beginning of value"],
])('a syntax error in %j is reported as by Go', (text, message) => {
  expect(() => parseBody(text)).toThrow(SyntaxFailure);
  expect(() => parseBody(text)).toThrow(message);
});

test('a YAML body is read like a manifest', () => {
  expect(parseBody('a: yes\nb: 0o644\nc: e1\nd: 9007199254740993\n', 'application/yaml')).toEqual({
    a: true,
    b: 420,
    c: 'e1',
    d: 9007199254740992,
  });
  expect(() => parseBody('a: .inf\n', 'application/yaml')).toThrow('unsupported value: +Inf, written .inf');
});
