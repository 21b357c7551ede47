/**
 * The test API server responds to each recorded request as a real kube-apiserver did, except for the listed exceptions.
 */
import { expect, test } from '@jest/globals';
import { exceptions } from './exceptions.ts';
import { Replay } from './replay.ts';
import { groups, vectorsOf } from './vector.ts';

const exceptionOf = (id: string): string | undefined => [...exceptions.keys()].find((each) => id.startsWith(each));

test('there are recorded responses to compare with', () => {
  expect(groups).toHaveLength(10);
  expect(groups.flatMap(vectorsOf).filter(({ setup }) => !setup).length).toBeGreaterThan(700);
});

const used = new Set<string>();

test.each(groups)('the responses to the recorded requests of %s match', async (group) => {
  const replay = new Replay();
  const failures: string[] = [];
  for (const vector of vectorsOf(group)) {
    const differences = await replay.run(vector);
    const exception = exceptionOf(vector.id);
    if (differences.length === 0) continue;
    if (exception === undefined) failures.push(`${vector.id}: ${differences.join('; ')}`);
    else used.add(exception);
  }
  expect(failures).toEqual([]);
});

test('every listed exception is needed', () => {
  expect([...exceptions.keys()].filter((each) => !used.has(each))).toEqual([]);
});
