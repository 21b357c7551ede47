import { expect, test } from '@jest/globals';
import { candidateSockets } from '../../node/places.ts';

test('an agent is looked for at the default places of run, of a kubelet and of up, or at the one named', () => {
  const [first, second, ...others] = candidateSockets({});
  expect([first, second]).toEqual(['/var/lib/statelet/run/statelet.sock', '/var/lib/kubelet/statelet.sock']);
  expect(others).toContain('/var/lib/statelet/kubelet/statelet.sock');
  expect(candidateSockets({ rootDir: '/somewhere' })).toEqual(['/somewhere/statelet.sock']);
});
