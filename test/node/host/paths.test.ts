import { afterEach, expect, test } from '@jest/globals';
import { candidateSockets, defaultStateDirectory, isAgentDirectorySet } from '../../../node/host/paths.ts';

afterEach(() => {
  delete process.env.STATELET_STATE_DIR;
});

test('an agent is searched for in the default root directories of run, of a kubelet and of up, or in the given one', () => {
  const [first, second, ...others] = candidateSockets({});
  expect([first, second]).toEqual(['/var/lib/statelet/run/statelet.sock', '/var/lib/kubelet/statelet.sock']);
  expect(others).toContain('/var/lib/statelet/kubelet/statelet.sock');
  expect(candidateSockets({ rootDir: '/somewhere' })).toEqual(['/somewhere/statelet.sock']);
});

test('STATELET_STATE_DIR is the directory of up and of the search for an agent, unless a flag overrides it', () => {
  expect(isAgentDirectorySet({})).toBe(false);
  process.env.STATELET_STATE_DIR = '/state';
  expect(isAgentDirectorySet({})).toBe(true);
  expect(defaultStateDirectory()).toBe('/state');
  expect(candidateSockets({})).toEqual(['/state/kubelet/statelet.sock']);
  expect(candidateSockets({ stateDir: '/other' })).toEqual(['/other/kubelet/statelet.sock']);
  expect(candidateSockets({ rootDir: '/root' })).toEqual(['/root/statelet.sock']);
});
