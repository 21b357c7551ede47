import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { findCniPluginDirectory } from '../../cri/managed/host.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { run } from '../../cri/managed/program.ts';
import { noAbort, type TestContainerd, withContainerd } from './support/containerd.ts';
import { freePort } from './support/freePort.ts';
import { execIn, runRawPod } from './support/rawPod.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(120_000);

/** Returns the rules of the nat table that contain this text. */
async function natRules(text: string): Promise<string[]> {
  const saved = await run('iptables-save', ['-t', 'nat'], { signal: noAbort });
  return saved.split('\n').filter((line) => line.includes(text));
}

/** Splits a saved rule into the arguments after `-A`, each quoted comment being one argument. */
const ruleArguments = (rule = ''): string[] =>
  [...rule.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)]
    .slice(1)
    .map(([, quoted, word]) => quoted?.replaceAll('\\', '') ?? word ?? '');

const idle = (name: string, { containerd }: TestContainerd) => ({
  name,
  command: ['sleep', '1000'],
  cgroupParent: `${containerd.cgroupParent}/pod-${name}`,
});

test('the pods share one outbound NAT rule, even after a second start, and it is removed with their containerd', async () => {
  const marks = await withContainerd(async (node) => {
    const subnet = node.containerd.podCidr.replace('0/24', '');
    await Promise.all(['one', 'two'].map((name) => runRawPod(node.cri, idle(name, node))));
    await node.containerd.halt();
    await node.again();
    await runRawPod(node.cri, idle('three', node));
    const rules = await natRules(subnet);
    expect(rules).toEqual([expect.stringMatching(/^-A POSTROUTING -s \S+ ! -d \S+ .*-j MASQUERADE$/)]);
    // Removes the rule, as happens when another program loads its own rules.
    await run('iptables', ['--wait', '5', '-t', 'nat', '-D', ...ruleArguments(rules[0])], { signal: noAbort });
    expect(await natRules(subnet)).toEqual([]);
    await node.containerd.restoreMasquerade();
    await node.containerd.restoreMasquerade();
    expect(await natRules(subnet)).toEqual(rules);
    return marksOf(node.directory);
  });
  expect(await traces(marks)).toEqual([]);
});

/**
 * Leaves what remains when containerd is killed after it has set up the network of a sandbox and before it has created
 * the sandbox.
 */
async function interruptedSandbox(node: TestContainerd, sandboxId: string, hostPort: number): Promise<string> {
  const { network, cniData } = layoutOf(node.directory);
  const address = node.containerd.podCidr.replace('0/24', '77');
  const lease = join(cniData, network, address);
  await writeFile(lease, `${sandboxId}\r\neth0`);
  const plugins = (await findCniPluginDirectory()) ?? '';
  const config = {
    cniVersion: '1.0.0',
    name: network,
    type: 'portmap',
    runtimeConfig: { portMappings: [{ hostPort, containerPort: 80, protocol: 'tcp' }] },
    prevResult: { cniVersion: '1.0.0', interfaces: [], ips: [{ address: `${address}/24` }] },
  };
  const environment = {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: sandboxId,
    CNI_NETNS: '/proc/self/ns/net',
    CNI_IFNAME: 'eth0',
    CNI_PATH: plugins,
  };
  await run(join(plugins, 'portmap'), [], { signal: noAbort, input: JSON.stringify(config), environment });
  return lease;
}

test('the address and host ports of a sandbox whose creation was interrupted are free at the next start', async () => {
  await withContainerd(async (node) => {
    const [hostPort, otherPort] = [await freePort(), await freePort()];
    const kept = await runRawPod(node.cri, { ...idle('kept', node), hostPort: otherPort });
    const lease = await interruptedSandbox(node, 'f00d', hostPort);
    expect(await natRules(`--dports ${hostPort} `)).toHaveLength(1);
    process.kill(node.containerd.pid, 'SIGKILL');
    await node.again();
    expect(await natRules(`--dports ${hostPort} `)).toEqual([]);
    expect(existsSync(lease)).toBe(false);
    expect(await natRules(`--dports ${otherPort} `)).toHaveLength(1);
    const next = await runRawPod(node.cri, idle('next', node));
    expect((await execIn(node.cri, next.containerId, 'ping', '-c1', '-W2', kept.ip)).exitCode).toBe(0);
  });
});
