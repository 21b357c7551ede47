import { describe, expect, test } from '@jest/globals';
import {
  dottedSysctl,
  safeSysctls,
  sysctlPatternProblem,
  sysctlRefusal,
} from '../../../kubernetes/admission/sysctls.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aPod } from '../fixtures.ts';

const refusalOf = (name: string, allowed: string[], spec: Partial<PodSpec> = {}) =>
  sysctlRefusal(aPod({ securityContext: { sysctls: [{ name, value: '1' }] }, ...spec }).spec, allowed)?.message;

test.each([
  ['6.1.0-18-amd64', 12],
  ['4.15.0', 12],
  ['4.14.9', 10],
  ['4.5', 9],
  ['4.4.302', 6],
  ['3.16.1', 6],
  ['3.10.0-1160.el7', 5],
  ['', 5],
])('a kernel %s has %d safe sysctls', (release, count) => {
  expect(safeSysctls(release)).toHaveLength(count);
});

describe('sysctls that a pod may set', () => {
  const safe = safeSysctls('6.1.0');

  test('include safe ones, also with slashes', () => {
    expect(refusalOf('net.ipv4.tcp_syncookies', safe)).toBeUndefined();
    expect(refusalOf('net/ipv4/tcp_rmem', safe)).toBeUndefined();
    expect(sysctlRefusal(aPod().spec, safe)).toBeUndefined();
  });

  test('exclude all others, unless the node allows them by name or prefix', () => {
    expect(refusalOf('kernel.msgmax', safe)).toBe('forbidden sysctl: "kernel.msgmax" not allowlisted');
    expect(refusalOf('kernel/msgmax', [...safe, 'kernel.msg*'])).toBeUndefined();
    expect(refusalOf('kernel.msgmax', ['kernel/msgmax'])).toBeUndefined();
    expect(refusalOf('kernel.shmmax', [...safe, 'kernel.msg*'])).toBe(
      'forbidden sysctl: "kernel.shmmax" not allowlisted',
    );
  });

  test('exclude those of a namespace that the pod shares with the host', () => {
    expect(refusalOf('net.ipv4.tcp_syncookies', safe, { hostNetwork: true })).toBe(
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled',
    );
    expect(refusalOf('kernel.msgmax', ['kernel.*'], { hostIPC: true })).toBe(
      'forbidden sysctl: "kernel.msgmax" not allowed with host ipc enabled',
    );
    expect(refusalOf('kernel.shm_rmid_forced', safe, { hostNetwork: true })).toBeUndefined();
    expect(refusalOf('net.ipv4.tcp_syncookies', safe, { hostIPC: true })).toBeUndefined();
  });
});

test.each([
  ['kernel/shm_rmid_forced', 'kernel.shm_rmid_forced'],
  ['net/ipv4/conf/eno2.100/rp_filter', 'net.ipv4.conf.eno2/100.rp_filter'],
  ['net.ipv4.conf.eno2/100.rp_filter', 'net.ipv4.conf.eno2/100.rp_filter'],
])('the sysctl %s is converted to %s', (name, dotted) => {
  expect(dottedSysctl(name)).toBe(dotted);
});

test.each([
  ['kernel.msg*', undefined],
  ['net.*', undefined],
  ['net.core.somaxconn', undefined],
  ['kernel/sem', undefined],
  ['vm.swappiness', 'the sysctls "vm.swappiness" are not known to be namespaced'],
  ['*', '"*" is no sysctl or prefix of some'],
  ['Net.Core', '"Net.Core" is no sysctl or prefix of some'],
])('the sysctl pattern %s is valid or has a problem: %p', (pattern, problem) => {
  expect(sysctlPatternProblem(pattern)).toBe(problem);
});
