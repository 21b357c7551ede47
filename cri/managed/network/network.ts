import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../../host/program.ts';
import { cniConfig } from '../containerd/config.ts';
import { readUplinkMtu } from '../host.ts';
import type { Layout } from '../layout.ts';
import { run } from '../program.ts';
import { releaseSubnet, reserveSubnet } from './subnet.ts';

/** Writes the CNI configuration of the pod network and returns the subnet that is reserved for it. */
export async function prepareNetwork(layout: Layout, requestedSubnet?: string): Promise<string> {
  await mkdir(layout.cniConfig, { recursive: true });
  const subnet = await reserveSubnet(layout, requestedSubnet);
  const file = join(layout.cniConfig, '10-pods.conflist');
  const config = cniConfig({ layout, subnet, mtu: await readUplinkMtu() });
  if ((await readFile(file, 'utf8').catch(() => '')) === config) return subnet;
  // Write the file atomically, because a running containerd reads it immediately.
  await writeFile(`${file}.new`, config);
  await rename(`${file}.new`, file);
  return subnet;
}

/**
 * Removes the links, rules, IP addresses and cached results of the network from the host. Must be called after all pods
 * have been removed.
 */
export async function removeNetwork(layout: Layout, signal: AbortSignal): Promise<void> {
  await removeLinks(layout, signal);
  await removeRules(layout, signal);
  await removeResults(layout);
  await rm(layout.cniData, { recursive: true, force: true });
  await releaseSubnet(layout);
}

/**
 * Removes the bridge and the veth ends attached to it. The kernel would remove the veth ends too, but only some time
 * after their network namespaces.
 */
async function removeLinks({ bridge }: Layout, signal: AbortSignal): Promise<void> {
  const bridgePorts = await readdir(`/sys/class/net/${bridge}/brif`).catch(() => undefined);
  if (bridgePorts === undefined) return;
  // Ignore a failure, because the kernel may have removed the link in the meantime.
  for (const port of bridgePorts) await run('ip', ['link', 'delete', port], { signal }).catch(() => {});
  await run('ip', ['link', 'delete', bridge], { signal });
}

/** Maximum number of attempts to remove the rules if they change concurrently. */
const MAX_ATTEMPTS = 10;

async function removeRules({ network }: Layout, signal: AbortSignal): Promise<void> {
  if ((await findProgram('iptables-save')) === undefined) return;
  for (let attempt = 1; ; attempt++) {
    const removalInput = formatRuleRemoval(await run('iptables-save', ['-t', 'nat'], { signal }), network);
    if (removalInput === undefined) return;
    try {
      await run('iptables-restore', ['--noflush', '--wait'], { signal, input: removalInput });
      return;
    } catch (error) {
      // Retry, because another network may have changed the shared host port chains in the meantime. In that case,
      // iptables-restore has not changed anything.
      if (attempt === MAX_ATTEMPTS || signal.aborted) throw error;
    }
  }
}

/**
 * Returns the input for `iptables-restore` that removes a network's rules from the output of `iptables-save`, or
 * undefined if there are none. Removes the masquerade rule, the chains of the CNI plugins, the jumps to these chains,
 * and the shared host port chains if no other network uses them.
 */
export function formatRuleRemoval(savedRules: string, network: string): string | undefined {
  const rules = savedRules.split('\n').filter((line) => line.startsWith('-A '));
  const ownRules = rules.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  const ownChains = new Set(ownRules.map(ruleTarget).filter((name) => name !== undefined && isPluginChain(name)));
  const ownJumpRules = ownRules.filter((rule) => ownChains.has(ruleTarget(rule)) && !ownChains.has(ruleChain(rule)));
  const otherJumpRules = rules.filter((rule) => ruleChain(rule) === HOST_PORT_CHAIN && !ownJumpRules.includes(rule));
  const unusedSharedChains =
    otherJumpRules.length > 0 ? [] : SHARED_CHAINS.filter((name) => savedRules.includes(`\n:${name} `));
  const sharedJumpRules = rules.filter(
    (rule) =>
      includesName(unusedSharedChains, ruleTarget(rule)) &&
      !includesName(unusedSharedChains, ruleChain(rule)) &&
      !ownChains.has(ruleChain(rule)),
  );
  const chains = [...ownChains, ...unusedSharedChains];
  const masqueradeRules = ownRules.filter(
    (rule) => ruleChain(rule) === 'POSTROUTING' && ruleTarget(rule) === 'MASQUERADE',
  );
  if (chains.length + masqueradeRules.length === 0) return undefined;
  const removalLines = [
    ...[...masqueradeRules, ...ownJumpRules, ...sharedJumpRules].map((rule) => rule.replace('-A', '-D')),
    // Do not flush the host port chain before its deletion. If a rule is added to the chain concurrently, the deletion
    // fails, and with it the whole transaction.
    ...chains.filter((name) => name !== HOST_PORT_CHAIN).map((name) => `-F ${name}`),
    ...chains.map((name) => `-X ${name}`),
  ];
  return `*nat\n${removalLines.join('\n')}\nCOMMIT\n`;
}

const HOST_PORT_CHAIN = 'CNI-HOSTPORT-DNAT';
const SHARED_CHAINS = [HOST_PORT_CHAIN, 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];

function isPluginChain(name: string): boolean {
  return name.startsWith('CNI-') && !SHARED_CHAINS.includes(name);
}

function includesName(names: readonly string[], name: string | undefined): boolean {
  return name !== undefined && names.includes(name);
}

function ruleChain(rule: string): string | undefined {
  return rule.split(' ')[1];
}

function ruleTarget(rule: string): string | undefined {
  return / -j (\S+)/.exec(rule)?.[1];
}

const CNI_RESULTS_DIRECTORY = '/var/lib/cni/results';

/**
 * Removes the CNI library's cached results for this network. The library itself removes a result only if the sandbox is
 * removed in an orderly way.
 */
async function removeResults({ network }: Layout): Promise<void> {
  const files = await readdir(CNI_RESULTS_DIRECTORY).catch(() => []);
  const ids = files.flatMap((file) =>
    file.startsWith(`${network}-`) ? [file.slice(network.length + 1).split('-')[0]] : [],
  );
  const ownFiles = files.filter((file) => ids.some((id) => id !== undefined && file.includes(`-${id}-`)));
  await Promise.all(ownFiles.map((file) => rm(join(CNI_RESULTS_DIRECTORY, file), { force: true })));
}
