/** The requests of an idle node to its API server. */
import { describe, expect, test } from '@jest/globals';
import { olderCluster, simulatedCluster } from '../../../../testing/simulation/cluster/simulatedCluster.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { clusterNode, MINUTE } from './clusterNode.ts';

const PODS = 20;

describe.each([
  ['', simulatedCluster],
  [' an older server, which drops what it does not know and refuses watch lists, of', olderCluster],
])('twenty idle pods ask%s', (_, cluster) => {
  const idle = async () => {
    // An older server does not store all fields of a status, so each new agent compares and patches it once (invariant
    // 10).
    const checkedInvariants = cluster === olderCluster ? invariants.filter(({ number }) => number !== 10) : invariants;
    const made = await clusterNode({ cluster, invariants: checkedInvariants });
    for (let index = 0; index < PODS; index += 1)
      made.node.perform({ kind: 'createPod', pod: manifest(`web-${index}`) });
    await made.node.advance(3 * MINUTE);
    made.asked();
    return made;
  };

  test('nothing but the heartbeats of the node', async () => {
    const { node, asked, pod } = await idle();
    expect(pod('web-19')).toMatchObject({ phase: 'Running' });
    await node.advance(20 * MINUTE);
    const all = asked();
    const isWatch = (each: string) => /^(watch|list) /.test(each);
    const alive = all.filter((each) => / (leases|nodes|nodes\/status) /.test(each) && !isWatch(each));
    expect(all.filter((each) => !isWatch(each) && !alive.includes(each))).toEqual([]);
    // The lease is renewed every ten seconds. The node status is read and patched every five minutes.
    expect(alive.filter((each) => each.includes(' leases ')).length).toBeLessThanOrEqual(121);
    expect(alive.filter((each) => !each.includes(' leases ')).length).toBeLessThanOrEqual(2 * 5);
    // Each watch lasts five to ten minutes.
    expect(all.filter(isWatch).length).toBeLessThanOrEqual(4 * 5);
    node.kill();
  });

  test('nothing more after a restart of the agent', async () => {
    const { node, asked } = await idle();
    node.kill();
    await node.startAgent();
    await node.advance(3 * MINUTE);
    asked();
    await node.advance(10 * MINUTE);
    expect(asked(/pods|events/).filter((each) => !/^(watch|list) /.test(each))).toEqual([]);
    node.kill();
  });
});
