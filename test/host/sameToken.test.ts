import { expect, test } from '@jest/globals';
import { isSameToken, tokenPredicate } from '../../host/sameToken.ts';

test('only the complete token is accepted', () => {
  expect(isSameToken('t0ken', 't0ken')).toBe(true);
  for (const other of ['', 't0ke', 't0ken ', 'T0KEN', 'constructor']) expect(isSameToken(other, 't0ken')).toBe(false);
  expect(tokenPredicate('t0ken')('t0ken')).toBe(true);
  for (const other of ['', 't0ke', 't0ken ']) expect(tokenPredicate('t0ken')(other)).toBe(false);
});
