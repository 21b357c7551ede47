import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { ProgramFailure, runProgram } from '../../host/program.ts';
import { UtilChains } from '../../host/utilChains.ts';

/** The test uses its own network namespace, so that the rules of the host stay unchanged. */
const namespace = `statelet-chains-${process.pid}`;
const inNamespace = ['netns', 'exec', namespace];
beforeAll(() => void execFileSync('ip', ['netns', 'add', namespace]));
afterAll(() => void execFileSync('ip', ['netns', 'delete', namespace]));

const { signal } = new AbortController();
const runInNamespace = (program: string, args: readonly string[]) =>
  runProgram('ip', [...inNamespace, program, ...args], { signal, timeoutMs: 30_000 });
const iptables = (...args: string[]) =>
  execFileSync('ip', [...inNamespace, ...args], { encoding: 'utf8', stdio: 'pipe' });
const rules = (program: string, table: string) => iptables(program, '-t', table, '-S').trim().split('\n');

function chainsOf(run: (program: string, args: readonly string[]) => Promise<unknown> = runInNamespace) {
  const clock = new SimulatedClock();
  const messages: string[] = [];
  const chains = new UtilChains({ clock, run, onInfo: (message) => void messages.push(message) });
  return { chains, clock, messages };
}

describe('the iptables chains of a kubelet', () => {
  const drop =
    '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';
  beforeAll(() => void iptables('iptables', '-A', 'INPUT', '-j', 'ACCEPT'));

  test('are created for IPv4 and IPv6, with the firewall first in INPUT and OUTPUT', async () => {
    const { chains, messages } = chainsOf();
    await chains.start();
    expect(messages).toEqual([]);
    const filter = rules('iptables', 'filter');
    expect(filter.filter((rule) => rule.startsWith('-A INPUT'))).toEqual([
      '-A INPUT -j KUBE-FIREWALL',
      '-A INPUT -j ACCEPT',
    ]);
    expect(filter).toEqual(expect.arrayContaining(['-A OUTPUT -j KUBE-FIREWALL', drop, '-N KUBE-KUBELET-CANARY']));
    for (const program of ['iptables', 'ip6tables']) {
      expect(rules(program, 'mangle')).toEqual(
        expect.arrayContaining(['-N KUBE-IPTABLES-HINT', '-N KUBE-KUBELET-CANARY']),
      );
      expect(rules(program, 'nat')).toContain('-N KUBE-KUBELET-CANARY');
    }
    expect(rules('ip6tables', 'filter')).not.toContain('-N KUBE-FIREWALL');
  });

  test('are not created twice', async () => {
    const before = rules('iptables', 'filter');
    const { chains } = chainsOf();
    await chains.start();
    expect(rules('iptables', 'filter')).toEqual(before);
  });

  test('are restored by the next check after a table has been flushed, and not before', async () => {
    const { chains } = chainsOf();
    await chains.start();
    iptables('iptables', '-F', 'KUBE-FIREWALL');
    await chains.check();
    expect(rules('iptables', 'filter')).not.toContain(drop);
    iptables('iptables', '-X', 'KUBE-KUBELET-CANARY');
    await chains.check();
    expect(rules('iptables', 'filter')).toEqual(expect.arrayContaining([drop, '-N KUBE-KUBELET-CANARY']));
  });
});

describe('a host', () => {
  test('without iptables has no chains, which is logged once', async () => {
    const commands: string[] = [];
    const { chains, clock, messages } = chainsOf(async (program) => {
      commands.push(program);
      throw new Error(`${program} is not installed`);
    });
    await chains.start();
    const stop = chains.repeat();
    await clock.advance(600_000);
    stop();
    expect(commands.sort()).toEqual(['ip6tables', 'iptables']);
    expect(messages).toEqual(['this host does not support iptables, so the chain KUBE-IPTABLES-HINT is not created']);
  });

  test('on which a chain cannot be created is checked each minute, and each problem is logged once', async () => {
    let isLocked = true;
    const created: string[] = [];
    const { chains, clock, messages } = chainsOf(async (program, args) => {
      const command = args[4];
      if (program === 'ip6tables') throw new ProgramFailure('no IPv6', { stderr: '', hasTimedOut: false, exitCode: 3 });
      if (command === '-S' && args.includes('POSTROUTING')) return;
      if (command === '-S') throw new ProgramFailure('no chain', { stderr: '', hasTimedOut: false, exitCode: 1 });
      if (isLocked)
        throw new ProgramFailure('another app is holding the lock', { stderr: '', hasTimedOut: false, exitCode: 4 });
      if (command === '-N') created.push(args[5] ?? '');
    });
    await chains.start();
    const stop = chains.repeat();
    await clock.advance(120_000);
    expect(messages).toEqual(['some rules of iptables are missing: another app is holding the lock']);
    isLocked = false;
    await clock.advance(60_000);
    expect(created).toEqual(['KUBE-IPTABLES-HINT', 'KUBE-FIREWALL', ...Array(3).fill('KUBE-KUBELET-CANARY')]);
    stop();
    await clock.advance(600_000);
    expect(created).toHaveLength(5);
  });
});
