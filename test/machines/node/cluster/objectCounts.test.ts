import { expect, test } from '@jest/globals';
import { countFacts } from '../../../../machines/node/cluster/objectCounts.ts';

test('each reason for unavailable objects is shown once with some names and its start', () => {
  const since = Date.UTC(2026, 10, 27, 13, 5, 6);
  const unavailableObjects = [
    { cause: 'forbidden', count: 4, names: ['a/b', 'a/c', 'a/d'], since },
    { cause: 'not found', count: 1, names: ['a/e'], since: since + 1_500 },
  ];
  expect(countFacts({ strategy: 'Cache', objectCount: 7, unavailableObjects })).toEqual([
    '7 objects',
    'strategy Cache',
    '4 forbidden since 2026-11-27 13:05:06 UTC (a/b, a/c, a/d and 1 more)',
    '1 not found since 2026-11-27 13:05:07 UTC (a/e)',
  ]);
  expect(countFacts({ objectCount: 1, unavailableObjects: [] })).toEqual(['1 object']);
});
