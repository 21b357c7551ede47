/**
 * Runs `statelet up` with the simulated runtime, for tests that provide a terminal. SIGUSR2 causes a failure of the
 * agent, SIGALRM one of the program.
 */

import { up } from '../../../cli/commands/run/up.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { startNode } from '../../../node/start/startNode.ts';

const [stateDirectory, manifests, format] = process.argv.slice(2);

process.on('SIGALRM', () => {
  throw new Error('a fault of the program');
});

up(
  readFlags({
    '--state-dir': stateDirectory,
    '--pod-manifest-path': manifests,
    '--hostname-override': 'node',
    '--logging-format': format,
  }),
  {
    startNode: async (options) => {
      const node = await startNode({ ...options, isSimulated: true });
      const { promise: agentFailure, reject } = Promise.withResolvers<never>();
      agentFailure.catch(() => {});
      process.on('SIGUSR2', () => reject(new Error('a fault of the agent')));
      return { ...node, agentFailure };
    },
    startRuntime: async () => ({
      endpoint: 'unix:///nowhere',
      cgroupParent: '/nowhere',
      stop: async () => {},
      undo: async () => {},
      restart: () => {},
      detach: () => {},
    }),
    output: process.stdout,
    input: process.stdin,
  },
).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
