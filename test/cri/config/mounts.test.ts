import { describe, expect, test } from '@jest/globals';
import { containerDevices, containerMounts, listSubPaths, type MountsInput } from '../../../cri/config/mounts.ts';
import type { VolumeMount } from '../../../kubernetes/api/schema/container.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import { container, node, pod } from '../nodeAndPod.ts';

function mountsOf(volumeMounts: VolumeMount[], input: Partial<MountsInput> = {}) {
  return containerMounts({
    pod: pod(),
    container: container({ volumeMounts, terminationMessagePath: '/dev/termination-log' }),
    environment: [{ name: 'DIR', value: 'a' }],
    volumes: { data: { kind: 'path', hostPath: '/vols/data' } },
    node: node(),
    ...input,
  });
}

function mountOf(mount: Partial<VolumeMount>, input: Partial<MountsInput> = {}) {
  return mountsOf([{ name: 'data', mountPath: '/data', ...mount }], input)[0];
}

test.each<[string, Partial<VolumeMount>, object]>([
  ['plain', {}, { containerPath: '/data', hostPath: '/vols/data', readonly: false, propagation: 0 }],
  ['read-only', { readOnly: true }, { readonly: true, recursiveReadOnly: false }],
  ['a relative path', { mountPath: 'data' }, { containerPath: '/data' }],
  ['HostToContainer', { mountPropagation: 'HostToContainer' }, { propagation: 1 }],
  ['Bidirectional', { mountPropagation: 'Bidirectional' }, { propagation: 2 }],
])('%s', (_, mount, expected) => {
  expect(mountOf(mount)).toMatchObject(expected);
});

test('C46: the runtime relabels the volumes of the pod for SELinux but no host paths', () => {
  const own = { data: { kind: 'path', hostPath: '/vols/data', own: true } } as const;
  const image = { data: { kind: 'image', imageRef: 'sha256:1' } } as const;
  expect(mountOf({}, { volumes: own })?.selinuxRelabel).toBe(true);
  expect(mountOf({}, { volumes: image })?.selinuxRelabel).toBe(true);
  expect(mountOf({})?.selinuxRelabel).toBe(false);
});

test('C26: mounts with a subPath use the prepared paths in the order of the mounts', () => {
  const mounts = [{}, { subPath: 'x/./y' }, { subPathExpr: '$(DIR)/b' }].map((more, index) => {
    return { name: 'data', mountPath: `/${index}`, ...more };
  });
  const input = {
    pod: pod(),
    environment: [{ name: 'DIR', value: 'a' }],
    volumes: { data: { kind: 'path' as const, hostPath: '/vols/data' } },
  };
  expect(listSubPaths({ container: container({ volumeMounts: mounts }), ...input })).toEqual([
    { index: 1, volume: 'data', hostPath: '/vols/data', subPath: 'x/y' },
    { index: 2, volume: 'data', hostPath: '/vols/data', subPath: 'a/b' },
  ]);
  const paths = mountsOf(mounts, { subPaths: { 1: '/bound/1', 2: '/bound/2' } }).map(({ hostPath }) => hostPath);
  expect(paths.slice(0, 3)).toEqual(['/vols/data', '/bound/1', '/bound/2']);
  expect(() => mountsOf(mounts)).toThrow('its subPath was not prepared');
});

test('a subPathExpr whose expansion is too large is not tried again, unless a file contributes to its variables', () => {
  const env = [{ name: 'DIR', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'env', key: 'A' } } }];
  const volumeMounts = [{ name: 'data', mountPath: '/data', subPathExpr: '$(DIR)'.repeat(17) }];
  const list = (own: Parameters<typeof container>[0]) =>
    listSubPaths({
      container: container({ volumeMounts, ...own }),
      environment: [{ name: 'DIR', value: 'x'.repeat(2 ** 20) }],
      volumes: {},
    });
  const failure = { reason: 'CreateContainerConfigError', message: expect.stringContaining('subPathExpr[0]') };
  expect(() => list({})).toThrow(expect.objectContaining({ ...failure, isPermanent: true }));
  expect(() => list({ env })).toThrow(expect.objectContaining({ ...failure, isPermanent: false }));
});

test.each<[string, Omit<Volume, 'name'>, boolean]>([
  ['downwardAPI', { downwardAPI: {} }, true],
  ['projected', { projected: {} }, true],
  ['emptyDir', { emptyDir: {} }, false],
  ['configMap', { configMap: { name: 'a', optional: true } }, true],
  ['secret', { secret: { secretName: 'a', optional: true } }, true],
])('a volume of kind %s is mounted read-only: %s', (_kind, volume, readonly) => {
  expect(mountOf({}, { pod: pod({ volumes: [{ name: 'data', ...volume }] }) })?.readonly).toBe(readonly);
});

describe('a mount rejected with CreateContainerConfigError', () => {
  test.each<[string, Partial<VolumeMount>, string]>([
    ['C26: an absolute subPath', { subPath: '/etc' }, 'must not be an absolute path'],
    ['C26: a subPath that goes up', { subPath: 'a/../../b' }, 'must not contain ".."'],
    ['C26: an expanded subPath that goes up', { subPathExpr: '$(DIR)/..' }, 'must not contain ".."'],
    ['a subPathExpr of an unknown variable', { subPathExpr: '$(NONE)' }, 'missing value for "NONE"'],
    ['a volume that is not there', { name: 'other' }, 'cannot find volume "other"'],
    ['a volume by the name of an inherited property', { name: 'constructor' }, 'cannot find volume "constructor"'],
    [
      'recursive read-only where it is unknown',
      { readOnly: true, recursiveReadOnly: 'Enabled' },
      'not supported by the runtime',
    ],
  ])('%s', (_, mount, message) => {
    const refused = () => {
      listSubPaths({
        container: container({ volumeMounts: [{ name: 'data', mountPath: '/data', ...mount }] }),
        environment: [{ name: 'DIR', value: 'a' }],
        volumes: { data: { kind: 'path', hostPath: '/vols/data' } },
      });
      mountOf(mount);
    };
    expect(refused).toThrow(
      expect.objectContaining({ reason: 'CreateContainerConfigError', message: expect.stringContaining(message) }),
    );
  });
});

test.each([
  ['Enabled', true, true],
  ['IfPossible', true, true],
  ['IfPossible', false, false],
  ['Disabled', true, false],
] as const)(
  'recursive read-only %s with runtime support %p results in %p',
  (recursiveReadOnly, recursiveReadOnlyMounts, expected) => {
    const mount = mountOf({ readOnly: true, recursiveReadOnly }, { recursiveReadOnlyMounts });
    expect(mount?.recursiveReadOnly).toBe(expected);
  },
);

describe('C18: the hosts file', () => {
  test('is the one of the pod', () => {
    expect(mountsOf([])).toEqual([
      expect.objectContaining({ containerPath: '/etc/hosts', hostPath: '/var/lib/kubelet/pods/u-1/etc-hosts' }),
    ]);
  });

  test.each(['/etc/hosts', '/etc//hosts', '/etc/./hosts'])(
    'is not mounted if the pod has a mount at %s',
    (mountPath) => {
      expect(mountsOf([{ name: 'data', mountPath }]).map(({ hostPath }) => hostPath)).toEqual(['/vols/data']);
    },
  );
});

test('mounts no termination log if the container sets no path or the node has no file', () => {
  const without = mountsOf([], { container: container(), terminationLog: '/log' });
  expect(without.map(({ containerPath }) => containerPath)).toEqual(['/etc/hosts']);
  expect(mountsOf([]).map(({ containerPath }) => containerPath)).toEqual(['/etc/hosts']);
});

describe('a block device volume', () => {
  const device = (readOnly: boolean) => ({ data: { kind: 'device' as const, hostPath: '/dev/sdb', readOnly } });
  const volumeDevices = [{ name: 'data', devicePath: '/dev/xvda' }];
  const given = { container: container({ volumeDevices }) };

  test('is a device of the container', () => {
    const [device1, device2] = [false, true].flatMap((readOnly) =>
      containerDevices({ ...given, volumes: device(readOnly) }),
    );
    expect(device1).toEqual({ containerPath: '/dev/xvda', hostPath: '/dev/sdb', permissions: 'mrw' });
    expect(device2).toMatchObject({ permissions: 'r' });
  });

  test('cannot be mounted as a directory, and a directory cannot be a device', () => {
    expect(() => mountOf({}, { volumes: device(false) })).toThrow('cannot find volume "data" to mount');
    const volumes = { data: { kind: 'path' as const, hostPath: '/vols/data' } };
    expect(() => containerDevices({ ...given, volumes })).toThrow('cannot find volume "data" to pass into container');
  });
});

describe('an image volume', () => {
  const image = { reference: 'registry/site:1' };
  const given = {
    pod: pod({ volumes: [{ name: 'data', image }] }),
    volumes: { data: { kind: 'image' as const, imageRef: 'sha256:1' } },
  };

  test('is mounted by the runtime, read-only', () => {
    expect(mountOf({}, given)).toMatchObject({
      containerPath: '/data',
      hostPath: '',
      readonly: true,
      image: { image: 'sha256:1', userSpecifiedImage: 'registry/site:1' },
      imageSubPath: '',
    });
  });

  test('C26: exposes its subPath without preparation', () => {
    const mounts = [{ name: 'data', mountPath: '/data', subPath: 'a/b' }];
    expect(listSubPaths({ ...given, container: container({ volumeMounts: mounts }), environment: [] })).toEqual([]);
    expect(mountsOf(mounts, given)[0]).toMatchObject({ hostPath: '', imageSubPath: 'a/b' });
    expect(() => mountOf({ subPath: '../b' }, given)).toThrow('must not contain ".."');
  });
});
