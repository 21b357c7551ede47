import { describe, expect, test } from '@jest/globals';
import { dialFailureMessage, errorCode, readFailureMessage } from '../../../../actors/services/http/dialError.ts';

const failed = (code: string) => Object.assign(new Error(code), { code });

describe('why no connection came about', () => {
  test.each([
    ['ECONNREFUSED', '10.0.0.9', 'dial tcp 10.0.0.9:80: connect: connection refused'],
    ['EHOSTUNREACH', '10.0.0.9', 'dial tcp 10.0.0.9:80: connect: no route to host'],
    ['ETIMEDOUT', 'fd00::9', 'dial tcp [fd00::9]:80: connect: connection timed out'],
    ['ENOTFOUND', 'db.example', 'dial tcp: lookup db.example: no such host'],
    ['EAI_AGAIN', 'db.example', 'dial tcp: lookup db.example: no such host'],
  ])('%s', (code, host, message) => {
    expect(dialFailureMessage(failed(code), host, 80)).toBe(message);
  });

  test.each([failed('ECONNRESET'), failed('constructor'), new Error('no code'), 'a text', null])(
    'is not said of %p',
    (error) => {
      expect(dialFailureMessage(error, '10.0.0.9', 80)).toBeUndefined();
    },
  );
});

test('a connection that broke off is told apart from one that never came about', () => {
  expect(readFailureMessage(failed('ECONNRESET'))).toBe('read: connection reset by peer');
  expect(readFailureMessage(failed('ECONNREFUSED'))).toBeUndefined();
});

test('a code that is no text is none', () => {
  expect(errorCode(Object.assign(new Error('x'), { code: 5 }))).toBe('');
});
