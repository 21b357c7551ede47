import { describe, expect, test } from '@jest/globals';
import { OomKillParser } from '../../../host/kernelLog/oomKills.ts';
import {
  containerIdOfKill,
  isSystemOom,
  killedProcess,
  type OomKill,
  oomKillMessage,
  systemOomMessage,
} from '../../../kubernetes/lifecycle/oomKill.ts';

const ID = 'ef807430361e6e82b45db92e2e9b6fbec98f419b12c591e655c1a725565e73a8';
const POD = '/kubepods/burstable/podfbdfe8e3-1c87-4ff2-907c-b2ec8e25d012';
const SLICE =
  '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podfbdfe8e3_1c87_4ff2_907c_b2ec8e25d012.slice';
const KB = 1_024;

/**
 * Parses messages, the nth of which has the time n. Returns the kills, including one that is still pending at the end.
 */
function kills(...texts: readonly string[]): OomKill[] {
  const parser = new OomKillParser();
  return [...texts.map((text, at) => parser.push({ at, text })), parser.flush()].filter((kill) => kill !== undefined);
}

const invoked = (name: string) => `${name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=985`;
const summary = (limit: string, cgroup: string, name: string, pid: number) =>
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-${ID}.scope,mems_allowed=0,${limit},task_memcg=${cgroup},task=${name},pid=${pid},uid=0`;

describe('C48: a kill in the messages of', () => {
  test('Linux 6.18 at a limit on cgroup v1', () => {
    expect(
      kills(
        'python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0',
        'CPU: 0 UID: 0 PID: 2828 Comm: python3 Not tainted 6.18.44 #1 PREEMPT(none) ',
        'memory: usage 20480kB, limit 20480kB, failcnt 114',
        `Memory cgroup stats for ${POD}:`,
        '[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name',
        '[   2828]     0  2828    29742     6719     5056     1663         0    98304        0             0 python3',
        `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=${POD},task_memcg=${POD}/${ID},task=python3,pid=2828,uid=0`,
        'Memory cgroup out of memory: Killed process 2828 (python3) total-vm:118968kB, anon-rss:20224kB, file-rss:6652kB, shmem-rss:4kB, UID:0 pgtables:96kB oom_score_adj:0',
      ),
    ).toEqual([
      {
        at: 7,
        pid: 2828,
        processName: 'python3',
        memoryBytes: (20_224 + 6_652 + 4) * KB,
        cgroup: `${POD}/${ID}`,
        limitedCgroup: POD,
      },
    ]);
  });

  test('Linux 6 on cgroup v2 with systemd, which kills all processes of the container', () => {
    const cgroup = `${SLICE}/cri-containerd-${ID}.scope`;
    const found = kills(
      invoked('stress'),
      summary(`oom_memcg=${cgroup}`, cgroup, 'stress', 41_235),
      'Memory cgroup out of memory: Killed process 41235 (stress) total-vm:110400kB, anon-rss:65400kB, file-rss:512kB, shmem-rss:0kB, UID:0 pgtables:172kB oom_score_adj:985',
      `Tasks in ${cgroup} are going to be killed due to memory.oom.group set`,
      'Memory cgroup out of memory: Killed process 41200 (sh) total-vm:2580kB, anon-rss:96kB, file-rss:768kB, shmem-rss:0kB, UID:0 pgtables:44kB oom_score_adj:985',
      'Memory cgroup out of memory: Killed process 41235 (stress) total-vm:110400kB, anon-rss:0kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:172kB oom_score_adj:985',
    );
    expect(found).toEqual([
      { at: 2, pid: 41_235, processName: 'stress', memoryBytes: 65_912 * KB, cgroup, limitedCgroup: cgroup },
    ]);
    expect(found.map(containerIdOfKill)).toEqual([ID]);
  });

  test('Linux 5 and 6 when the system is out of memory', () => {
    const found = kills(
      'kworker/0:1 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0',
      `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=${POD}/${ID},task=java,pid=4711,uid=1000`,
      'Out of memory: Killed process 4711 (java) total-vm:8000000kB, anon-rss:4000000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:9000kB oom_score_adj:985',
    );
    expect(found).toEqual([
      {
        at: 2,
        pid: 4711,
        processName: 'java',
        memoryBytes: 4_000_000 * KB,
        cgroup: `${POD}/${ID}`,
        limitedCgroup: '/',
      },
    ]);
    expect(found.map(isSystemOom)).toEqual([true]);
  });

  test('Linux 4 at a limit', () => {
    expect(
      kills(
        'memorymonster invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0',
        'memorymonster cpuset=/ mems_allowed=0',
        `Task in ${POD}/${ID} killed as a result of limit of ${POD}`,
        'Memory cgroup out of memory: Kill process 13536 (memorymonster) score 996 or sacrifice child',
        'Killed process 13536 (memorymonster) total-vm:33558652kB, anon-rss:920kB, file-rss:452kB, shmem-rss:0kB',
      ),
    ).toEqual([
      {
        at: 4,
        pid: 13_536,
        processName: 'memorymonster',
        memoryBytes: 1_372 * KB,
        cgroup: `${POD}/${ID}`,
        limitedCgroup: POD,
      },
    ]);
  });

  test('Linux 3 when the system is out of memory', () => {
    const found = kills(
      'badsysprogram invoked oom-killer: gfp_mask=0x280da, order=0, oom_score_adj=0',
      'Out of memory: Kill process 1532 (badsysprogram) score 919 or sacrifice child',
      'Killed process 1532 (badsysprogram), UID 1020, total-vm:1641388kB, anon-rss:1595164kB, file-rss:28kB',
    );
    expect(found).toEqual([
      {
        at: 2,
        pid: 1532,
        processName: 'badsysprogram',
        memoryBytes: 1_595_192 * KB,
        cgroup: '/',
        limitedCgroup: '/',
      },
    ]);
  });
});

test.each([
  'Plex Media Serv',
  '[',
  '()',
  'a) total-vm:9kB',
  '"with quotes"',
  'x,task_memcg=/',
  ',pid=1,uid=0',
  'a,task=b',
  '\\xc3\\xa4',
])('C48: a killed process with the name %s is recognized', (name) => {
  const killed = `Killed process 966 (${name}) total-vm:10kB, anon-rss:4kB, file-rss:0kB`;
  const cgroup = `${POD}/${ID}`;
  const expected = { at: 2, pid: 966, processName: name, memoryBytes: 4 * KB, cgroup, limitedCgroup: POD };
  expect(kills(invoked(name), summary(`oom_memcg=${POD}`, cgroup, name, 966), killed)).toEqual([expected]);
  expect(kills(invoked(name), summary(`oom_memcg=${POD}`, cgroup, name, 966))).toEqual([
    { at: 1, pid: 966, processName: name, cgroup, limitedCgroup: POD },
  ]);
});

test('a kill without its memory is complete when the next kill or nothing follows', () => {
  const limited = (pid: number) => summary(`oom_memcg=${POD}`, `${POD}/${ID}`, 'a', pid);
  const found = kills(
    invoked('a'),
    limited(1),
    'Killed process 9 (other) total-vm:1kB, anon-rss:1kB',
    invoked('a'),
    limited(2),
  );
  expect(found.map(({ pid, memoryBytes }) => [pid, memoryBytes])).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
});

test.each([
  ['without a start', ['Killed process 1 (a) total-vm:1kB, anon-rss:1kB, file-rss:0kB']],
  ['that never completes', [invoked('a'), 'Out of memory and no killable processes...']],
  ['without a process', [invoked('a'), 'Killed process (a)', 'Killed process x (a)', 'oom-kill:constraint=,task=a']],
  ['with a cut summary', [invoked('a'), summary('oom_memcg=/a', '/a', 'a', 1).slice(0, -8)]],
])('C48: a kill %s is ignored', (_title, texts) => {
  expect(kills(...texts)).toEqual([]);
});

test('100,000 lines of noise and lines of 1 MB take little time', () => {
  const parser = new OomKillParser();
  const startedAt = performance.now();
  for (let at = 0; at < 100_000; at += 1) parser.push({ at, text: `eth0: link is ${at % 2 ? 'up' : 'down'}` });
  for (const start of ['Killed process 1 (', 'oom-kill:constraint=,oom_memcg=', 'Task in ', invoked('a')])
    for (const filler of ['a', ',task=', ') (', ',task_memcg=', ',pid=1', ' killed as a result of limit of '])
      parser.push({ at: 0, text: start + filler.repeat(2 ** 20 / filler.length) });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe('the message about a kill', () => {
  const kill = { at: 0, pid: 12, processName: 'java', memoryBytes: 67_000_000, cgroup: '/a', limitedCgroup: '/' };

  test.each([
    [kill, 'System OOM encountered, victim process: java, pid: 12'],
    [{ ...kill, pid: 0 }, 'System OOM encountered'],
    [{ ...kill, processName: '' }, 'System OOM encountered'],
  ])('C48: matches the event of a kubelet', (each, expected) => {
    expect(systemOomMessage(each)).toBe(expected);
  });

  test('states the cause, the process and its memory in the status', () => {
    expect(oomKillMessage(kill)).toBe(
      'the system was out of memory: the kernel killed process java (pid 12), which held 63.9 MiB',
    );
    const { memoryBytes: _, ...unknown } = kill;
    expect(oomKillMessage({ ...unknown, limitedCgroup: '/a' })).toBe(
      'the memory limit was reached: the kernel killed process java (pid 12)',
    );
    expect(killedProcess({ ...unknown, processName: '', pid: 0 })).toBe('a process');
  });

  test('refers to the container of a process in a nested cgroup, and to none for a process of something else', () => {
    expect(containerIdOfKill({ ...kill, cgroup: `${POD}/${ID}/nested/${'a'.repeat(64)}` })).toBe(ID);
    expect(containerIdOfKill({ ...kill, cgroup: '/system.slice/docker.service' })).toBeUndefined();
  });
});
