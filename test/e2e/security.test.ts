import { mkdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { SecurityContext } from '../../kubernetes/api/schema/security.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode, {
  args: ['--node-labels', 'zone=a', '--allowed-unsafe-sysctls', 'kernel.msg*'],
  prepare: async ({ rootDir }) => {
    const seccomp = join(rootDir, 'seccomp', 'profiles');
    await mkdir(seccomp, { recursive: true });
    const syscalls = [{ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' }];
    await writeFile(join(seccomp, 'no-mkdir.json'), JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls }));
  },
});

const end = 'that is all';

/** Returns a container that prints the output of a script and then runs until it is stopped. */
const printing = (name: string, script: string, securityContext: SecurityContext = {}): Container =>
  shell(name, steadily(`{ ${script}; } 2>&1; echo ${end}`), { securityContext });

/** Runs a pod, and returns the output lines of each of its containers by name. */
async function outputOf(
  name: string,
  containers: Container[],
  spec: Partial<PodSpec> = {},
): Promise<Record<string, string[]>> {
  await node.write(name, podManifest(name, containers, spec));
  const pod = await node.running(name);
  const logs = containers.map(async (each) => [each.name, await node.log(pod, each.name, end)] as const);
  return Object.fromEntries(await Promise.all(logs));
}

/** Prints a field of the process's /proc/self/status. */
const statusOf = (field: string) => `sed -n 's/^${field}:[[:space:]]*//p' /proc/self/status`;

describe('the privileges of a container', () => {
  test('include the users and groups of the container or else of the pod, and supplemental groups and fsGroup', async () => {
    const whoami = 'id -u; id -g; id -G';
    const ids = await outputOf(
      'users',
      [printing('inherits', whoami), printing('differs', whoami, { runAsUser: 7, runAsGroup: 8 })],
      { securityContext: { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000, supplementalGroups: [4000] } },
    );
    expect(ids).toEqual({
      inherits: ['1000', '2000', '2000 3000 4000'],
      differs: ['7', '8', '8 3000 4000'],
    });
  });

  test('cover capabilities, no_new_privs, seccomp and the root file system', async () => {
    const bounds = statusOf('CapBnd');
    const modes = `${statusOf('NoNewPrivs')}; ${statusOf('Seccomp')}`;
    const outputs = await outputOf('privileges', [
      printing('none', bounds, { capabilities: { drop: ['ALL'] } }),
      printing('few', bounds, { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'CHOWN'] } }),
      printing('more', bounds, { capabilities: { add: ['NET_ADMIN'], drop: ['CHOWN'] } }),
      printing('plain', modes),
      printing('strict', modes, { allowPrivilegeEscalation: false, seccompProfile: { type: 'RuntimeDefault' } }),
      printing('own', 'mkdir /x; touch /y && echo touched', {
        seccompProfile: { type: 'Localhost', localhostProfile: 'profiles/no-mkdir.json' },
      }),
      printing('fixed', 'touch /x', { readOnlyRootFilesystem: true }),
    ]);
    const has = (name: string, bit: number) => (BigInt(`0x${outputs[name]?.[0]}`) >> BigInt(bit)) & 1n;
    expect(outputs).toMatchObject({
      none: ['0000000000000000'],
      few: ['0000000000000401'],
      plain: ['0', '0'],
      strict: ['1', '2'],
      own: ["mkdir: can't create directory '/x': Operation not permitted", 'touched'],
      fixed: ['touch: /x: Read-only file system'],
    });
    // Capability numbers: NET_ADMIN is 12, CHOWN is 0, KILL is 5.
    expect([has('more', 12), has('more', 0), has('more', 5)]).toEqual([1n, 0n, 1n]);
  });

  test('mask host information and forbid writes to it, unless the container is privileged', async () => {
    const probe =
      'wc -c < /proc/timer_list; ls -A /sys/firmware | wc -l; v=$(cat /proc/sys/vm/swappiness); (echo $v > /proc/sys/vm/swappiness) && echo written';
    const outputs = await outputOf('masked', [
      printing('plain', probe),
      printing('privileged', probe, { privileged: true }),
    ]);
    expect(outputs.plain?.[0]).toBe('0');
    expect(outputs.plain?.[1]).toBe('0');
    expect(outputs.plain?.[2]).toMatch(/Read-only file system/);
    expect(outputs.privileged?.at(-1)).toBe('written');
  });
});

describe('a pod', () => {
  const links = ['net', 'pid', 'ipc'] as const;
  const probe = links.map((each) => `readlink /proc/self/ns/${each}`).join('; ');
  const own = () => Promise.all(links.map((each) => readlink(`/proc/self/ns/${each}`)));

  test('shares nothing with the host by default, and its containers share the network and IPC', async () => {
    const { one = [], two = [] } = await outputOf('apart', [printing('one', probe), printing('two', probe)]);
    const host = await own();
    expect(one.filter((each) => host.includes(each))).toEqual([]);
    expect([one[0] === two[0], one[1] === two[1], one[2] === two[2]]).toEqual([true, false, true]);
  });

  test('shares processes among its containers if configured', async () => {
    // The brackets prevent grep from finding itself.
    const find = "until grep -l 'the[-]other' /proc/[0-9]*/cmdline > /dev/null; do sleep 0.1; done; cat /proc/1/comm";
    const containers = [printing('one', find), printing('two', ': the-other')];
    const { one } = await outputOf('processes', containers, { shareProcessNamespace: true });
    // The first process belongs to the sandbox.
    expect(one).not.toEqual(['sh']);
  });

  test('shares the network, processes and IPC of the host if configured', async () => {
    const spec = { hostNetwork: true, hostPID: true, hostIPC: true };
    const { main } = await outputOf('host', [printing('main', probe)], spec);
    expect(main).toEqual(await own());
  });
});

describe('the node', () => {
  test('sets the sysctls of a pod that are safe or permitted', async () => {
    const sysctls = [
      { name: 'net.ipv4.ip_unprivileged_port_start', value: '80' },
      { name: 'kernel/shm_rmid_forced', value: '1' },
      { name: 'kernel.msgmax', value: '65000' },
    ];
    const files = ['net/ipv4/ip_unprivileged_port_start', 'kernel/shm_rmid_forced', 'kernel/msgmax'];
    const probe = `cat ${files.map((file) => `/proc/sys/${file}`).join(' ')}`;
    const { main } = await outputOf('sysctls', [printing('main', probe)], { securityContext: { sysctls } });
    expect(main).toEqual(['80', '1', '65000']);
  });

  test('rejects a pod that does not fit as Failed with the reason', async () => {
    const main = [shell('main', steadily())];
    const sysctls = [{ name: 'net.core.somaxconn', value: '9' }];
    await node.write('unsafe', podManifest('unsafe', main, { securityContext: { sysctls } }));
    await node.write('elsewhere', podManifest('elsewhere', main, { nodeSelector: { zone: 'b' } }));
    const failed = (name: string) =>
      node.until('has failed', name, ({ status }) => status?.phase === 'Failed' && status);
    expect(await failed('unsafe')).toMatchObject({
      reason: 'SysctlForbidden',
      message: 'Pod was rejected: forbidden sysctl: "net.core.somaxconn" not allowlisted',
    });
    expect(await failed('elsewhere')).toMatchObject({ reason: 'NodeAffinity' });
  });

  test('rejects an image that runs as root under runAsNonRoot, and accepts another user', async () => {
    const nonRoot = { runAsNonRoot: true };
    const containers = [
      shell('root', steadily(), { securityContext: nonRoot }),
      printing('user', 'id -u', { ...nonRoot, runAsUser: 5 }),
    ];
    await node.write('rootless', podManifest('rootless', containers));
    const pod = await node.until('one runs and one is refused', 'rootless', (each) => {
      const { state } = containerOf(each, 'root');
      const isRunning = containerOf(each, 'user').state?.running !== undefined;
      return isRunning && state?.waiting?.reason === 'CreateContainerConfigError' && each;
    });
    expect(containerOf(pod, 'root').state?.waiting?.message).toContain(
      'container has runAsNonRoot and image will run as root (pod: "rootless-node_default(',
    );
    expect(await node.log(pod, 'user', end)).toEqual(['5']);
  });
});
