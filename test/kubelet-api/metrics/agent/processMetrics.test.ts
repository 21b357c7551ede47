import { expect, test } from '@jest/globals';
import { registerProcessMetrics } from '../../../../kubelet-api/metrics/agent/processMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { samplesOf } from '../support/scraped.ts';

/** Returns the numbers of bytes that the process received and sent, for this content of `netstat`. */
async function networkBytes(netstat: string): Promise<(number | undefined)[]> {
  const registry = new Registry();
  registerProcessMetrics(registry, async () => netstat);
  const samples = await samplesOf(registry);
  expect(samples.get('process_open_fds')).toBeGreaterThan(0);
  return ['receive', 'transmit'].map((direction) => samples.get(`process_network_${direction}_bytes_total`));
}

test('C42: the network bytes that the kernel counts are exposed, and a missing counter is absent, not 0', async () => {
  const tcp = 'TcpExt: SyncookiesSent\nTcpExt: 3\n';
  expect(await networkBytes(`${tcp}IpExt: InNoRoutes InOctets OutOctets\nIpExt: 1 200 30\n`)).toEqual([200, 30]);
  expect(await networkBytes(`${tcp}IpExt: InNoRoutes OutOctets\nIpExt: 1 0\n`)).toEqual([undefined, 0]);
  expect(await networkBytes(`${tcp}IpExt: InOctets OutOctets\nIpExt: 5\n`)).toEqual([5, undefined]);
  expect(await networkBytes('')).toEqual([undefined, undefined]);
});
