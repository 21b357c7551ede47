import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../host/program.ts';
import { cniConfig } from './config.ts';
import { uplinkMtu } from './host.ts';
import type { Layout } from './layout.ts';
import { run } from './program.ts';
import { holdSubnet, releaseSubnet } from './subnet.ts';

/** Writes the pods' network down for containerd, with a subnet that it keeps; gives that subnet. */
export async function prepareNetwork(layout: Layout, wanted?: string): Promise<string> {
  await mkdir(layout.cniConfig, { recursive: true });
  const subnet = await holdSubnet(layout, wanted);
  const file = join(layout.cniConfig, '10-pods.conflist');
  const text = cniConfig({ layout, subnet, mtu: await uplinkMtu() });
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return subnet;
  // A running containerd reads it at once: it must never find a half.
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
  return subnet;
}

/** Removes what the network left on the host: links, rules, addresses, results. Only when no pod is left. */
export async function removeNetwork(layout: Layout, signal: AbortSignal): Promise<void> {
  await removeLinks(layout, signal);
  await removeRules(layout, signal);
  await removeResults(layout);
  await rm(layout.cniData, { recursive: true, force: true });
  await releaseSubnet(layout);
}

/** The ends of the pods' cables go with their namespaces, but later: the kernel takes its time. */
async function removeLinks({ bridge }: Layout, signal: AbortSignal): Promise<void> {
  const ports = await readdir(`/sys/class/net/${bridge}/brif`).catch(() => undefined);
  if (ports === undefined) return;
  // A cable may go by itself in between.
  for (const port of ports) await run('ip', ['link', 'delete', port], { signal }).catch(() => {});
  await run('ip', ['link', 'delete', bridge], { signal });
}

/** How often the rules are read again when they changed while they were to be removed. */
const MOST_TRIES = 10;

async function removeRules({ network }: Layout, signal: AbortSignal): Promise<void> {
  if ((await findProgram('iptables-save')) === undefined) return;
  for (let tries = 1; ; tries++) {
    const removal = rulesToRemove(await run('iptables-save', ['-t', 'nat'], { signal }), network);
    if (removal === undefined) return;
    try {
      await run('iptables-restore', ['--noflush', '--wait'], { signal, input: removal });
      return;
    } catch (error) {
      // Another network may have changed the host ports' common chains in between: then nothing of ours was removed.
      if (tries === MOST_TRIES || signal.aborted) throw error;
    }
  }
}

/**
 * What `iptables-restore` must be told to remove a network's rules from the table that `iptables-save` showed: that
 * which masquerades its subnet, the chains that plugins made, the jumps to them, and the host ports' common chains when no network uses them any more.
 */
export function rulesToRemove(saved: string, network: string): string | undefined {
  const rules = saved.split('\n').filter((line) => line.startsWith('-A '));
  const ours = rules.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  const ownChains = new Set(ours.map(target).filter((name) => name !== undefined && isOwnChain(name)));
  const jumps = ours.filter((rule) => ownChains.has(target(rule)) && !ownChains.has(chain(rule)));
  const others = rules.filter((rule) => chain(rule) === hostPorts && !jumps.includes(rule));
  const common = others.length > 0 ? [] : commonChains.filter((name) => saved.includes(`\n:${name} `));
  const commonJumps = rules.filter(
    (rule) => isIn(common, target(rule)) && !isIn(common, chain(rule)) && !ownChains.has(chain(rule)),
  );
  const chains = [...ownChains, ...common];
  const masquerades = ours.filter((rule) => chain(rule) === 'POSTROUTING' && target(rule) === 'MASQUERADE');
  if (chains.length + masquerades.length === 0) return undefined;
  const lines = [
    ...[...masquerades, ...jumps, ...commonJumps].map((rule) => rule.replace('-A', '-D')),
    // Were the host ports' chain emptied, a rule that came there in between would go unseen: as it is, the whole fails.
    ...chains.filter((name) => name !== hostPorts).map((name) => `-F ${name}`),
    ...chains.map((name) => `-X ${name}`),
  ];
  return `*nat\n${lines.join('\n')}\nCOMMIT\n`;
}

const hostPorts = 'CNI-HOSTPORT-DNAT';
const commonChains = [hostPorts, 'CNI-HOSTPORT-MASQ', 'CNI-HOSTPORT-SETMARK'];

function isOwnChain(name: string): boolean {
  return name.startsWith('CNI-') && !commonChains.includes(name);
}

function isIn(names: readonly string[], name: string | undefined): boolean {
  return name !== undefined && names.includes(name);
}

function chain(rule: string): string | undefined {
  return rule.split(' ')[1];
}

function target(rule: string): string | undefined {
  return / -j (\S+)/.exec(rule)?.[1];
}

const results = '/var/lib/cni/results';

/** The CNI library notes what it gave each sandbox; it forgets it only when the sandbox is removed in order. */
async function removeResults({ network }: Layout): Promise<void> {
  const files = await readdir(results).catch(() => []);
  const ids = files.flatMap((file) =>
    file.startsWith(`${network}-`) ? [file.slice(network.length + 1).split('-')[0]] : [],
  );
  const ours = files.filter((file) => ids.some((id) => id !== undefined && file.includes(`-${id}-`)));
  await Promise.all(ours.map((file) => rm(join(results, file), { force: true })));
}
