import { expect, test } from '@jest/globals';
import {
  createErrorFromResponse,
  createErrorFromStatus,
  isConflict,
  isForbidden,
  isInvalidObjectError,
  isNotFound,
  KubeError,
} from '../../kubeclient/kubeError.ts';

test('an error has the message, reason and retry delay of its Status', () => {
  const status = { kind: 'Status', message: 'pods "web" not found', reason: 'NotFound', code: 404 };
  expect(createErrorFromResponse(404, JSON.stringify(status), undefined)).toMatchObject({
    name: 'KubeError',
    code: 404,
    reason: 'NotFound',
    message: 'pods "web" not found',
    retryAfterMs: undefined,
  });
  const busy = { message: 'busy', details: { retryAfterSeconds: 3 } };
  expect(createErrorFromResponse(429, JSON.stringify(busy), undefined)).toMatchObject({
    reason: '',
    retryAfterMs: 3_000,
  });
  expect(createErrorFromResponse(429, JSON.stringify(busy), '7').retryAfterMs).toBe(7_000);
});

test('ignores a retry delay that is not a number of seconds', () => {
  const after = (text: string) => createErrorFromResponse(503, '', text).retryAfterMs;
  expect(after('Wed, 21 Oct 2026 07:28:00 GMT')).toBeUndefined();
  expect(after('-1')).toBeUndefined();
  for (const text of ['Infinity', '', '1e3', ' 5', '1.5', '9'.repeat(400)]) expect(after(text)).toBeUndefined();
  expect(after('0')).toBe(0);
  const odd = JSON.stringify({ details: { retryAfterSeconds: -1 } });
  expect(createErrorFromResponse(503, odd, undefined).retryAfterMs).toBeUndefined();
});

test('reports other responses, e.g. of a proxy, with their text or code', () => {
  expect(createErrorFromResponse(502, 'Bad Gateway\n', undefined).message).toBe('Bad Gateway');
  expect(createErrorFromResponse(502, ' \n', undefined).message).toBe('the server answered with code 502');
  const odd = '{"message": 5}';
  expect(createErrorFromResponse(500, odd, undefined)).toMatchObject({ message: odd, reason: '' });
});

test('shows only the first line of a page, without control characters', () => {
  const page = `<html>\x1b[31m\r\n${'x'.repeat(2 ** 20)}`;
  expect(createErrorFromResponse(502, page, undefined).message).toBe('<html>^[[31m');
  expect(createErrorFromResponse(301, '<a>Moved</a>\n', undefined).message).toBe(
    'the server answered with code 301: <a>Moved</a>',
  );
  expect(createErrorFromResponse(502, '\x1b'.repeat(5_000), undefined).message).toBe(`${'^['.repeat(511)}^…`);
  const told = { message: `no\x07\n${'é'.repeat(5_000)}`, reason: 'R\x1b' };
  const { message, reason } = createErrorFromResponse(500, JSON.stringify(told), undefined);
  expect([message.slice(0, 8), message.length, reason]).toEqual(['no\\x07\\n', 1_024, 'R^[']);
  expect(createErrorFromStatus(told, 'else').message).toBe(message);
});

test('classifies errors by their code, but only those from a server', () => {
  const codes = [403, 404, 409, 422, 500].map((code) => new KubeError(code, 'no'));
  const kinds = [isForbidden, isNotFound, isConflict, isInvalidObjectError];
  for (const [index, is] of kinds.entries()) expect(codes.map(is)).toEqual(codes.map((_, other) => other === index));
  expect(kinds.some((is) => is({ code: 404 }) || is(new Error('404')))).toBe(false);
});
