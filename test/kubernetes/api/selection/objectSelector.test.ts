import { expect, test } from '@jest/globals';
import { isSelected } from '../../../../kubernetes/api/selection/objectSelector.ts';

const labels = { app: 'web', tier: 'front' };
const by = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', key: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
});

test.each([
  ['no selector selects nothing', undefined, false],
  ['an empty selector selects everything', {}, true],
  ['labels that match', { matchLabels: { app: 'web' } }, true],
  ['labels that do not match', { matchLabels: { app: 'web', tier: 'back' } }, false],
  ['a missing label', { matchLabels: { zone: 'a' } }, false],
  ['a label with the name of an object property', { matchLabels: { constructor: 'x' } }, false],
  ['In', by('In', 'app', ['db', 'web']), true],
  ['In, without the value', by('In', 'app', ['db']), false],
  ['In, with a missing label', by('In', 'zone', ['a']), false],
  ['NotIn', by('NotIn', 'app', ['db']), true],
  ['NotIn, with a missing label', by('NotIn', 'zone', ['a']), true],
  ['NotIn, with the value', by('NotIn', 'app', ['web']), false],
  ['Exists', by('Exists', 'app'), true],
  ['Exists, with a missing label', by('Exists', 'constructor'), false],
  ['DoesNotExist', by('DoesNotExist', 'zone'), true],
  ['DoesNotExist, with a present label', by('DoesNotExist', 'app'), false],
  ['labels and expressions, which both have to match', { matchLabels: { app: 'web' }, ...by('Exists', 'zone') }, false],
])('%s', (_, selector, expected) => {
  expect(isSelected(selector, labels)).toBe(expected);
});
