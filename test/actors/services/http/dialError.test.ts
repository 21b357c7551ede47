import { describe, expect, test } from '@jest/globals';
import { dialFailureMessage, errorCode, readFailureMessage } from '../../../../actors/services/http/dialError.ts';

const failed = (code: string) => Object.assign(new Error(code), { code });

describe('the message for a failed connection', () => {
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
    'is undefined for %p',
    (error) => {
      expect(dialFailureMessage(error, '10.0.0.9', 80)).toBeUndefined();
    },
  );
});

test('a connection that broke off is distinguished from one that was never established', () => {
  expect(readFailureMessage(failed('ECONNRESET'))).toBe('read: connection reset by peer');
  expect(readFailureMessage(failed('ECONNREFUSED'))).toBeUndefined();
});

test('an error code that is not a string is ignored', () => {
  expect(errorCode(Object.assign(new Error('x'), { code: 5 }))).toBe('');
});
