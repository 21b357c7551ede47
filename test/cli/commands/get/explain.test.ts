import { describe, expect, test } from '@jest/globals';
import { explain, nodeExplanationPath, parsePodName, selectedPart } from '../../../../cli/commands/get/explain.ts';

describe('the pod that explain and describe are asked for', () => {
  test.each([[['pod/web']], [['pods', 'web']], [['po/web']], [['web']]])('%j is web', (words) => {
    expect(parsePodName(words)).toBe('web');
  });

  test('may be called as its kind is, when the kind is said', () => {
    expect(parsePodName(['pod/pod'])).toBe('pod');
  });

  test.each([
    [['pod'], 'which pod? expected pod/NAME'],
    [['pods'], 'which pod? expected pod/NAME'],
    [['pod/'], 'pod/: expected pod/NAME'],
    [['pod', 'web', 'db'], 'pod web db: expected pod/NAME'],
    [['node/n'], 'node: unknown kind of resource'],
  ])('%j names none', (words, message) => {
    expect(() => parsePodName(words)).toThrow(message);
  });
});

describe('the node that explain is asked for', () => {
  test.each([
    [['node'], '/explain/node'],
    [['no/host'], '/explain/node/host'],
    [['nodes', 'host'], '/explain/node/host'],
    [['kubernetes/node'], undefined],
    [['web'], undefined],
  ])('%j is %s', (words, resource) => expect(nodeExplanationPath(words)).toBe(resource));

  test.each([[['node/']], [['node', 'a', 'b']]])('%j is none', (words) => {
    expect(() => nodeExplanationPath(words)).toThrow('expected node or node/NAME');
  });
});

test('a pod has no resources that could be short', async () => {
  await expect(explain(['web'], { if: 'memory.available=1' }, () => {})).rejects.toThrow(
    '--if: only a node has resources',
  );
});

describe('the part of a pod', () => {
  test.each([
    [{}, undefined],
    [{ container: 'app' }, { kind: 'container', name: 'app' }],
    [{ volume: 'data' }, { kind: 'volume', name: 'data' }],
  ])('%j is %j', (flags, part) => expect(selectedPart(flags)).toEqual(part));

  test('is one, and none of a node', async () => {
    expect(() => selectedPart({ container: 'a', volume: 'b' })).toThrow(
      '--volume: cannot be used together with --container',
    );
    await expect(explain(['node'], { container: 'a' }, () => {})).rejects.toThrow(
      '--container: a node has none, expected pod/NAME',
    );
  });
});
