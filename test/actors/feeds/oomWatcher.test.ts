import { describe, expect, test } from '@jest/globals';
import type { KernelLog } from '../../../host/kernelLog/kernelLog.ts';
import { SimulatedKernelLog } from '../../../host/simulated/kernelLog.ts';
import type { OomKill } from '../../../kubernetes/lifecycle/oomKill.ts';
import { type SimulatedNode, type SimulatedNodeOptions, simulatedNode } from '../../fakes/node.ts';
import { podWith } from '../../fakes/pods.ts';

const MIB = 2 ** 20;

/** Starts a node with a kernel log that runs the pod `a`. */
async function nodeWithLog(options: SimulatedNodeOptions = {}, open = (log: SimulatedKernelLog) => log.open()) {
  const events: string[] = [];
  const log = new SimulatedKernelLog(() => 0);
  const node = await simulatedNode({
    pods: [podWith('a')],
    ...options,
    parts: {
      kernelLog: open(log),
      events: ({ involved, eventType, reason, message }) =>
        void events.push(`${involved.kind} ${involved.name} ${eventType} ${reason}: ${message}`),
    },
  });
  await node.advance('10s');
  const systemOoms = () => events.filter((event) => event.includes('OOM'));
  return { node, log, systemOoms };
}

/** Returns the ID of the running container. */
const runningId = (node: SimulatedNode): string =>
  [...node.runtime.containers()].find(({ state }) => state === 'running')?.id ?? '';

const shown = (node: SimulatedNode) => node.agent.explainNode().node.children.find(({ name }) => name === 'oomWatcher');

const killed = (limitedCgroup: string, id = 'f'.repeat(64)) => ({
  pid: 4711,
  processName: 'java',
  memoryBytes: 64 * MIB,
  cgroup: `/kubepods/burstable/poduid/${id}`,
  limitedCgroup,
});

test('C48: a system OOM kill creates an event on the Node that names the victim, and appears in the explanation of the node', async () => {
  const { node, log, systemOoms } = await nodeWithLog();
  expect(shown(node)).toMatchObject({ state: 'watching', facts: [] });
  log.writeOomKill(killed('/'));
  await node.advance('1s');
  expect(systemOoms()).toEqual([
    'Node node-1 Warning SystemOOM: System OOM encountered, victim process: java, pid: 4711',
  ]);
  expect(shown(node)).toMatchObject({
    state: 'watching',
    facts: ['1 system OOM kill, last process java (pid 4711), which held 64.0 MiB'],
  });
});

test('C48: a kill at a cgroup limit creates no event on the Node', async () => {
  const { node, log, systemOoms } = await nodeWithLog();
  log.writeOomKill(killed('/kubepods/burstable/poduid'));
  await node.advance('120s');
  expect(systemOoms()).toEqual([]);
});

test('C48: a restarted agent reports again the kills that are still in the kernel log', async () => {
  const { node, log, systemOoms } = await nodeWithLog();
  log.writeOomKill(killed('/'));
  await node.advance('1s');
  node.withParts({ kernelLog: log.open() });
  await node.restartAgent();
  await node.advance('1s');
  expect(systemOoms()).toHaveLength(2);
});

test.each([
  ['its limit', (id: string) => `/kubepods/burstable/poduid/${id}`, 'the memory limit was reached'],
  ['a system OOM', () => '/', 'the system was out of memory'],
])(
  'C48: the status of a container killed by %s names the killed process and its memory usage',
  async (_title, limit, reason) => {
    const { node, log } = await nodeWithLog();
    const id = runningId(node);
    log.writeOomKill(killed(limit(id), id));
    node.runtime.oomKill(id);
    await node.advance('1s');
    expect(node.container('a').lastState?.terminated ?? node.container('a').state?.terminated).toMatchObject({
      reason: 'OOMKilled',
      exitCode: 137,
      message: `${reason}: the kernel killed process java (pid 4711), which held 64.0 MiB`,
    });
  },
);

test('a container that was killed for a different reason has no message about an earlier kill', async () => {
  const { node, log } = await nodeWithLog();
  const id = runningId(node);
  log.writeOomKill(killed('/kubepods', id));
  node.runtime.exitContainer(id, 1);
  await node.advance('1s');
  const end = node.container('a').lastState?.terminated ?? node.container('a').state?.terminated;
  expect([end?.reason, end?.message]).toEqual(['Error', undefined]);
});

test('C48: an unreadable kernel log is shown with the reason, and retried every 10s', async () => {
  let isReadable = false;
  const attempts: number[] = [];
  const open = (log: SimulatedKernelLog): KernelLog => {
    const readable = log.open();
    return {
      ...readable,
      read: async (options) => {
        attempts.push(1);
        if (!isReadable) throw new Error('EPERM: operation not permitted, open /dev/kmsg');
        return readable.read(options);
      },
    };
  };
  const { node, log, systemOoms } = await nodeWithLog({}, open);
  log.writeOomKill(killed('/'));
  expect(node.pod('a').phase).toBe('Running');
  expect(shown(node)).toMatchObject({
    state: 'failing',
    waitingFor: "the kernel's log to be readable, retried every 10s",
    lastFailure: {
      reason: 'FailedRead',
      message: "the kernel's log cannot be read: EPERM: operation not permitted, open /dev/kmsg",
    },
  });
  await node.advance('60s');
  expect(attempts.length).toBe(7 + 1);
  expect(node.errors).toHaveLength(1);
  isReadable = true;
  await node.advance('10s');
  expect([shown(node)?.state, systemOoms().length]).toEqual(['watching', 1]);
});

test('a kernel log that never responds delays the status of a killed container by a second', async () => {
  const open = (log: SimulatedKernelLog): KernelLog => ({
    ...log.open(),
    read: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('timed out')))),
  });
  const { node } = await nodeWithLog({}, open);
  await node.advance('15s');
  node.runtime.oomKill(runningId(node));
  await node.advance('20s');
  const end = node.container('a').lastState?.terminated ?? node.container('a').state?.terminated;
  expect([end?.reason, end?.message]).toEqual(['OOMKilled', undefined]);
});

test('a node without a kernel log does not show an OOM watcher', async () => {
  const node = await simulatedNode({ pods: [podWith('a')] });
  await node.advance('10s');
  expect(shown(node)).toBeUndefined();
});

describe('a killed process in a container', () => {
  const reports = { config: { reportsProcessOomKills: true } };

  test("is an event without its name if only the cgroup's count reveals it, because the log cannot be read", async () => {
    const events: string[] = [];
    let kills: OomKill[] = [];
    let isReadable = false;
    const log = new SimulatedKernelLog(() => 0);
    const readable = log.open();
    const node = await simulatedNode({
      pods: [podWith('a')],
      ...reports,
      parts: {
        kernelLog: {
          ...readable,
          read: async (options) => {
            if (!isReadable) throw new Error('EPERM');
            return readable.read(options);
          },
        },
        countOomKills: () => kills.splice(0),
        events: ({ reason, message }) => void events.push(`${reason}: ${message}`),
      },
    });
    const oomEvents = () => events.splice(0).filter((event) => event.includes('OOM'));
    const count = () => {
      const cgroup = `/kubepods/poduid/${runningId(node)}`;
      kills = [{ at: 0, pid: 0, processName: '', cgroup, limitedCgroup: '' }];
    };
    await node.advance('10s');
    count();
    await node.advance('60s');
    expect(oomEvents()).toEqual([
      'ProcessOOMKilled: memory ran out: the kernel killed a process; the container continues to run',
    ]);
    isReadable = true;
    await node.advance('20s');
    count();
    await node.advance('60s');
    expect(oomEvents()).toEqual([]);
    // While the log was readable, it revealed all kills that the cgroup had counted.
    isReadable = false;
    log.writeOomKill(killed('/kubepods'));
    await node.advance('60s');
    expect(oomEvents()).toEqual([]);
    count();
    await node.advance('60s');
    expect(oomEvents()).toHaveLength(1);
  });

  test('is not revealed by a count that cannot be read, which breaks nothing', async () => {
    const log = new SimulatedKernelLog(() => 0).open();
    const node = await simulatedNode({
      pods: [podWith('a')],
      ...reports,
      parts: {
        kernelLog: { ...log, read: () => Promise.reject(new Error('EPERM')) },
        countOomKills: () => {
          throw new Error('EMFILE');
        },
      },
    });
    await node.advance('30s');
    expect(shown(node)).toMatchObject({ state: 'failing' });
    expect(node.pod('a').phase).toBe('Running');
  });

  test('creates a pod event if the container continues to run', async () => {
    const { node, log, systemOoms } = await nodeWithLog(reports);
    const id = runningId(node);
    log.writeOomKill(killed('/kubepods', `${id}/worker`));
    node.runtime.oomKill(id, { child: true });
    await node.advance('40s');
    expect(systemOoms()).toEqual([
      'Pod a Warning ProcessOOMKilled: the memory limit was reached: the kernel killed process java (pid 4711), which held 64.0 MiB; the container continues to run',
    ]);
    await node.advance('120s');
    expect(systemOoms()).toHaveLength(1);
  });

  test('creates no event by default', async () => {
    const { node, log, systemOoms } = await nodeWithLog();
    log.writeOomKill(killed('/kubepods', runningId(node)));
    await node.advance('120s');
    expect(systemOoms()).toEqual([]);
  });

  test('creates no event if the container exits with it', async () => {
    const { node, log, systemOoms } = await nodeWithLog(reports);
    const id = runningId(node);
    log.writeOomKill(killed('/kubepods', id));
    node.runtime.oomKill(id);
    await node.advance('120s');
    expect(systemOoms()).toEqual([]);
    expect(node.container('a').restartCount).toBe(1);
  });

  test('creates an event only once the runtime is back, because only the runtime knows whether the container runs', async () => {
    const { node, log, systemOoms } = await nodeWithLog(reports);
    node.runtime.down();
    await node.advance('20s');
    log.writeOomKill(killed('/kubepods', runningId(node)));
    await node.advance('120s');
    expect(systemOoms()).toEqual([]);
    node.runtime.restart();
    await node.advance('60s');
    expect(systemOoms()).toHaveLength(1);
  });
});
