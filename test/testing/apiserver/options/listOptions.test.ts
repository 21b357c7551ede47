import { expect, test } from '@jest/globals';
import { Failure } from '../../../../testing/apiserver/failures/failures.ts';
import { listOptions } from '../../../../testing/apiserver/options/listOptions.ts';

const optionsOf = (query: string) => listOptions(new URLSearchParams(query));

test('the options of a watch are read from the query', () => {
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  expect(optionsOf(`${query}&fieldSelector=a%3Db&labelSelector=c&timeoutSeconds=4`)).toEqual({
    isWatch: true,
    sendsInitialEvents: true,
    allowsBookmarks: true,
    resourceVersionMatch: 'NotOlderThan',
    fieldSelector: 'a=b',
    labelSelector: 'c',
    timeoutSeconds: 4,
    resourceVersion: '',
    limit: 0,
    continue: '',
  });
});

test('the options of a list are read from the query', () => {
  expect(optionsOf('limit=2&continue=abc&resourceVersion=5')).toMatchObject({
    isWatch: false,
    limit: 2,
    continue: 'abc',
    resourceVersion: '5',
    sendsInitialEvents: undefined,
  });
});

test.each([
  [
    'resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ],
  [
    'resourceVersion=1&resourceVersionMatch=Newest',
    'resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
  ],
  ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
  [
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ],
  [
    'watch=true&sendInitialEvents=true',
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  ],
  [
    'watch=true&resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
])('list options reject %s', (query, why) => {
  expect(() => optionsOf(query)).toThrow(Failure);
  expect(() => optionsOf(query)).toThrow(`ListOptions.meta.k8s.io "" is invalid: ${why}`);
});

test.each([
  'resourceVersionMatch=Exact&resourceVersion=2&continue=x',
  'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x',
])('resourceVersionMatch cannot be combined with continue: %s', (query) => {
  expect(() => optionsOf(query)).toThrow('resourceVersionMatch is forbidden when continue is provided');
});

test('a watch supports only NotOlderThan as resourceVersionMatch', () => {
  expect(() => optionsOf('watch=true&sendInitialEvents=true&resourceVersionMatch=Exact')).toThrow(
    'Unsupported value: "Exact": supported values: "NotOlderThan"',
  );
});

test.each([
  ['timeoutSeconds=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['limit=99999999999999999999', 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
])('list options reject %s, which is not a number', (query, message) => {
  expect(() => optionsOf(query)).toThrow(message);
});
