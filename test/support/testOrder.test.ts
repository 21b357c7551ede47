import { expect, test } from '@jest/globals';
import { mixed } from './testOrder.ts';

const paths = (folder: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `/repo/test/${folder}/${index}.test.ts` }));

test('CPU-bound test files and those that mostly wait are spread evenly among four fifths of the others', () => {
  const faulty = { path: '/repo/test/testing/simulation/seededFaults.test.ts' };
  const files = [...paths('pod', 10), ...paths('testing/simulation/everyFault', 1), faulty, ...paths('e2e', 4)];
  const order = mixed(files).map(({ path }) => path.slice('/repo/test/'.length, -'.test.ts'.length));
  expect(order).toEqual([
    'testing/simulation/everyFault/0',
    'e2e/0',
    'pod/0',
    'pod/1',
    'e2e/1',
    'pod/2',
    'pod/3',
    'testing/simulation/seededFaults',
    'e2e/2',
    'pod/4',
    'pod/5',
    'e2e/3',
    'pod/6',
    'pod/7',
    'pod/8',
    'pod/9',
  ]);
});

test.each(['pod', 'e2e', 'testing/simulation/everyFault'])(
  'no test file is lost if all files are in test/%s',
  (folder) => {
    expect(mixed(paths(folder, 3))).toEqual(paths(folder, 3));
  },
);
