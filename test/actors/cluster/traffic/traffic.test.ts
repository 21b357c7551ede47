/** Compares the requests of the node with those of the kubelet in the recorded scenarios. */
import { describe, expect, test } from '@jest/globals';
import { accountOf } from './account.ts';
import { differences } from './compare.ts';
import { POD_REASONS, undeclared } from './declared.ts';
import { played } from './play.ts';
import { recordedRequests } from './recording.ts';
import { isOf } from './scenario.ts';
import { SCENARIOS } from './scenarios/all.ts';

describe('the node sends no more requests than a kubelet, and reports the same', () => {
  test.each(SCENARIOS)('in scenario $name', async (scenario) => {
    const node = accountOf(await played(scenario));
    const kubelet = accountOf(recordedRequests(scenario.name).filter((request) => isOf(scenario, request)));
    expect(node.sent).toEqual(scenario.sends);
    const found = differences(kubelet, node);
    expect(undeclared(POD_REASONS, scenario.name, found)).toEqual({ undeclared: [], notFound: [] });
  });
});
