import { describe, expect, test } from '@jest/globals';
import { runAllSteps } from '../../base/async/steps.ts';
import { FORMAT_VERSION } from '../../recording/lines.ts';
import { readLine } from '../../recording/readLine.ts';
import { isWithinLimits, replaceRepeatedObjects, restoreRepeatedObjects } from '../../recording/repeatedParts.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { recordedNode } from './recorded.ts';

/** Returns a value after it was written and read. */
const readBack = (value: unknown): unknown =>
  restoreRepeatedObjects(JSON.parse(JSON.stringify(runAllSteps(replaceRepeatedObjects(value)))));

/** Returns the serialized length of the keyframe of a node with one pod of this number of containers. */
async function keyframeLength(count: number): Promise<number> {
  const containers = Array.from({ length: count }, (_, index) => containerWith(`c${index}`));
  const { node } = await recordedNode({ pods: [podWith('large', { containers })] });
  await node.advance('20s');
  expect(node.container('large', `c${count - 1}`).state).toHaveProperty('running');
  return JSON.stringify(runAllSteps(replaceRepeatedObjects(node.agent.keyframe()))).length;
}

describe('withoutRepeats', () => {
  test('writes an object that occurs repeatedly once', () => {
    const pod = { name: 'web', labels: { app: 'web' } };
    const written = runAllSteps(replaceRepeatedObjects({ one: { pod }, other: { pod } }));
    expect(written).toEqual({ value: { one: { pod: { $shared: 0 } }, other: { pod: { $shared: 0 } } }, shared: [pod] });
  });

  test('writes a keyframe whose length grows with the pod, not with its square', async () => {
    const [few, many] = [await keyframeLength(20), await keyframeLength(80)];
    expect(many / few).toBeLessThan(4.5);
  });
});

describe('withRepeats', () => {
  test('restores a shared object as one object', () => {
    const container = { name: 'main' };
    const pod = { containers: [container] };
    const value = readBack({ pod, actors: [{ pod, container }, { container }] });
    expect(value).toEqual({ pod, actors: [{ pod, container }, { container }] });
    const { actors } = value as { actors: { container: object }[] };
    expect(actors[0]?.container).toBe(actors[1]?.container);
  });

  test.each([{ $shared: 0 }, { $shared: { $shared: 1 } }, [{ $shared: 'a', other: 1 }], { a: { $shared: [] } }])(
    'returns data that looks like a reference unchanged: %j',
    (value) => {
      expect(readBack(value)).toEqual(value);
      expect(readBack([value, value])).toEqual([value, value]);
    },
  );

  test('reads a reference to nothing, or to itself, as null', () => {
    expect(restoreRepeatedObjects({ value: { a: { $shared: 3 } }, shared: [] })).toEqual({ a: null });
    expect(restoreRepeatedObjects({ value: { $shared: 0 }, shared: [{ a: { $shared: 0 } }] })).toEqual({ a: null });
  });
});

/** Data in which each shared object refers twice to the next one. */
const doubling = (depth: number) => ({
  value: { $shared: 0 },
  shared: Array.from({ length: depth }, (_, index) =>
    index === depth - 1 ? {} : { a: { $shared: index + 1 }, b: { $shared: index + 1 } },
  ),
});

describe('isBounded', () => {
  test('rejects references that nest exponentially, and counts each value once', () => {
    expect(isWithinLimits(doubling(20))).toBe(true);
    expect(isWithinLimits(doubling(40))).toBe(false);
    expect(isWithinLimits(doubling(100_000))).toBe(false);
    expect(isWithinLimits({ value: { $shared: 0 }, shared: [{ a: { $shared: 0 }, b: { $shared: 7 } }] })).toBe(true);
  });

  test('rejects references that nest too deeply, even if the innermost one comes first', () => {
    const chain = (length: number) => ({
      value: Array.from({ length }, (_, index) => ({ $shared: length - 1 - index })),
      shared: Array.from({ length }, (_, index) => (index === length - 1 ? {} : { a: { $shared: index + 1 } })),
    });
    expect(isWithinLimits(chain(400))).toBe(true);
    expect(isWithinLimits(chain(20_000))).toBe(false);
  });

  test('rejects a line with such a keyframe as damaged', () => {
    const line = (from: object) =>
      readLine(
        JSON.stringify({
          kind: 'began',
          at: 0,
          format: FORMAT_VERSION,
          machines: '',
          life: '',
          versions: { statelet: '', node: '' },
          input: {},
          from,
        }),
      );
    expect(line(doubling(20))).toBeDefined();
    expect(line(doubling(100))).toBeUndefined();
  });
});
