import { expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import type { PodSecurityContext, SecurityContext } from '../../../../../kubernetes/api/schema/security.ts';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

/** Formats the problems of a pod, one per line. */
const wrong = (spec: Partial<PodSpec>, annotations: Record<string, string> = {}) =>
  problemsIn(aPod(spec, { annotations })).map(({ path, message }) => `${path}: ${message}`);

/** Formats the problems of a static pod, which no API server has validated. */
const wrongInFile = (spec: Partial<PodSpec>, annotations: Record<string, string> = {}) =>
  wrong(spec, { ...annotations, 'kubernetes.io/config.source': 'file' });

/** The security context of a container as messages show it. */
const inGo = (over: object) =>
  JSON.stringify({
    Capabilities: null,
    Privileged: null,
    SELinuxOptions: null,
    WindowsOptions: null,
    RunAsUser: null,
    RunAsGroup: null,
    RunAsNonRoot: null,
    ReadOnlyRootFilesystem: null,
    AllowPrivilegeEscalation: false,
    ProcMount: null,
    SeccompProfile: null,
    AppArmorProfile: null,
    ...over,
  });

const own = 'spec.containers[0].securityContext';
const range = 'must be between 0 and 2147483647, inclusive';

test.each<[PodSecurityContext, string[]]>([
  [{ runAsUser: 0, runAsGroup: 2 ** 31 - 1, fsGroup: 0, supplementalGroups: [0] }, []],
  [{ runAsUser: -1 }, [`spec.securityContext.runAsUser: Invalid value: -1: ${range}`]],
  [{ runAsGroup: 2 ** 31 }, [`spec.securityContext.runAsGroup: Invalid value: 2147483648: ${range}`]],
  [{ fsGroup: -5 }, [`spec.securityContext.fsGroup: Invalid value: -5: ${range}`]],
  [{ supplementalGroups: [1, -2] }, [`spec.securityContext.supplementalGroups[1]: Invalid value: -2: ${range}`]],
  [{ seLinuxChangePolicy: 'Recursive' }, []],
  [
    { seLinuxChangePolicy: 'MountOption' },
    ['spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"'],
  ],
  [{ seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' } }, []],
  [
    { seccompProfile: { type: 'Localhost' } },
    [
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
  ],
  [
    { seccompProfile: { type: 'Localhost', localhostProfile: '/a' } },
    ['spec.securityContext.seccompProfile.localhostProfile: Invalid value: "/a": must be a relative path'],
  ],
  [
    { seccompProfile: { type: 'Localhost', localhostProfile: '../a' } },
    ['spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../a": must not contain \'..\''],
  ],
  [
    { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'a' } },
    [
      'spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [{ sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '0' }] }, []],
  [{ sysctls: [{ name: '', value: '' }] }, ['spec.securityContext.sysctls[0].name: Required value']],
  [
    {
      sysctls: [
        { name: 'a.b', value: '' },
        { name: 'a.b', value: '' },
      ],
    },
    ['spec.securityContext.sysctls[1].name: Duplicate value: "a.b"'],
  ],
])('the pod-level security context %j is validated', (securityContext, expected) => {
  expect(wrong({ securityContext })).toEqual(expected);
});

test.each<[SecurityContext, string[]]>([
  [{ runAsUser: -1 }, [`${own}.runAsUser: Invalid value: -1: ${range}`]],
  [{ allowPrivilegeEscalation: false, capabilities: { add: ['NET_ADMIN'] } }, []],
  [
    { allowPrivilegeEscalation: false, privileged: true },
    [
      `${own}: Invalid value: ${inGo({ Privileged: true })}: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
    ],
  ],
  [
    { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
    [
      `${own}: Invalid value: ${inGo({ Capabilities: { Add: ['CAP_SYS_ADMIN'], Drop: null } })}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
    ],
  ],
  [{ procMount: 'Default' }, []],
  [
    { procMount: 'Unmasked' },
    [`${own}.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``],
  ],
  [
    { appArmorProfile: { type: 'Localhost' } },
    [`${own}.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost`],
  ],
  [
    { appArmorProfile: { type: 'Localhost', localhostProfile: ' a' } },
    [`${own}.appArmorProfile.localhostProfile: Invalid value: " a": must not be padded with whitespace`],
  ],
  [
    { appArmorProfile: { type: 'Localhost', localhostProfile: 'a'.repeat(4096) } },
    [`${own}.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes`],
  ],
  [
    { appArmorProfile: { type: 'Unconfined', localhostProfile: 'a' } },
    [`${own}.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost`],
  ],
])('the security context %j of a container is validated', (securityContext, expected) => {
  expect(wrong({ containers: [aContainer({ securityContext })] })).toEqual(expected);
});

const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name, value: '1' }] } });
const unmasked = { containers: [aContainer({ securityContext: { procMount: 'Unmasked' as const } })] };

test.each<[Partial<PodSpec>, string[]]>([
  [{ hostUsers: false, ...unmasked }, []],
  [
    { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
    ['hostNetwork', 'HostPID', 'HostIPC'].map((field) => `spec.${field}: Forbidden: when \`hostUsers\` is false`),
  ],
  [
    { hostPID: true, shareProcessNamespace: true },
    [
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ],
  [{ hostNetwork: true, ...sysctl('kernel.sem') }, []],
  [
    { hostNetwork: true, ...sysctl('net/ipv4/tcp_syncookies') },
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "net/ipv4/tcp_syncookies": may not be specified when \'hostNetwork\' is true',
    ],
  ],
  [
    { hostIPC: true, ...sysctl('kernel.sem') },
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "kernel.sem": may not be specified when \'hostIPC\' is true',
    ],
  ],
  [{ securityContext: { windowsOptions: {} } }, []],
  [
    { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
    ['spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod'],
  ],
])('a pod with %j is validated', (spec, expected) => {
  expect(wrongInFile(spec)).toEqual(expected);
});

test('names of sysctls must be valid', () => {
  expect(wrong(sysctl('Net.Core'))).toEqual([
    expect.stringContaining(
      'sysctls[0].name: Invalid value: "Net.Core": must have at most 253 characters and match regex',
    ),
  ]);
});

const annotation = 'container.apparmor.security.beta.kubernetes.io/';

test.each<[string, string, string[]]>([
  ['main', 'runtime/default', []],
  ['main', 'localhost/mine', []],
  ['main', '', []],
  ['other', 'unconfined', [`metadata.annotations[${annotation}other]: Invalid value: "other": container not found`]],
  [
    'main',
    'mine',
    [`metadata.annotations[${annotation}main]: Invalid value: "mine": invalid AppArmor profile name: "mine"`],
  ],
])('the AppArmor annotation of container %s is validated: %s', (name, value, expected) => {
  expect(wrongInFile({}, { [`${annotation}${name}`]: value })).toEqual(expected);
});

test('the AppArmor annotation must match the field', () => {
  const containers = [aContainer({ securityContext: { appArmorProfile: { type: 'Unconfined' } } })];
  expect(wrongInFile({ containers }, { [`${annotation}main`]: 'unconfined' })).toEqual([]);
  expect(wrongInFile({ containers }, { [`${annotation}main`]: 'runtime/default' })).toEqual([
    `${own}.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`,
  ]);
});
