import { expect, test } from '@jest/globals';
import { isDiskFault } from '../../../host/files/fileErrors.ts';

const systemError = (code: string, errno: number) => Object.assign(new Error(code), { code, errno });

test.each([
  ['a damaged sector', systemError('EIO', -5)],
  ['a damaged block of XFS', systemError('Unknown system error -117', -117)],
  ['a wrong checksum of ext4', systemError('Unknown system error -74', -74)],
])('%s is a disk error', (_, error) => {
  expect(isDiskFault(error)).toBe(true);
});

test('a missing file is not a disk error', () => {
  expect([systemError('ENOENT', -2), new Error('EIO'), undefined].map(isDiskFault)).toEqual([false, false, false]);
});
