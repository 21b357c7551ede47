import { expect, test } from '@jest/globals';
import type { SimulatedContainer } from '../../../../../cri/simulated/objects/views.ts';
import { oneLiveContainer } from '../../../../../testing/simulation/invariants/containers/oneLiveContainer.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';

type Runs = Pick<SimulatedContainer, 'id' | 'namespace' | 'podName' | 'podUid' | 'containerName'>;

const main: Runs = { id: 'a', namespace: 'default', podName: 'web', podUid: 'uid-1', containerName: 'main' };

/** Returns the violations for these running containers, of which the last one has just started. */
function violationsOf(all: readonly Runs[], strayed: readonly string[] = []) {
  const broken: string[] = [];
  const host = {
    running: (isMeant: (each: Runs) => boolean = () => true) => all.filter(isMeant),
    runtimeFaults: { wasHidden: (id: string) => strayed.includes(id) },
  };
  // The invariant calls nothing else of the host.
  const following = oneLiveContainer.follow({ host } as unknown as Watched, (message) => void broken.push(message));
  following.onEffect?.({ kind: 'started', container: all.at(-1) } as never);
  const atOnce = broken.splice(0);
  following.whole?.();
  expect(broken).toEqual(atOnce);
  return atOnce;
}

test('no container of a pod runs twice', () => {
  expect(violationsOf([main, { ...main, id: 'b', containerName: 'helper' }])).toEqual([]);
  expect(violationsOf([main, { ...main, id: 'b', podName: 'db', podUid: 'uid-2' }])).toEqual([]);
  expect(violationsOf([main, { ...main, id: 'b' }])).toEqual([
    'more than one live container: default/web uid-1 main (2)',
  ]);
});

test('no two pods with the same full name run', () => {
  const other = { ...main, id: 'b', podUid: 'uid-2' };
  expect(violationsOf([main, other])).toEqual(['two pods with the same full name run: default/web (uid-1, uid-2)']);
  expect(violationsOf([main, { ...other, namespace: 'test' }])).toEqual([]);
});

test('an agent is not blamed for running containers that the runtime has not listed', () => {
  expect(violationsOf([main, { ...main, id: 'b' }], ['a'])).toEqual([]);
});
