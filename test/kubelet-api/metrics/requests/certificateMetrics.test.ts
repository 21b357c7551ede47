import { expect, test } from '@jest/globals';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import {
  registerCertificateGauges,
  registerCertificateMetrics,
} from '../../../../kubelet-api/metrics/requests/certificateMetrics.ts';
import { NO_NAMES } from '../../../../kubernetes/node/alternativeNames.ts';
import { samplesOf } from '../support/scraped.ts';

const HOUR_MS = 3_600_000;
const SUBJECT = { commonName: 'system:node:node-1', organizations: ['system:nodes'] };
const certificate = (notBefore: number) => ({
  subject: SUBJECT,
  notBefore,
  notAfter: notBefore + HOUR_MS,
  names: NO_NAMES,
});

test('C42: the age of a serving certificate is observed when the next one replaces it', async () => {
  const registry = new Registry();
  const answered = registerCertificateMetrics(registry);
  const renewed = (name: 'client' | 'serving', at: number) => {
    const input = { name, request: 'csr', uid: 'u', limitMs: 1 };
    answered({ port: 'awaitCertificate', input, ms: 1, output: { certificate: certificate(at), chance: 0, at } });
  };
  const rotations = async () => {
    const samples = await samplesOf(registry);
    const of = (suffix: string) => samples.get(`kubelet_certificate_manager_server_rotation_seconds_${suffix}`);
    return [of('count'), of('sum')];
  };
  answered({ port: 'readCertificate', input: { name: 'serving' }, ms: 1, output: { certificate: null, chance: 0 } });
  renewed('serving', 0);
  renewed('client', HOUR_MS);
  expect(await rotations()).toEqual([0, 0]);
  renewed('serving', 2 * HOUR_MS);
  renewed('serving', 3 * HOUR_MS);
  expect(await rotations()).toEqual([2, 10_800]);
});

test('C42: the remaining lifetime of a certificate is in whole seconds, before and after its expiry', async () => {
  const registry = new Registry();
  const set = registerCertificateGauges(registry, () => 10_000);
  const shown = async (certificates: readonly (readonly [string, number])[]) => {
    set({ certificates: new Map(certificates) });
    const samples = await samplesOf(registry);
    return ['client', 'server'].map((each) => samples.get(`kubelet_certificate_manager_${each}_ttl_seconds`));
  };
  expect(await shown([['client', 12_900]])).toEqual([2, Number.POSITIVE_INFINITY]);
  expect(
    await shown([
      ['client', 11_500],
      ['serving', 7_400],
    ]),
  ).toEqual([1, -2]);
});
