/** Compares the requests of the node about itself with those of the kubelet in the recorded scenarios. */
import { describe, expect, test } from '@jest/globals';
import { undeclared } from './declared.ts';
import { nodeAccount } from './nodeAccount.ts';
import { nodeDifferences } from './nodeCompare.ts';
import { NODE_REASONS } from './nodeDeclared.ts';
import { played } from './play.ts';
import { recordedRequests } from './recording.ts';
import { inWindows } from './scenario.ts';
import { NODE_SCENARIOS } from './scenarios/nodes.ts';

const START = nodeAccount([recordedRequests('01-register')]);

describe('the node reports the same about itself as a kubelet, with no more requests', () => {
  test.each(NODE_SCENARIOS)('in scenario $name', async (scenario) => {
    const node = nodeAccount(inWindows(scenario, await played({ ...scenario, isWhole: true })));
    const kubelet = nodeAccount(inWindows(scenario, recordedRequests(scenario.name)));
    const found = nodeDifferences(kubelet, node, START);
    expect(node.sent).toEqual(scenario.sendsOfNode);
    expect(undeclared(NODE_REASONS, scenario.name, found)).toEqual({ undeclared: [], notFound: [] });
  });
});
