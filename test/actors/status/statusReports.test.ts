/** Status reports to sinks that are slow, fail or hang, on a complete node. */
import { readdir, rm } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { createReplay } from '../../../actors/replay/replay.ts';
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import type { NodeExplanation } from '../../../show/explain/explainNode.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const oneShot = (name: string, script = 'sleep 1; exit 3') =>
  podWith(name, {
    restartPolicy: 'Never',
    containers: [containerWith('main', { command: ['sh', '-c', script] })],
  });

/** A sink that records the statuses that it receives, e.g. `web: Running`, and responds as the test says. */
class FakeSink implements StatusSink {
  readonly name: string;
  readonly mustAcknowledge: boolean;
  readonly put: StatusSink['put'];
  /** All received statuses, whether acknowledged or not. */
  readonly sent: string[] = [];
  answer: (report: StatusReport) => Promise<unknown> = async () => {};

  constructor(name: string, mustAcknowledge = true) {
    this.name = name;
    this.mustAcknowledge = mustAcknowledge;
    this.put = (report) => {
      this.sent.push(lineOf(report));
      return this.answer(report);
    };
  }
}

const lineOf = ({ name, status: { phase, conditions }, ended }: StatusReport): string => {
  const isReady = conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return `${name}: ${phase}${isReady ? ', ready' : ''}${ended ? ', ended' : ''}`;
};

const hangs = () => new Promise(() => {});
const fails = () => Promise.reject(new Error('connection refused'));
const refusal = { reason: 'StatusNotSent', message: 'api: connection refused' };

/** Returns a sink as `explain node` shows it. */
const shown = (node: SimulatedNode, name = 'api') =>
  node.agent.explainNode().node.children.find((child) => child.id === `statusSink/${name}`);

const unacknowledgedFiles = (node: SimulatedNode) => readdir(node.path('root/statelet/unacknowledged'));

describe('a status sink', () => {
  test('receives each changed status once, and for a terminated pod that nothing is running any more', async () => {
    const api = new FakeSink('api');
    const node = await simulatedNode({ pods: [podWith('web'), oneShot('job')], parts: { sinks: [api] } });
    await node.advance('30s');
    const ofJob = api.sent.filter((line) => line.startsWith('job'));
    expect(ofJob.at(-1)).toBe('job: Failed, ended');
    expect(new Set(ofJob).size).toBeGreaterThan(2);
    expect(api.sent.at(-1)).not.toBe(api.sent.at(-2));
    expect(shown(node)).toMatchObject({ state: 'idle', facts: [] });
    const { length } = api.sent;
    await node.advance('60s');
    expect(api.sent).toHaveLength(length);
  });

  test('receives its own copy, so its modifications affect neither other sinks nor the node', async () => {
    const [hasty, api] = [new FakeSink('hasty'), new FakeSink('api')];
    hasty.answer = async ({ status }) => {
      Object.assign(status, { phase: 'Unknown', conditions: [] });
    };
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [hasty, api] } });
    await node.advance('5s');
    expect(api.sent.at(-1)).toBe('web: Running, ready');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('receives only the latest status of the changes during a slow update', async () => {
    const api = new FakeSink('api');
    const first = Promise.withResolvers<void>();
    api.answer = () => first.promise;
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [api] } });
    await node.advance('5s');
    expect(node.pod('web').phase).toBe('Running');
    expect(api.sent).toEqual(['web: Pending']);
    expect(shown(node)).toMatchObject({ state: 'sending', waitingFor: 'pod statuses to be acknowledged' });
    first.resolve();
    await node.advance('1s');
    expect(api.sent).toEqual(['web: Pending', 'web: Running, ready']);
    expect(shown(node)).toMatchObject({ state: 'idle' });
  });
});

test('a sink is informed whether it has acknowledged an equal status before', async () => {
  const api = new FakeSink('api');
  const wasAcknowledged: boolean[] = [];
  const put: StatusSink['put'] = async (_report, { isAcknowledged }) => void wasAcknowledged.push(isAcknowledged);
  const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [{ ...api, put }] } });
  await node.advance('5s');
  expect(new Set(wasAcknowledged)).toEqual(new Set([false]));
  node.agent.send({ type: 'status.changed', uid: 'web-uid', version: Number.MAX_SAFE_INTEGER });
  await node.advance('1s');
  expect(wasAcknowledged.at(-1)).toBe(true);
});

describe('a sink that rejects a status', () => {
  test('receives it again after 10 s, while explain node shows the reason, and then gets the latest one', async () => {
    const api = new FakeSink('api');
    api.answer = fails;
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [api] } });
    await node.advance('5s');
    expect(shown(node)).toMatchObject({
      state: 'awaitingRetry',
      facts: ['1 status to send'],
      lastFailure: refusal,
      until: expect.any(Number),
    });
    const tries = api.sent.length;
    await node.advance('10s');
    expect(api.sent.length).toBeGreaterThan(tries);
    api.answer = async () => {};
    await node.advance('10s');
    expect(api.sent.at(-1)).toBe('web: Running, ready');
    const healed = shown(node);
    expect(healed).toMatchObject({ state: 'idle', facts: [] });
    expect(healed).not.toHaveProperty('lastFailure');
  });

  test('because it hangs for one pod delays neither other sinks nor other pods', async () => {
    const [api, web] = [new FakeSink('api'), new FakeSink('web', false)];
    api.answer = (report) => (report.name === 'a' ? hangs() : Promise.resolve());
    const pods = [podWith('a'), podWith('b')];
    const node = await simulatedNode({ pods, parts: { sinks: [api, web] } });
    await node.advance('9s');
    expect(web.sent).toEqual(expect.arrayContaining(['a: Running, ready', 'b: Running, ready']));
    expect(api.sent.filter((line) => line.startsWith('a'))).toEqual(['a: Pending']);
    expect(api.sent.at(-1)).toBe('b: Running, ready');
    await node.advance('2s');
    expect(api.sent.at(-1)).toBe('a: Running, ready');
    expect(shown(node)).toMatchObject({ state: 'sending', lastFailure: { message: 'api: no response within 10s' } });
    expect(shown(node, 'web')).toMatchObject({ state: 'idle' });
  });

  test('by throwing synchronously counts as failed like any other', async () => {
    const api = new FakeSink('api');
    api.answer = () => {
      throw new Error('connection refused');
    };
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [api] } });
    await node.advance('5s');
    expect(shown(node)).toMatchObject({ state: 'awaitingRetry', lastFailure: refusal });
    expect(node.pod('web').phase).toBe('Running');
  });
});

describe('C2: a terminal status', () => {
  test('stays on disk until all required sinks have acknowledged it, across pod removal and an agent restart', async () => {
    const [api, other] = [new FakeSink('api'), new FakeSink('other')];
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [api, other] } });
    await node.advance('500ms');
    api.answer = hangs;
    await node.advance('20s');
    node.remove('job');
    await node.advance('40s');
    expect(node.has('job')).toBe(false);
    expect(await unacknowledgedFiles(node)).toEqual(['job-uid.json']);
    node.killAgent();
    [api.sent.length, api.answer] = [0, async () => {}];
    await node.startAgent();
    await node.advance('5s');
    expect(api.sent).toEqual(['job: Failed, ended']);
    await node.advance('5s');
    expect(await unacknowledgedFiles(node)).toEqual([]);
    expect(node.has('job')).toBe(false);
  });

  test('stays on disk for a pod that was terminated by its removal as well', async () => {
    const api = new FakeSink('api');
    const node = await simulatedNode({ pods: [oneShot('job', 'sleep 100')], parts: { sinks: [api] } });
    await node.advance('5s');
    api.answer = hangs;
    node.remove('job');
    await node.advance('60s');
    expect(node.has('job')).toBe(false);
    node.killAgent();
    [api.sent.length, api.answer] = [0, async () => {}];
    await node.startAgent();
    await node.advance('5s');
    expect(api.sent).toEqual([expect.stringMatching(/^job: (Failed|Succeeded), ended$/)]);
    expect(await unacknowledgedFiles(node)).toEqual([]);
  });

  test('is removed from disk when its pod is wanted and runs again', async () => {
    const api = new FakeSink('api');
    const job = oneShot('job', 'sleep 20; exit 3');
    const node = await simulatedNode({ pods: [job], parts: { sinks: [api] } });
    await node.advance('5s');
    api.answer = hangs;
    await node.advance('20s');
    node.remove('job');
    await node.advance('40s');
    node.apply(job);
    await node.advance('5s');
    expect([node.pod('job').phase, await unacknowledgedFiles(node)]).toEqual(['Running', []]);
  });

  const failing = {
    'by itself': oneShot('job'),
    'by its init container': podWith('job', {
      restartPolicy: 'Never',
      initContainers: [containerWith('setup', { command: ['sh', '-c', 'exit 1'] })],
    }),
  };

  test.each(Object.entries(failing))(
    'of a pod that failed %s remains Failed under the next agent, even if the saved status is lost',
    async (_, job) => {
      const api = new FakeSink('api');
      const node = await simulatedNode({ pods: [job], parts: { sinks: [api] } });
      await node.advance('20s');
      node.killAgent();
      for (const kind of ['statuses', 'unacknowledged']) {
        await rm(node.path(`root/statelet/${kind}/job-uid.json`), { force: true });
      }
      api.sent.length = 0;
      await node.startAgent();
      await node.advance('20s');
      expect(api.sent).toEqual(['job: Failed', 'job: Failed, ended']);
    },
  );

  test('of a rejected pod is not saved, because the pod is admitted again', async () => {
    const api = new FakeSink('api');
    api.answer = hangs;
    const node = await simulatedNode({
      pods: [podWith('far', { nodeSelector: { zone: 'b' } })],
      parts: { sinks: [api] },
    });
    await node.advance('5s');
    expect([node.pod('far').phase, await unacknowledgedFiles(node)]).toEqual(['Failed', []]);
  });

  test('is not saved for optional sinks', async () => {
    const page = new FakeSink('page', false);
    page.answer = hangs;
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [page] } });
    await node.advance('20s');
    expect(node.pod('job').phase).toBe('Failed');
    expect(await unacknowledgedFiles(node)).toEqual([]);
  });

  test('is removed from disk when the required sink no longer exists', async () => {
    const api = new FakeSink('api');
    api.answer = hangs;
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [api] } });
    await node.advance('20s');
    expect(await unacknowledgedFiles(node)).toEqual(['job-uid.json']);
    node.withParts({ sinks: [] });
    await node.restartAgent();
    await node.advance('5s');
    expect(await unacknowledgedFiles(node)).toEqual([]);
    expect(node.pod('job').phase).toBe('Failed');
  });
});

test('a replayed recording leads to the same states of the sinks, and contains no status', async () => {
  const api = new FakeSink('api');
  api.answer = fails;
  const node = await simulatedNode({ pods: [podWith('web'), oneShot('job')], parts: { sinks: [api] } });
  await node.advance('15s');
  const replay = createReplay(node.agent.input, JSON.parse(JSON.stringify(node.entries)));
  await replay.playEntries();
  const sinkOf = ({ node: { children } }: NodeExplanation) => children.find(({ id }) => id === 'statusSink/api');
  expect(sinkOf(replay.agent.explainNode())).toEqual(shown(node));
  expect(shown(node)).toMatchObject({ state: 'awaitingRetry', facts: ['2 statuses to send'] });
  const sent = node.entries.filter(
    ({ actor, value }) => actor === '' && JSON.stringify(value).includes('status.changed'),
  );
  expect(sent.length).toBeGreaterThan(3);
  expect(JSON.stringify(sent)).not.toContain('phase');
});

describe('a running pod', () => {
  test('is not reported as Pending while the node waits for its runtime after an agent restart', async () => {
    const api = new FakeSink('api');
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [api] } });
    await node.advance('5s');
    api.sent.length = 0;
    node.runtime.down();
    await node.restartAgent();
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Pending');
    expect(api.sent).toEqual([]);
    node.runtime.restart();
    await node.advance('5s');
    expect(api.sent).toEqual(['web: Running, ready']);
  });

  test('is not reported as Pending while the status of a container to adopt cannot be read', async () => {
    const api = new FakeSink('api');
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [api] } });
    await node.advance('5s');
    api.sent.length = 0;
    node.runtime.faults.add({ call: 'containerStatus', times: Number.POSITIVE_INFINITY, error: { message: 'no' } });
    await node.restartAgent();
    await node.advance('5s');
    expect(node.view('web').containers[0]?.state).toBe('adopting.awaitingRetry');
    expect(api.sent).toEqual([]);
  });
});
