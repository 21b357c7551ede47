import { describe, expect, test } from '@jest/globals';
import { explain, nodeExplanationPath, parsePodName, selectedPart } from '../../../../cli/commands/get/explain.ts';

describe('the pod argument of explain and describe', () => {
  test.each([[['pod/web']], [['pods', 'web']], [['po/web']], [['web']]])('%j selects the pod web', (words) => {
    expect(parsePodName(words)).toBe('web');
  });

  test('may equal the name of its kind if the kind is specified', () => {
    expect(parsePodName(['pod/pod'])).toBe('pod');
  });

  test.each([
    [['pod'], 'which pod? expected pod/NAME'],
    [['pods'], 'which pod? expected pod/NAME'],
    [['pod/'], 'pod/: expected pod/NAME'],
    [['pod', 'web', 'db'], 'pod web db: expected pod/NAME'],
    [['node/n'], 'node: unknown kind of resource'],
  ])('%j is rejected', (words, message) => {
    expect(() => parsePodName(words)).toThrow(message);
  });
});

describe('the node argument of explain', () => {
  test.each([
    [['node'], '/explain/node'],
    [['no/host'], '/explain/node/host'],
    [['nodes', 'host'], '/explain/node/host'],
    [['kubernetes/node'], undefined],
    [['web'], undefined],
  ])('%j has the path %s', (words, resource) => expect(nodeExplanationPath(words)).toBe(resource));

  test.each([[['node/']], [['node', 'a', 'b']]])('%j is rejected', (words) => {
    expect(() => nodeExplanationPath(words)).toThrow('expected node or node/NAME');
  });
});

test('explain rejects --if for a pod, because only a node has resources', async () => {
  await expect(explain(['web'], { if: 'memory.available=1' }, () => {})).rejects.toThrow(
    '--if: only a node has resources',
  );
});

describe('the selected part of a pod', () => {
  test.each([
    [{}, undefined],
    [{ container: 'app' }, { kind: 'container', name: 'app' }],
    [{ volume: 'data' }, { kind: 'volume', name: 'data' }],
  ])('with the flags %j is %j', (flags, part) => expect(selectedPart(flags)).toEqual(part));

  test('is at most one, and a node has none', async () => {
    expect(() => selectedPart({ container: 'a', volume: 'b' })).toThrow(
      '--volume: cannot be used together with --container',
    );
    await expect(explain(['node'], { container: 'a' }, () => {})).rejects.toThrow(
      '--container: a node has none, expected pod/NAME',
    );
  });
});
