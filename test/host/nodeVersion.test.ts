import { expect, test } from '@jest/globals';
import { unsupportedVersionProblem } from '../../host/nodeVersion.ts';

test('the library needs Node.js 24', () => {
  expect(unsupportedVersionProblem('20.11.0')).toBe('statelet needs Node.js 24, but this is Node.js 20.11.0');
  expect(unsupportedVersionProblem('23.9.9')).toBe('statelet needs Node.js 24, but this is Node.js 23.9.9');
  for (const version of ['24.0.0', '24.21.0', '100.0.0']) expect(unsupportedVersionProblem(version)).toBeUndefined();
});
