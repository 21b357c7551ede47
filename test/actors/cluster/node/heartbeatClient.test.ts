import { expect, test } from '@jest/globals';
import { createHeartbeatClient } from '../../../../actors/cluster/node/heartbeatClient.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import { NODE_TYPE } from '../../../../kubeclient/paths.ts';
import { answered, brokenOff, type Reply, refused, silent, ToldTransport } from '../../../fakes/toldTransport.ts';
import { joiningNode, LEASE } from '../support/joiningNode.ts';

class CountingTransport extends ToldTransport {
  resets = 0;

  override reset(): void {
    this.resets += 1;
  }
}

function heartbeats(...replies: readonly Reply[]) {
  const clock = new SimulatedClock();
  const transport = new CountingTransport(...replies);
  const client = createHeartbeatClient(new KubeClient({ transport, clock, userAgent: 'statelet/test' }), 4_000);
  const ending = new AbortController();
  /** Returns the total number of connection resets after each of `tries` attempts. */
  const resetsAfter = async (tries: number) => {
    const resets: number[] = [];
    for (let done = 0; done < tries; done += 1) {
      await clock.advanceUntilSettled(client.get('/x', { type: NODE_TYPE, signal: ending.signal }).catch(() => {}));
      resets.push(transport.resets);
    }
    return resets;
  };
  return { clock, transport, client, ending, resetsAfter };
}

test('from the second unanswered attempt on each attempt resets the connections, until an attempt is answered', async () => {
  const { resetsAfter } = heartbeats(silent(), brokenOff(), silent(), answered(200, NODE_TYPE), silent(), silent());
  expect(await resetsAfter(6)).toEqual([0, 1, 2, 2, 2, 3]);
});

test('any response, even an error or an unreadable one, counts as an answer', async () => {
  const { resetsAfter } = heartbeats(refused(500, 'A'), refused(500, 'A'), silent(), answered(200, '<'), silent());
  expect(await resetsAfter(5)).toEqual([0, 0, 0, 0, 0]);
});

test('an attempt ends at its timeout, or earlier if the caller sets a shorter one', async () => {
  const { clock, client, ending } = heartbeats(silent(), silent());
  const { signal } = ending;
  const [own, shorter] = [
    client.update('/x', NODE_TYPE, { signal }),
    client.create('/x', NODE_TYPE, { signal, timeoutMs: 500 }),
  ];
  const failed = [expect(own).rejects.toThrow('within 4s'), expect(shorter).rejects.toThrow('within 0.5s')];
  await clock.advance(4_000);
  await Promise.all(failed);
});

test('aborted attempts do not reset the connections', async () => {
  const { client, ending, transport } = heartbeats(silent(), silent(), silent());
  ending.abort(new Error('enough'));
  for (let tries = 0; tries < 3; tries += 1)
    await expect(client.patch('/x', {}, { signal: ending.signal, type: NODE_TYPE })).rejects.toThrow('enough');
  expect(transport.resets).toBe(0);
});

test.each([
  ['as often as the status is looked at', { statusCheckMs: 3_000 }, 3_000],
  ['as long as the lease lasts', { leaseSeconds: 2 }, 2_000],
  ['ten seconds', { statusCheckMs: 60_000 }, 10_000],
])(
  'a lease renewal replaces a dead connection after two attempts (time limit of each: %s)',
  async (_, parts, tryMs) => {
    const { renew, troubled, transport, clock, register, asked } = joiningNode(parts);
    await register();
    await renew();
    asked();
    troubled('update', { kind: 'hung' }, 'leases', 2);
    const renewed = renew();
    await clock.advance(2 * tryMs - 1);
    expect(transport.resets).toBe(0);
    await clock.advance(1);
    expect(await renewed).toBe(true);
    expect(transport.resets).toBe(1);
    expect(asked()).toEqual(new Array(3).fill(`PUT ${LEASE}`));
  },
);

test('a dead connection costs the node status two attempts', async () => {
  const { hear, put, troubled, transport, clock, register, changes } = joiningNode({ statusCheckMs: 3_000 });
  await register();
  await hear();
  changes.of = { addresses: ['192.0.2.2'] };
  troubled('patch', { kind: 'hung' }, 'nodes');
  troubled('get', { kind: 'hung' }, 'nodes');
  const written = put();
  await clock.advance(6_000);
  expect(transport.resets).toBe(1);
  expect(await written).toMatchObject({ isWritten: true });
});
