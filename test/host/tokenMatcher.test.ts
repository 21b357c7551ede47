import { expect, test } from '@jest/globals';
import { createTokenMatcher } from '../../host/tokenMatcher.ts';

test('only the complete token is accepted', () => {
  const isToken = createTokenMatcher('t0ken');
  expect(isToken('t0ken')).toBe(true);
  for (const other of ['', 't0ke', 't0ken ', 'T0KEN', 'constructor']) expect(isToken(other)).toBe(false);
});
