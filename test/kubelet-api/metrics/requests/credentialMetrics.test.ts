import { expect, test } from '@jest/globals';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { registerCredentialMetrics } from '../../../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { samplesOf } from '../support/scraped.ts';

const HOUR_MS = 3_600_000;

function stand() {
  const time = { now: 0 };
  const registry = new Registry();
  const observer = registerCredentialMetrics(registry, () => time.now);
  const sample = async (name: string) => (await samplesOf(registry)).get(`rest_client_exec_plugin_${name}`);
  return { time, observer, sample };
}

test('C42: the plugin certificate that expires first is exposed, to the millisecond', async () => {
  const { time, observer, sample } = stand();
  const [first, second] = [{}, {}];
  expect(await sample('ttl_seconds')).toBe(Number.POSITIVE_INFINITY);
  observer.certificateChanged(first, { notBefore: 0, notAfter: 2 * HOUR_MS });
  observer.certificateChanged(second, { notBefore: 0, notAfter: HOUR_MS });
  time.now = 500;
  expect(await sample('ttl_seconds')).toBe(3_599.5);
  observer.certificateChanged(second, undefined);
  expect(await sample('ttl_seconds')).toBe(7_199.5);
  time.now = 3 * HOUR_MS;
  expect(await sample('ttl_seconds')).toBe(-3_600);
});

test('C42: the age of a plugin certificate is observed when it is replaced', async () => {
  const { time, observer, sample } = stand();
  const [plugin, other] = [{}, {}];
  observer.certificateChanged(plugin, { notBefore: -HOUR_MS, notAfter: HOUR_MS });
  observer.certificateChanged(other, undefined);
  expect(await sample('certificate_rotation_age_count')).toBe(0);
  time.now = HOUR_MS;
  observer.certificateChanged(plugin, undefined);
  observer.certificateChanged(plugin, { notBefore: 0, notAfter: HOUR_MS });
  expect([await sample('certificate_rotation_age_count'), await sample('certificate_rotation_age_sum')]).toEqual([
    1, 7_200,
  ]);
});

test('C42: credential plugin calls are counted by exit code and outcome', async () => {
  const { observer, sample } = stand();
  observer.called({ status: 'plugin_execution_error', code: 3 });
  expect(await sample('call_total{code="3",call_status="plugin_execution_error"}')).toBe(1);
});

test('C42: reloads of certificate authorities are counted by their outcome', async () => {
  const registry = new Registry();
  registerCredentialMetrics(registry, () => 0).caReloaded({ result: 'failure', reason: 'empty' });
  const samples = await samplesOf(registry);
  expect(samples.get('rest_client_transport_ca_reload_total{result="failure",reason="empty"}')).toBe(1);
});
