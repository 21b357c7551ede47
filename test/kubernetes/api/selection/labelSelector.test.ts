import { describe, expect, test } from '@jest/globals';
import { readLabelSelector } from '../../../../kubernetes/api/selection/labelSelector.ts';

const web = { app: 'web', tier: 'front', 'example.org/rank': '7', constructor: 'own', empty: '' };

function matches(text: string, labels: Readonly<Record<string, string>> = web): boolean {
  const selector = readLabelSelector(text);
  if ('problem' in selector) throw new Error(selector.problem);
  return selector.matches(labels);
}

describe("label selectors in kubectl's syntax", () => {
  test.each([
    '',
    ' ',
    'app',
    'app=web',
    'app == web',
    'app!=db',
    'none!=x',
    '!none',
    'app in (web,db)',
    'app in(web)',
    'app notin (db)',
    'none notin (x)',
    'empty',
    'empty=',
    'empty==,app',
    'empty in ()',
    'empty in (,x)',
    'app=web,tier=front',
    'app in (web, db), tier',
    'example.org/rank>6',
    'example.org/rank<8',
    'constructor',
    'constructor in (own)',
  ])('match with %j', (text) => expect(matches(text)).toBe(true));

  test.each([
    'none',
    'none=x',
    'none=',
    'app=db',
    'app!=web',
    '!app',
    'app in (db)',
    'app in ()',
    'app notin (web)',
    'app=web,none',
    'example.org/rank>7',
    'example.org/rank<7',
    'app>1',
    'none>1',
    'toString',
    'empty=x',
  ])('do not match with %j', (text) => expect(matches(text)).toBe(false));

  test('match an object without labels like one with none of them', () => {
    const selector = readLabelSelector('!app,app!=web');
    expect('matches' in selector && selector.matches(undefined)).toBe(true);
    expect(matches('app', {})).toBe(false);
  });

  test('compare integers exactly, even beyond those that JavaScript numbers represent', () => {
    expect(matches('n>9007199254740992', { n: '9007199254740993' })).toBe(true);
  });
});

test.each([
  ['=x', "found '=' expected: a label key"],
  ['app,', "found '' expected: a label key"],
  ['app web', "found 'web' expected: in, notin, =, ==, !=, >, <"],
  ['!app=web', "found '=' expected: ',' or the end"],
  ['app=web tier', "found 'tier' expected: ',' or the end"],
  ['app in web', "found 'web' expected: '('"],
  ['app in (web', "found '' expected: ',' or ')'"],
  ['app in (a b)', "found 'b' expected: ',' or ')'"],
  ['app=(', "found '(' expected: a value"],
  ['app>many', "'many': expected a whole number to compare with by >"],
  ['a/b/c', "'a/b/c': expected a label key, NAME or PREFIX/NAME"],
  ['-app', "'-app': expected a label key, whose name has at most 63 letters"],
  ['/app', "'/app': expected a label key, whose prefix is a lowercase DNS name"],
  ['App.Org/app', "'App.Org/app': expected a label key, whose prefix is a lowercase DNS name"],
  [`app=${'x'.repeat(64)}`, 'expected a label value: empty, or at most 63 letters'],
])('the label selector %j is rejected: %s', (text, problem) => {
  expect(readLabelSelector(text)).toEqual({ problem: expect.stringContaining(problem) });
});
