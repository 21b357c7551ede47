/**
 * Restores what `statelet run` changes on the host like a kubelet: kernel parameters and iptables chains. Jest calls it
 * once before all tests.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const PARAMETERS = ['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops'];

const readParameter = (name: string): string | undefined => {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8');
  } catch {
    return undefined;
  }
};

const hasChains = (program: string): boolean =>
  spawnSync(program, ['-t', 'mangle', '-S', 'KUBE-IPTABLES-HINT']).status === 0;

function removeChains(program: string): void {
  const commands = [
    ['filter', '-D', 'INPUT', '-j', 'KUBE-FIREWALL'],
    ['filter', '-D', 'OUTPUT', '-j', 'KUBE-FIREWALL'],
    ['filter', '-F', 'KUBE-FIREWALL'],
    ['filter', '-X', 'KUBE-FIREWALL'],
    ['mangle', '-X', 'KUBE-IPTABLES-HINT'],
    ...['mangle', 'nat', 'filter'].map((table) => [table, '-X', 'KUBE-KUBELET-CANARY']),
  ];
  for (const [table = '', ...args] of commands) spawnSync(program, ['-w', '5', '-t', table, ...args]);
}

export default function restoreHostSettingsAtExit(): void {
  const parameters = PARAMETERS.map((name) => [name, readParameter(name)] as const);
  const programsWithoutChains = ['iptables', 'ip6tables'].filter((program) => !hasChains(program));
  process.once('exit', () => {
    for (const [name, value] of parameters) {
      if (value !== undefined && readParameter(name) !== value) writeFileSync(`/proc/sys/${name}`, value);
    }
    for (const program of programsWithoutChains) if (hasChains(program)) removeChains(program);
  });
}
