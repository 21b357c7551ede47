import { afterEach, expect, test } from '@jest/globals';
import { candidateSockets, defaultStateDirectory, isAgentDirectorySet } from '../../../node/host/paths.ts';

afterEach(() => {
  delete process.env.STATELET_STATE_DIR;
});

test('an agent is looked for at the default places of run, of a kubelet and of up, or at the one named', () => {
  const [first, second, ...others] = candidateSockets({});
  expect([first, second]).toEqual(['/var/lib/statelet/run/statelet.sock', '/var/lib/kubelet/statelet.sock']);
  expect(others).toContain('/var/lib/statelet/kubelet/statelet.sock');
  expect(candidateSockets({ rootDir: '/somewhere' })).toEqual(['/somewhere/statelet.sock']);
});

test('STATELET_STATE_DIR is where up runs and where an agent is looked for, unless a flag names another place', () => {
  expect(isAgentDirectorySet({})).toBe(false);
  process.env.STATELET_STATE_DIR = '/state';
  expect(isAgentDirectorySet({})).toBe(true);
  expect(defaultStateDirectory()).toBe('/state');
  expect(candidateSockets({})).toEqual(['/state/kubelet/statelet.sock']);
  expect(candidateSockets({ stateDir: '/other' })).toEqual(['/other/kubelet/statelet.sock']);
  expect(candidateSockets({ rootDir: '/root' })).toEqual(['/root/statelet.sock']);
});
