import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { podDomain, podHostname, sandboxHostname } from '../../../kubernetes/environment/hostname.ts';
import { aPod } from '../fixtures.ts';

const sandbox = (spec: Partial<PodSpec>, name = 'web') => sandboxHostname(aPod(spec, { name }), 'cluster.local');

describe('C19: the hostname', () => {
  test.each<[string, Partial<PodSpec>, string]>([
    ["is the pod's name", {}, 'web'],
    ['is the one in the spec', { hostname: 'own' }, 'own'],
    ["is not set on the host's network", { hostNetwork: true, hostname: 'own' }, ''],
    ['is short with a subdomain', { subdomain: 'sub' }, 'web'],
    [
      'is the FQDN if setHostnameAsFQDN is set',
      { subdomain: 'sub', setHostnameAsFQDN: true },
      'web.sub.default.svc.cluster.local',
    ],
    ['is short without a subdomain, even if setHostnameAsFQDN is set', { setHostnameAsFQDN: true }, 'web'],
    [
      'is hostnameOverride if set',
      { hostnameOverride: 'other.example', hostname: 'own', subdomain: 'sub' },
      'other.example',
    ],
  ])('%s', (_what, spec, expected) => {
    expect(sandbox(spec)).toBe(expected);
  });

  test('is cut to 63 characters, without a trailing dash', () => {
    expect(podHostname(aPod({}, { name: 'a'.repeat(70) }))).toBe('a'.repeat(63));
    expect(podHostname(aPod({}, { name: `${'a'.repeat(61)}-.${'b'.repeat(9)}` }))).toBe('a'.repeat(61));
  });

  test('is rejected if the FQDN is too long for the kernel', () => {
    const spec = { subdomain: 's'.repeat(40), setHostnameAsFQDN: true };
    expect(() => sandbox(spec)).toThrow(expect.objectContaining({ reason: 'FailedCreatePodSandBox' }));
  });

  test('is in the domain of the subdomain', () => {
    expect(podDomain(aPod({ subdomain: 'sub' }), 'c.l')).toBe('sub.default.svc.c.l');
    expect(podDomain(aPod(), 'c.l')).toBe('');
    expect(podDomain(aPod({ subdomain: 'sub', hostnameOverride: 'x' }), 'c.l')).toBe('');
  });
});
