/** `statelet up` with a runtime and an agent that the test provides. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type UpDependencies, up } from '../../../../cli/commands/run/up.ts';
import { stateLayout } from '../../../../node/host/paths.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { NOW } from '../../../kubernetes/views.ts';

let state: string;
/** Calls of the dependencies, in order. */
let happened: string[];
let written: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'statelet-up-'));
  happened = [];
  written = '';
});

afterEach(() => rm(state, { recursive: true, force: true }));

const does = (what: string) => async () => void happened.push(what);

const parts: UpDependencies = {
  output: {
    write: (text) => {
      written += text;
      return true;
    },
  },
  startRuntime: async () => ({
    endpoint: 'unix:///own.sock',
    cgroupParent: '/own',
    restart: () => {},
    detach: () => {},
    stop: does('the runtime is stopped'),
    undo: does('the start of the runtime is undone'),
  }),
  startNode: async () => ({
    agent: fakeAgent({ now: NOW }),
    drain: does('drained'),
    stop: does('the node is stopped'),
    agentFailure: new Promise<never>(() => {}),
  }),
};

test('a runtime whose start cannot be undone does not lock the root directory', async () => {
  const startRuntime: UpDependencies['startRuntime'] = async (...start) => ({
    ...(await parts.startRuntime(...start)),
    undo: () => Promise.reject(new Error('it cannot\x1b be undone')),
  });
  const startNode = () => Promise.reject(new Error('no node'));
  const failed = up({ '--state-dir': state, '--hostname-override': 'node' }, { ...parts, startNode, startRuntime });
  await expect(failed).rejects.toThrow('no node');
  expect(written).toContain('the private containerd could not be stopped: it cannot^[ be undone"\n');
  expect(await readdir(join(stateLayout(state).rootDirectory, 'agents'))).toEqual([]);
});

test('a node whose socket cannot be served is stopped before its runtime', async () => {
  const inTheWay = socketPath(stateLayout(state).rootDirectory);
  await mkdir(dirname(inTheWay), { recursive: true });
  await writeFile(inTheWay, '');
  await expect(up({ '--state-dir': state, '--hostname-override': 'node' }, parts)).rejects.toThrow(
    'exists and is not a socket',
  );
  expect(happened).toEqual(['the node is stopped', 'the start of the runtime is undone']);
});

test('the startup note is logged as one line once the node has started', async () => {
  const startNode: UpDependencies['startNode'] = async (options) => {
    setImmediate(() => process.emit('SIGINT'));
    return parts.startNode(options);
  };
  const note = 'for kubectl: export\x1b KUBECONFIG=/a';
  await up({ '--state-dir': state, '--hostname-override': 'node' }, { ...parts, startNode, note });
  expect(written).toContain('for kubectl: export^[ KUBECONFIG=/a"\n');
});
