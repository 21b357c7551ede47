/** The test API server answers as a real one did: each recorded request, or an exception with its reason. */
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

test.each(groups)('%s', async (group) => {
  const replay = new Replay();
  const wrong: string[] = [];
  for (const vector of vectorsOf(group)) {
    const found = await replay.run(vector);
    const exception = exceptionOf(vector.id);
    if (found.length === 0) continue;
    if (exception === undefined) wrong.push(`${vector.id}: ${found.join('; ')}`);
    else used.add(exception);
  }
  expect(wrong).toEqual([]);
});

test('every listed exception is needed', () => {
  expect([...exceptions.keys()].filter((each) => !used.has(each))).toEqual([]);
});
