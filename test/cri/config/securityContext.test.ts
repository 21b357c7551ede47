import { describe, expect, test } from '@jest/globals';
import type { ImageUser } from '../../../cri/config/imageUser.ts';
import { buildContainerSecurityContext } from '../../../cri/config/securityContext.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PodSecurityContext, SecurityContext } from '../../../kubernetes/api/schema/security.ts';
import { container, node, pod } from '../nodeAndPod.ts';

function securityOf(own: SecurityContext, ofPod: PodSecurityContext = {}, image?: ImageUser, facts = node()) {
  const one = container({ securityContext: own });
  return buildContainerSecurityContext(pod({ containers: [one], securityContext: ofPod }), one, facts, image);
}

const root = { value: 0n };

test.each<[string, SecurityContext, PodSecurityContext, object]>([
  [
    'nothing said',
    {},
    {},
    { runAsUser: undefined, runAsGroup: undefined, privileged: false, noNewPrivs: false, readonlyRootfs: false },
  ],
  [
    "the pod's user and group",
    {},
    { runAsUser: 5, runAsGroup: 6 },
    { runAsUser: { value: 5n }, runAsGroup: { value: 6n } },
  ],
  [
    "the container's win",
    { runAsUser: 0 },
    { runAsUser: 5, runAsGroup: 6 },
    { runAsUser: root, runAsGroup: { value: 6n } },
  ],
  [
    "groups are the pod's",
    {},
    { fsGroup: 1, supplementalGroups: [2, 1] },
    { supplementalGroups: [1n, 2n], supplementalGroupsPolicy: 0 },
  ],
  ['strict groups', {}, { supplementalGroupsPolicy: 'Strict' }, { supplementalGroupsPolicy: 1 }],
  [
    'capabilities',
    { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
    {},
    { capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] } },
  ],
  ['privileged', { privileged: true }, {}, { privileged: true }],
  ['a read-only root', { readOnlyRootFilesystem: true }, {}, { readonlyRootfs: true }],
  ['no escalation', { allowPrivilegeEscalation: false }, {}, { noNewPrivs: true }],
  ['escalation allowed', { allowPrivilegeEscalation: true }, {}, { noNewPrivs: false }],
  [
    "SELinux, the container's",
    { seLinuxOptions: { type: 't' } },
    { seLinuxOptions: { level: 'l' } },
    { selinuxOptions: { type: 't', level: '', user: '', role: '' } },
  ],
  ['no windows user', { windowsOptions: { runAsUserName: 'u' } }, {}, { runAsUsername: '' }],
])('%s', (_, own, ofPod, expected) => {
  expect(securityOf(own, ofPod)).toMatchObject(expected);
});

describe("the image's user, if the pod sets none", () => {
  test.each<[string, SecurityContext, ImageUser, object]>([
    [
      'a number',
      { runAsGroup: 6 },
      { uid: 7n },
      { runAsUser: { value: 7n }, runAsUsername: '', runAsGroup: { value: 6n } },
    ],
    [
      'a name',
      { runAsGroup: 6 },
      { username: 'www' },
      { runAsUser: undefined, runAsUsername: 'www', runAsGroup: { value: 6n } },
    ],
    ["the pod's wins", { runAsUser: 1 }, { username: 'www' }, { runAsUser: { value: 1n }, runAsUsername: '' }],
  ])('%s', (_, own, image, expected) => {
    expect(securityOf(own, {}, image)).toMatchObject(expected);
  });
});

describe('seccomp', () => {
  const local = { type: 'Localhost', localhostProfile: 'a/b.json' } as const;
  test.each<[string, SecurityContext, PodSecurityContext, boolean, object]>([
    ['none is unconfined', {}, {}, false, { profileType: 1 }],
    ["none under seccompDefault is the runtime's", {}, {}, true, { profileType: 0 }],
    ["the pod's", {}, { seccompProfile: { type: 'RuntimeDefault' } }, false, { profileType: 0 }],
    [
      "the container's wins",
      { seccompProfile: { type: 'Unconfined' } },
      { seccompProfile: { type: 'RuntimeDefault' } },
      true,
      { profileType: 1 },
    ],
    [
      'a file of the host',
      { seccompProfile: local },
      {},
      false,
      { profileType: 2, localhostRef: '/var/lib/kubelet/seccomp/a/b.json' },
    ],
  ])('%s', (_, own, ofPod, seccompDefault, expected) => {
    expect(securityOf(own, ofPod, undefined, node({ seccompDefault })).seccomp).toMatchObject(expected);
  });

  test.each([[undefined], ['../x'], ['/etc/x'], ['']])('rejects the localhost profile %p', (localhostProfile) => {
    const seccompProfile = {
      type: 'Localhost' as const,
      ...(localhostProfile === undefined ? {} : { localhostProfile }),
    };
    expect(() => securityOf({ seccompProfile })).toThrow(
      expect.objectContaining({ reason: 'CreateContainerConfigError' }),
    );
  });
});

test.each<[SecurityContext, object | undefined, string]>([
  [{}, undefined, ''],
  [{ appArmorProfile: { type: 'RuntimeDefault' } }, { profileType: 0 }, 'runtime/default'],
  [{ appArmorProfile: { type: 'Unconfined' } }, { profileType: 1 }, 'unconfined'],
  [
    { appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } },
    { profileType: 2, localhostRef: 'p' },
    'localhost/p',
  ],
])('AppArmor %j is set in the current field and in the deprecated one', (own, apparmor, apparmorProfile) => {
  const security = securityOf(own);
  expect(security.apparmorProfile).toBe(apparmorProfile);
  if (apparmor === undefined) expect(security.apparmor).toBeUndefined();
  else expect(security.apparmor).toMatchObject(apparmor);
});

test('procMount Default hides paths with information about the host, and Unmasked hides none', () => {
  const { maskedPaths, readonlyPaths } = securityOf({});
  expect(maskedPaths).toContain('/proc/kcore');
  const hot = '/sys/devices/system/cpu/cpu0/thermal_throttle';
  const { maskedPaths: more } = securityOf({}, {}, undefined, node({ maskedPaths: [hot] }));
  expect(more).toEqual([...maskedPaths, hot]);
  expect(readonlyPaths).toContain('/proc/sys');
  expect(securityOf({ procMount: 'Unmasked' })).toMatchObject({ maskedPaths: [], readonlyPaths: [] });
});

test.each<[Partial<PodSpec>, object]>([
  [{}, { network: 0, pid: 1, ipc: 0 }],
  [{ shareProcessNamespace: true }, { pid: 0 }],
  [
    { hostNetwork: true, hostPID: true, hostIPC: true, shareProcessNamespace: true },
    { network: 2, pid: 2, ipc: 2 },
  ],
])('a container of a pod with %j has the namespaces of the pod', (spec, expected) => {
  const one = container();
  const security = buildContainerSecurityContext(pod({ containers: [one], ...spec }), one, node(), undefined);
  expect(security.namespaceOptions).toMatchObject(expected);
});

test('AppArmor: the field of the container takes precedence over its old annotation, and that over the field of the pod', () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/main': 'localhost/noted' };
  const securityContext = { appArmorProfile: { type: 'Unconfined' as const } };
  const named = (over: Parameters<typeof container>[0], metadata = {}) => {
    const one = container(over);
    return buildContainerSecurityContext(pod({ containers: [one], securityContext }, metadata), one, node(), undefined)
      .apparmorProfile;
  };
  expect(named({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, { annotations })).toBe(
    'runtime/default',
  );
  expect(named({}, { annotations })).toBe('localhost/noted');
  expect(named({})).toBe('unconfined');
});
