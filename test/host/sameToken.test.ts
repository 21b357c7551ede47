import { expect, test } from '@jest/globals';
import { tokenPredicate } from '../../host/sameToken.ts';

test('only the complete token is accepted', () => {
  const isToken = tokenPredicate('t0ken');
  expect(isToken('t0ken')).toBe(true);
  for (const other of ['', 't0ke', 't0ken ', 'T0KEN', 'constructor']) expect(isToken(other)).toBe(false);
});
