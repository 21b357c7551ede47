import { expect, test } from '@jest/globals';
import { requireRoot } from '../../../../cli/commands/run/run.ts';
import { errorText } from '../../../../cli/output/errorText.ts';

test('run without root reports in one line that it requires root', () => {
  expect(() => requireRoot(0)).not.toThrow();
  // A platform without user IDs.
  expect(() => requireRoot(undefined)).not.toThrow();
  try {
    requireRoot(65_534);
    throw new Error('it did not throw');
  } catch (error) {
    expect(errorText(error)).toMatch(/^statelet: run needs root; [^\n]+\n$/);
  }
});
