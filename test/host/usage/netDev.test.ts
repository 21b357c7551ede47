import { expect, test } from '@jest/globals';
import { parseNetDev } from '../../../host/usage/netDev.ts';

const TEXT = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  929742    1218    0    0    0     0          0         0   929742    1218    0    0    0     0       0          0
  eth0: 1234567     890    1    2    0     0          0         0   765432     321    3    4    0     0       0          0
veth1a2: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0
stateletab12: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0
docker0: 5 5 0 0 0 0 0 0 5 5 0 0 0 0 0 0
eth0.5:18446744073709551615 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0
broken: 1 2
`;

test('parses the traffic of each interface except loopback and pod interfaces', () => {
  expect(parseNetDev(TEXT)).toEqual([
    {
      name: 'eth0',
      rxBytes: 1_234_567,
      rxPackets: 890,
      rxErrors: 1,
      rxDropped: 2,
      txBytes: 765_432,
      txPackets: 321,
      txErrors: 3,
      txDropped: 4,
    },
    {
      name: 'eth0.5',
      rxBytes: 2 ** 64,
      rxPackets: 1,
      rxErrors: 0,
      rxDropped: 0,
      txBytes: 7,
      txPackets: 1,
      txErrors: 0,
      txDropped: 0,
    },
  ]);
});

test('truncated or other text has no interfaces', () => {
  expect(parseNetDev('')).toEqual([]);
  expect(parseNetDev('eth0: 1 2 3')).toEqual([]);
});
