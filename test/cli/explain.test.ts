import { describe, expect, test } from '@jest/globals';
import { podNameOf } from '../../cli/explain.ts';

describe('the pod that explain and describe are asked for', () => {
  test.each([[['pod/web']], [['pods', 'web']], [['po/web']], [['web']]])('%j is web', (words) => {
    expect(podNameOf(words)).toBe('web');
  });

  test('may be called as its kind is, when the kind is said', () => {
    expect(podNameOf(['pod/pod'])).toBe('pod');
  });

  test.each([
    [['pod'], 'which pod? expected pod/NAME'],
    [['pods'], 'which pod? expected pod/NAME'],
    [['pod/'], 'pod/: expected pod/NAME'],
    [['pod', 'web', 'db'], 'pod web db: expected pod/NAME'],
    [['node/n'], 'node: unknown kind of resource'],
  ])('%j names none', (words, message) => {
    expect(() => podNameOf(words)).toThrow(message);
  });
});
