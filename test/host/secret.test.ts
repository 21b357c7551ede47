import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { Secret } from '../../host/secret.ts';

test('a secret is read as it was written and is not printed', () => {
  const secret = new Secret('tökén-1');
  expect(secret.read()).toBe('tökén-1');
  for (const printed of [String(secret), JSON.stringify(secret), inspect(secret, { depth: 5, showHidden: true })])
    expect(printed).not.toContain('tökén');
});
