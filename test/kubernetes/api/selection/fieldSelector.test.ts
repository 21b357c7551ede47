import { expect, test } from '@jest/globals';
import { readFieldSelector } from '../../../../kubernetes/api/selection/fieldSelector.ts';

const fields = new Map([
  ['name', ({ name }: { name: string }) => name],
  ['phase', () => 'Running'],
]);

function matches(text: string, name = 'web'): boolean {
  const selector = readFieldSelector(text, fields);
  if ('problem' in selector) throw new Error(selector.problem);
  return selector.matches({ name });
}

test('a field selector compares all fields for equality or inequality', () => {
  expect(matches('')).toBe(true);
  expect(matches('name=web')).toBe(true);
  expect(matches('name==web,phase=Running')).toBe(true);
  expect(matches('name==web,phase!=Running')).toBe(false);
  expect(matches('name!=web')).toBe(false);
  expect(matches(',name=web,')).toBe(true);
  expect(matches('name=')).toBe(false);
});

test('commas, equals signs and backslashes in the values of a field selector are unescaped', () => {
  expect(matches(String.raw`name=a\,b\=c\\d`, 'a,b=c\\d')).toBe(true);
});

test.each([
  ['name', "invalid selector: 'name'; can't understand 'name'"],
  ['name=a=b', "invalid selector: 'name=a=b'; unescaped character in value: '='"],
  ['name=a\\b', "invalid selector: 'name=a\\b'; invalid escape sequence: \\b"],
  ['name=a\\', "invalid selector: 'name=a\\'; invalid escape sequence: \\"],
  ['constructor=x', 'field label not supported: constructor; there are name, phase'],
])('the field selector %j is rejected', (text, problem) => {
  expect(readFieldSelector(text, fields)).toEqual({ problem });
});
