/** Statuses on their way to sinks that are slow, fail or hang, over the whole node. */
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

/** A sink that writes down what it is sent, as `web: Running`, and answers what the test says then. */
class FakeSink implements StatusSink {
  readonly name: string;
  readonly mustAcknowledge: boolean;
  readonly put: StatusSink['put'];
  /** What was put, whatever became of it. */
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

/** What `explain node` shows of a sink. */
const shown = (node: SimulatedNode, name = 'api') =>
  node.agent.explainNode().node.children.find((child) => child.id === `statusSink/${name}`);

const kept = (node: SimulatedNode) => readdir(node.path('root/statelet/unacknowledged'));

describe('a sink is told the latest status of each pod', () => {
  test('each that differs once, and of one that has ended that nothing of it runs', async () => {
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

  test('as its own copy: what it makes of that reaches neither other sinks nor the node', async () => {
    const [hasty, api] = [new FakeSink('hasty'), new FakeSink('api')];
    hasty.answer = async ({ status }) => {
      Object.assign(status, { phase: 'Unknown', conditions: [] });
    };
    const node = await simulatedNode({ pods: [podWith('web')], parts: { sinks: [hasty, api] } });
    await node.advance('5s');
    expect(api.sent.at(-1)).toBe('web: Running, ready');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('a slow one is sent the latest alone of what has changed meanwhile', async () => {
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

test('a sink is told whether it has acknowledged an equal status before', async () => {
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

describe('a sink that does not take a status', () => {
  test('is sent it again after 10 s, as explain node tells with the reason, and comes back with the latest', async () => {
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

  test('because it hangs for one pod holds up no other sink, and no other pod', async () => {
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

  test('of its own accord, by throwing, has failed like any other', async () => {
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

describe('C2: a terminal status stays on disk until every sink that has to has acknowledged it', () => {
  test('over the end of the pod and a restart of the agent', async () => {
    const [api, other] = [new FakeSink('api'), new FakeSink('other')];
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [api, other] } });
    await node.advance('500ms');
    api.answer = hangs;
    await node.advance('20s');
    node.remove('job');
    await node.advance('40s');
    expect(node.has('job')).toBe(false);
    expect(await kept(node)).toEqual(['job-uid.json']);
    node.killAgent();
    [api.sent.length, api.answer] = [0, async () => {}];
    await node.startAgent();
    await node.advance('5s');
    expect(api.sent).toEqual(['job: Failed, ended']);
    await node.advance('5s');
    expect(await kept(node)).toEqual([]);
    expect(node.has('job')).toBe(false);
  });

  test('of a pod that was ended by command, too', async () => {
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
    expect(await kept(node)).toEqual([]);
  });

  test('unless the pod was wanted once more, and runs', async () => {
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
    expect([node.pod('job').phase, await kept(node)]).toEqual(['Running', []]);
  });

  const failing = {
    'by itself': oneShot('job'),
    'by its init container': podWith('job', {
      restartPolicy: 'Never',
      initContainers: [containerWith('setup', { command: ['sh', '-c', 'exit 1'] })],
    }),
  };

  test.each(Object.entries(failing))('and of one that failed %s is not taken back before it is', async (_, job) => {
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
  });

  test('and not that of a pod that was refused, which is decided again', async () => {
    const api = new FakeSink('api');
    api.answer = hangs;
    const node = await simulatedNode({
      pods: [podWith('far', { nodeSelector: { zone: 'b' } })],
      parts: { sinks: [api] },
    });
    await node.advance('5s');
    expect([node.pod('far').phase, await kept(node)]).toEqual(['Failed', []]);
  });

  test('and not for those that need not', async () => {
    const page = new FakeSink('page', false);
    page.answer = hangs;
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [page] } });
    await node.advance('20s');
    expect(node.pod('job').phase).toBe('Failed');
    expect(await kept(node)).toEqual([]);
  });

  test('and no longer than there is such a sink', async () => {
    const api = new FakeSink('api');
    api.answer = hangs;
    const node = await simulatedNode({ pods: [oneShot('job')], parts: { sinks: [api] } });
    await node.advance('20s');
    expect(await kept(node)).toEqual(['job-uid.json']);
    node.withParts({ sinks: [] });
    await node.restartAgent();
    await node.advance('5s');
    expect(await kept(node)).toEqual([]);
    expect(node.pod('job').phase).toBe('Failed');
  });
});

test('a recording brings the sinks to the same states, and has no status in it', async () => {
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

describe('a pod is not reported as Pending over a better status', () => {
  test('while the node waits for its runtime after a restart of the agent', async () => {
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

  test('while a container that is to be adopted cannot be asked for', async () => {
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
