import { expect, test } from '@jest/globals';
import { hostPathPlugin } from '../../../volume/plugins/hostPath.ts';
import { findPlugin } from '../../../volume/plugins/plugin.ts';

test('a volume type without a plugin is rejected by its name', () => {
  const volume = { name: 'remote', nfs: { server: 'files', path: '/' } };
  expect(() => findPlugin([hostPathPlugin], volume)).toThrow(
    'volume "remote" cannot be mounted: volumes of type nfs are not supported on this node',
  );
  expect(findPlugin([hostPathPlugin], { name: 'data', hostPath: { path: '/srv' } })).toBe(hostPathPlugin);
});
