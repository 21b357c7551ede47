/** `statelet down` with a runtime and an agent that the test provides. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SIMULATED_ENDPOINT } from '../../../../actors/store/leftOnDisk.ts';
import { NodeFailure } from '../../../../base/failure.ts';
import { type DownDependencies, runDown } from '../../../../cli/commands/run/down.ts';
import { removeContainerd } from '../../../../cri/managed/containerd/containerd.ts';
import { createLayout } from '../../../../host/pods/layout.ts';
import { createMarkedDirectory } from '../../../../host/pods/podMark.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { NOW } from '../../../kubernetes/views.ts';

let state: string;
let root: string;
let output: string;
/** Agents that `down` started, in order. */
let started: string[];
/** Sockets of other agents on the host. */
let agents: string[];

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'statelet-down-'));
  root = join(state, 'kubelet');
  output = '';
  started = [];
  agents = [];
});

afterEach(() => rm(state, { recursive: true, force: true }));

const own = 'unix:///own.sock';

/** Creates the directory of a pod that an agent of this node ran on this runtime. */
async function podDirectory(uid: string, { node = 'node-7', runtime = own } = {}): Promise<void> {
  await mkdir(join(root, 'pods'), { recursive: true });
  const pod = { namespace: 'default', name: uid };
  const layout = createLayout({ rootDir: root, podLogsDir: join(root, 'logs') });
  await createMarkedDirectory(layout.podDir(uid), { layout, maker: { root, node, runtime }, pod }, 0o750);
}

/** Returns the dependencies of `down`, with an agent that terminates all pods by removing their directories. */
const parts = (given: Partial<DownDependencies> = {}): DownDependencies => ({
  write: (text) => {
    output += text;
  },
  describeRuntimeLeftovers: async () => [],
  endpointOf: () => own,
  nodeNameOf: async () => undefined,
  removeRuntime: async () => void started.push('runtime ended by force'),
  listAgents: async () => agents,
  startRuntime: async (_, { terminatesPods }) => {
    started.push(`own runtime${terminatesPods ? ' to end all' : ''}`);
    const nothing = async () => {};
    return {
      endpoint: own,
      cgroupParent: '/own',
      restart: () => {},
      detach: () => {},
      undo: nothing,
      stop: async () => void started.push('own runtime stopped'),
    };
  },
  startNode: async ({ config, isSimulated, endsAll }) => {
    const over = isSimulated ? SIMULATED_ENDPOINT : config.containerRuntimeEndpoint;
    started.push(`node ${config.nodeName} over ${over}, ${endsAll ? 'own graces' : 'a second'}`);
    await rm(join(config.rootDirectory, 'pods'), { recursive: true });
    const agentFailure = new Promise<never>(() => {});
    return { agent: fakeAgent({ now: NOW }), drain: async () => {}, stop: async () => {}, agentFailure };
  },
  ...given,
});

const run = (given?: Partial<DownDependencies>, now = false) => runDown({ stateDir: state, now }, parts(given));

/** Leaves the socket of a process that no longer runs. */
async function staleSocket(): Promise<void> {
  await mkdir(root, { recursive: true });
  const aside = `${socketPath(root)}.new`;
  const server = createServer().listen(aside);
  await new Promise((resolve) => server.once('listening', resolve));
  // The server only removes the socket under the name that it listened on.
  await rename(aside, socketPath(root));
  await new Promise((resolve) => server.close(resolve));
}

describe('`statelet down`', () => {
  test('takes the node name from the marks of the pods if no sandbox is left', async () => {
    await podDirectory('a');
    await run();
    expect(started).toEqual(['own runtime to end all', `node node-7 over ${own}, own graces`, 'own runtime stopped']);
    expect(output).toMatch(/\nthe node has stopped/);
  });

  test('with --now allows each pod one second', async () => {
    await podDirectory('a');
    await run({}, true);
    expect(started).toContain(`node node-7 over ${own}, a second`);
  });

  test('terminates pods on the runtime configured for `up`, and starts no runtime of its own', async () => {
    await podDirectory('a', { runtime: 'unix:///run/theirs.sock' });
    await run();
    expect(started).toEqual(['node node-7 over unix:///run/theirs.sock, own graces']);
  });

  test('reports a configured runtime that does not respond', async () => {
    await podDirectory('a', { runtime: 'unix:///run/theirs.sock' });
    const nodeNameOf = () => Promise.reject(new Error('connect ENOENT /run/theirs.sock'));
    await expect(run({ nodeNameOf })).rejects.toThrow(
      `pods below ${root} run on unix:///run/theirs.sock, which does not respond (connect ENOENT /run/theirs.sock): start that runtime, then run "statelet down" again`,
    );
    expect(started).toEqual([]);
  });

  test('terminates the pods of a simulated runtime without any containerd', async () => {
    await podDirectory('a', { runtime: SIMULATED_ENDPOINT });
    await run();
    expect(started).toEqual([`node node-7 over ${SIMULATED_ENDPOINT}, own graces`]);
  });

  test('kills all pods if its containerd cannot start, reports why in one line, and removes the files', async () => {
    await podDirectory('a');
    const theirs = join(root, 'pods', 'theirs');
    await mkdir(theirs);
    const message =
      'containerd did not become ready; last lines of its log:\nlevel=info\ncontainerd: not a directory\n';
    await run({ startRuntime: () => Promise.reject(new NodeFailure('RuntimeUnavailable', message)) });
    expect(started).toEqual(['runtime ended by force']);
    expect(output.split('\n')).toEqual([
      'found 2 pod directories',
      'the pods are killed without a grace period: containerd did not become ready; last lines of its log: containerd: not a directory',
      `left alone ${theirs}: it does not have this agent's mark`,
      expect.stringMatching(/^the node has stopped/),
      '',
    ]);
    expect(await readdir(join(root, 'pods'))).toEqual(['theirs']);
  });

  test('continues after a pod that cannot be removed when its containerd cannot start, and names that pod', async () => {
    for (const uid of ['a', 'b', 'c']) await podDirectory(uid);
    const busy = join(root, 'pods', 'b', 'theirs');
    await mkdir(busy);
    spawnSync('mount', ['-t', 'tmpfs', 'none', busy]);
    try {
      await expect(run({ startRuntime: () => Promise.reject(new Error('no containerd')) })).rejects.toThrow(
        `not deleting ${join(root, 'pods', 'b')}: still mounted: ${busy}`,
      );
    } finally {
      spawnSync('umount', [busy]);
    }
    expect(await readdir(join(root, 'pods'))).toEqual(['b']);
  });

  test('removes the socket of a killed agent, with pods and without', async () => {
    await staleSocket();
    await run();
    expect(output).toBe(`no "statelet up" is running for ${state}\n`);
    expect(existsSync(socketPath(root))).toBe(false);
    await staleSocket();
    await podDirectory('a');
    await run();
    expect(existsSync(socketPath(root))).toBe(false);
  });

  test('lists the running agents if none runs for the directory', async () => {
    agents = ['/data/kubelet/statelet.sock', '/var/lib/statelet/run/statelet.sock'];
    await run();
    expect(output).toBe(
      `no "statelet up" is running for ${state}; other agents: --state-dir /data, --root-dir /var/lib/statelet/run\n`,
    );
  });

  test('terminates the pods of the root directory configured for `up`', async () => {
    root = join(state, 'elsewhere');
    await podDirectory('a');
    await run();
    expect(output).toBe(`no "statelet up" is running for ${state}\n`);
    await runDown({ stateDir: state, rootDir: root, podLogDir: join(state, 'logs') }, parts());
    expect(started).toContain(`node node-7 over ${own}, own graces`);
    expect(existsSync(join(root, 'pods'))).toBe(false);
  });

  test('leaves a file that is not a socket in place', async () => {
    await mkdir(root, { recursive: true });
    await writeFile(socketPath(root), 'kept');
    await run();
    expect(existsSync(socketPath(root))).toBe(true);
  });
});

test('a directory that was not created by a private containerd is not removed', async () => {
  await mkdir(join(state, 'state'));
  await mkdir(join(state, 'io.containerd.content.v1.content'));
  await expect(removeContainerd(state, async () => {})).rejects.toThrow('not from a private containerd');
  expect((await readdir(state)).sort()).toEqual(['io.containerd.content.v1.content', 'state']);
});
