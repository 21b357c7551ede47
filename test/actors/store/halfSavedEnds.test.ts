/** Completed pods of which only one of the two facts was saved before the agent died. */
import { readdir, rm } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import { fileError } from '../../../host/simulated/fileError.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const job = podWith('job', {
  restartPolicy: 'Never',
  containers: [containerWith('main', { command: ['sh', '-c', 'sleep 1; exit 3'] })],
});

/** Returns a sink that acknowledges nothing until it is opened. */
function closedSink() {
  const sent: (string | undefined)[] = [];
  const sink: StatusSink & { isOpen: boolean } = {
    name: 'api',
    mustAcknowledge: true,
    isOpen: false,
    put: ({ status }: StatusReport) => {
      if (!sink.isOpen) return new Promise(() => {});
      sent.push(status.phase);
      return Promise.resolve();
    },
  };
  return { sink, sent };
}

/** Kills the agent, and removes its fact about the completion of the pod from the disk. */
async function killHalfSaved(node: SimulatedNode): Promise<void> {
  node.killAgent();
  await rm(node.path('root/statelet/statuses/job-uid.json'));
  for (const { id } of node.runtime.sandboxes()) node.runtime.removeSandbox(id);
}

/** Checks that the pod runs if it is wanted when the next agent starts. */
async function expectRunsAgain(node: SimulatedNode): Promise<void> {
  node.killAgent();
  node.apply(podWith('job', { restartPolicy: 'Never' }));
  await node.startAgent();
  await node.advance('10s');
  expect(node.pod('job').phase).toBe('Running');
}

test('a completed pod does not run again while a sink has yet to acknowledge its terminal status (C2)', async () => {
  const { sink, sent } = closedSink();
  const node = await simulatedNode({ pods: [job], parts: { sinks: [sink] } });
  await node.advance('20s');
  await killHalfSaved(node);
  sink.isOpen = true;
  // The sink has acknowledged the status by the time that the second agent dies.
  for (let life = 1; life <= 2; life += 1) {
    await node.startAgent();
    await node.advance('20s');
    expect(node.pod('job').phase).toBe('Failed');
    node.killAgent();
  }
  expect(new Set(sent)).toEqual(new Set(['Failed']));
});

test('a completed pod runs again if it was removed since', async () => {
  const { sink } = closedSink();
  const node = await simulatedNode({ pods: [job], parts: { sinks: [sink] } });
  await node.advance('20s');
  node.remove('job');
  await node.advance('40s');
  await expectRunsAgain(node);
});

test('a completed pod runs again if it was removed while no agent was running', async () => {
  const { sink } = closedSink();
  const node = await simulatedNode({ pods: [job], parts: { sinks: [sink] } });
  await node.advance('20s');
  await killHalfSaved(node);
  node.remove('job');
  await node.startAgent();
  await node.advance('40s');
  await expectRunsAgain(node);
});

/** Returns the files of the host, on which a write of a pod status does not complete before `saving` resolves. */
function diskWithout(saving: () => Promise<void>): FileSystem {
  const rename: FileSystem['rename'] = async (from, to) => {
    if (to.includes('/statuses/')) await saving();
    return hostFiles.rename(from, to);
  };
  return { ...hostFiles, rename };
}

const unacknowledged = (node: SimulatedNode) => readdir(node.path('root/statelet/unacknowledged'));

describe('an acknowledged terminal status', () => {
  test('stays on disk while the write of the pod status hangs', async () => {
    const { promise: saved, resolve: save } = Promise.withResolvers<void>();
    const { sink, sent } = closedSink();
    sink.isOpen = true;
    const node = await simulatedNode({ pods: [job], parts: { sinks: [sink], files: diskWithout(() => saved) } });
    await node.advance('20s');
    expect(sent.at(-1)).toBe('Failed');
    expect(await unacknowledged(node)).toEqual(['job-uid.json']);
    save();
    await eventually('it is removed', async () => (await unacknowledged(node)).length === 0 || undefined);
  });

  test('stays on disk while the write of the pod status fails and is retried', async () => {
    let isFull = true;
    const saving = async () => {
      if (isFull) throw fileError('ENOSPC', 'rename', 'statuses');
    };
    const { sink, sent } = closedSink();
    sink.isOpen = true;
    const node = await simulatedNode({ pods: [job], parts: { sinks: [sink], files: diskWithout(saving) } });
    await node.advance('20s');
    expect(sent.at(-1)).toBe('Failed');
    expect(await unacknowledged(node)).toEqual(['job-uid.json']);
    isFull = false;
    await node.advance('10s');
    await eventually('it is removed', async () => (await unacknowledged(node)).length === 0 || undefined);
  });

  test.each([
    ['acknowledges it to the next agent', true],
    ['no longer exists', false],
  ])(
    'of an earlier agent stays on disk while the write of the pod status hangs, if the sink %s',
    async (_, isThere) => {
      const { sink, sent } = closedSink();
      const node = await simulatedNode({ pods: [job], silentSource: true, parts: { sinks: [sink] } });
      node.tellSource();
      await node.advance('20s');
      await killHalfSaved(node);
      sink.isOpen = true;
      // The agent dies before any source has reported the pod.
      node.withParts({ sinks: isThere ? [sink] : [], files: diskWithout(() => new Promise(() => {})) });
      await node.startAgent();
      await node.advance('20s');
      expect(sent.includes('Failed')).toBe(isThere);
      expect(await unacknowledged(node)).toEqual(['job-uid.json']);
      node.killAgent();
      node.withParts({});
      await node.startAgent();
      node.tellSource();
      await node.advance('20s');
      expect(node.pod('job').phase).toBe('Failed');
      await eventually('it is removed', async () => (await unacknowledged(node)).length === 0 || undefined);
    },
  );
});
