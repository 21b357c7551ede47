import { expect, test } from '@jest/globals';
import type { SimulatedContainer } from '../../../../../cri/simulated/objects/views.ts';
import { oneLiveContainer } from '../../../../../testing/simulation/invariants/containers/oneLiveContainer.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';

type Runs = Pick<SimulatedContainer, 'id' | 'namespace' | 'podName' | 'podUid' | 'containerName'>;

const main: Runs = { id: 'a', namespace: 'default', podName: 'web', podUid: 'uid-1', containerName: 'main' };

/** What is said of containers that run, the last of which has just started. */
function said(all: readonly Runs[], strayed: readonly string[] = []) {
  const broken: string[] = [];
  const host = {
    running: (isMeant: (each: Runs) => boolean = () => true) => all.filter(isMeant),
    runtimeFaults: { wasHidden: (id: string) => strayed.includes(id) },
  };
  // It asks the host for nothing else.
  const following = oneLiveContainer.follow({ host } as unknown as Watched, (message) => void broken.push(message));
  following.onEffect?.({ kind: 'started', container: all.at(-1) } as never);
  const atOnce = broken.splice(0);
  following.whole?.();
  expect(broken).toEqual(atOnce);
  return atOnce;
}

test('no container of a pod runs twice', () => {
  expect(said([main, { ...main, id: 'b', containerName: 'helper' }])).toEqual([]);
  expect(said([main, { ...main, id: 'b', podName: 'db', podUid: 'uid-2' }])).toEqual([]);
  expect(said([main, { ...main, id: 'b' }])).toEqual(['more than one live container: default/web uid-1 main (2)']);
});

test('no two pods with the same full name run', () => {
  const other = { ...main, id: 'b', podUid: 'uid-2' };
  expect(said([main, other])).toEqual(['two pods with the same full name run: default/web (uid-1, uid-2)']);
  expect(said([main, { ...other, namespace: 'test' }])).toEqual([]);
});

test('an agent is not blamed for running containers that the runtime has not listed', () => {
  expect(said([main, { ...main, id: 'b' }], ['a'])).toEqual([]);
});
